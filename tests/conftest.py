"""The suite runs against the real parts: embedded PostgreSQL with pgvector and embedded Valkey in a scratch folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from ssl import SSLContext
from typing import Any

import httpcore2
import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.utils import translation
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker
from whitenoise.middleware import WhiteNoiseMiddleware
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import hub.admin_site.registered  # noqa: F401 (tests name pages by the admin's models when they are collected)
from hub.core.embedded import shared_postgres
from hub.core.embedded.cluster import APPEND_ONLY, ROLE
from hub.core.embedded.postgres import MAINTENANCE_DATABASE
from hub.core.processes import collect_seldom
from hub.core.valkey import ensure_queue
from knowledge.storage.blobs import claim_store
from tests.browsers import chromium, page, started_chromium  # noqa: F401 (fixtures)
from tests.embedded_once import remember_vectors
from tests.emptying import MigratedRows
from tests.lanes import FAST_LANE, group_of, is_slow, known_duration
from tests.migrated import start_from_migrated

# A role of the tests alone, which the hub's is a member of here.
EMPTIES_TABLES = "hub_tests"
APPEND_ONLY_TRIGGER = "hub_append_only"
REPOSITORY = Path(__file__).resolve().parent.parent

hypothesis_settings.register_profile("suite", deadline=None)  # how long an example takes is the machine's affair
hypothesis_settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the soaks, kills and scale tests")


class HubScheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Give files out to the processes of the suite as they were collected, and folders that share a hub as one.

    What takes longest comes first: begun last, it would keep one process busy while the others have ended.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> HubScheduling | None:
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # by the number of tests, which says little of their time
    return HubScheduling(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what the fast lane leaves out."""
    path = collection_path.relative_to(REPOSITORY).as_posix()
    return True if config.getoption("markexpr") == FAST_LANE and is_slow(path) else None


def _commits(item: pytest.Item) -> bool:
    """Whether all tables are emptied and filled again after a test, which takes a second."""
    asked = item.get_closest_marker("django_db")
    is_asked = asked is not None and asked.kwargs.get("transaction", False)
    return is_asked or "transactional_db" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # one of several processes
        items.sort(key=lambda item: -known_duration(item.nodeid.partition("::")[0]))
    for item in items:
        if is_slow(item.nodeid.partition("::")[0]) or _commits(item):
            item.add_marker("slow")
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: run with make test-long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave out of later looks for cycles what was collected."""
    collect_seldom()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Let the hub's role, with which the tests run too, make the test database, as a copy of the migrated one."""
    start_from_migrated(settings.HUB_DATA_DIR)
    server = shared_postgres(settings.HUB_DATA_DIR / "postgres")
    server.ensure()
    connection.settings_dict["TEST"]["TEMPLATE"] = connection.settings_dict["NAME"]
    with server.superuser(MAINTENANCE_DATABASE) as superuser:
        superuser.execute(f"ALTER ROLE {ROLE} CREATEDB")
        superuser.execute(f"ALTER DATABASE {connection.settings_dict['NAME']} IS_TEMPLATE true")
        superuser.execute(f"CREATE ROLE {EMPTIES_TABLES} ROLE {ROLE}")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let tests that commit empty the audit trail's table after them, which the hub itself can't."""
    server = shared_postgres(settings.HUB_DATA_DIR / "postgres")
    with server.superuser(str(connection.settings_dict["NAME"])) as superuser:
        for table in APPEND_ONLY:
            superuser.execute(f"GRANT TRUNCATE ON {table} TO {EMPTIES_TABLES}")
            superuser.execute(f"ALTER TABLE {table} DISABLE TRIGGER {APPEND_ONLY_TRIGGER}")
    with django_db_blocker.unblock():
        claim_store()  # tests leave files of theirs behind, which another database would not take for its own
        with pytest.MonkeyPatch.context() as patch:
            MigratedRows.of_today(only_truncated=APPEND_ONLY).instead_of_flush(patch)
            with django_db_blocker.block():
                yield


@pytest.fixture
def database_superuser(db: None) -> Iterator[None]:
    """Make the hub's role a superuser for a test that changes what only one may, such as the planner's statistics."""
    server = shared_postgres(settings.HUB_DATA_DIR / "postgres")
    for attribute in ("SUPERUSER", "NOSUPERUSER"):
        with server.superuser(MAINTENANCE_DATABASE) as superuser:
            superuser.execute(f"ALTER ROLE {ROLE} {attribute}")
        if attribute == "SUPERUSER":
            yield


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes() -> Iterator[None]:
    """Hash passwords quickly: the hub's own way takes a third of a second for each person that a test makes."""
    quick = "django.contrib.auth.hashers.MD5PasswordHasher"
    with override_settings(PASSWORD_HASHERS=[quick, *settings.PASSWORD_HASHERS]):
        yield


@pytest.fixture(scope="session", autouse=True)
def _each_text_embedded_once() -> Iterator[None]:
    """Let the hub's model run once for the same text: the designs of tests are embedded hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        remember_vectors(patch, settings.HUB_DATA_DIR)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_listed_once() -> Iterator[None]:
    """Look at the files of pages once in a process: each new client of Django's loads the middleware that does."""
    listed = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, Any] = {}

    def list_once(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            listed(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", list_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Read the machine's certificates once in a process: each new client of HTTP does, for 30 ms, also without TLS."""
    read = httpcore2.default_ssl_context

    @cache
    def read_once(trust_env: bool, *_named: str | None) -> SSLContext:
        return read(_trust_env=trust_env)

    def context(*, _trust_env: bool = True) -> SSLContext:
        return read_once(_trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", context)
        yield


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """What a test's client or command spoke last is not to reach the next test."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def queue() -> None:
    """A running Valkey."""
    ensure_queue()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real documents and questions that the repository does not carry, or a skip that says so."""
    folder = Path(os.environ.get("HUB_TEST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"needs files that are not in the repository (8 MB of real office documents, questions under CC BY-SA,"
            f" files made to break parsers), and they are not in {folder}: set HUB_TEST_DATA to their folder"
        )
    return folder


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The URL of moto's server, which speaks the real protocol over HTTP."""
    from moto.server import ThreadedMotoServer  # slow to import, and few modules need it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
