from __future__ import annotations

import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.utils import translation
from django.utils.translation import gettext_lazy

from hub.core.errors import Unavailable
from hub.rest.readiness import BASE_CHECKS, check_database, check_queue, run_checks


def fail() -> None:
    raise Unavailable("保管場所に届きません。")


def crash() -> None:
    raise RuntimeError("postgresql://user:himitsu@host")


@pytest.mark.django_db(transaction=True)
def test_a_running_hub_is_ready(queue):
    assert run_checks(BASE_CHECKS, timeout_s=30) == (
        True,
        {"database": {"status": "ok", "detail": ""}, "queue": {"status": "ok", "detail": ""}},
    )


def test_a_failing_part_is_named_with_its_reason_and_the_others_still_answer():
    is_ready, report = run_checks([("storage", fail), ("model", lambda: None)], timeout_s=30)

    assert not is_ready
    assert report == {
        "storage": {"status": "error", "detail": "保管場所に届きません。"},
        "model": {"status": "ok", "detail": ""},
    }


def test_a_hanging_part_is_given_up(caplog):
    release = threading.Event()

    def hang() -> None:
        release.wait(30)

    try:
        is_ready, report = run_checks([("model", hang)], timeout_s=0.05)
    finally:
        release.set()

    assert not is_ready
    assert "0.05" in report["model"]["detail"]


@pytest.mark.django_db
def test_a_database_without_our_tables_is_said_to_be_one(caplog):
    def ask() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1 FROM not_made_yet")

    is_ready, report = run_checks([("model", ask)], timeout_s=30)
    assert not is_ready
    assert "manage.py migrate" in report["model"]["detail"]
    assert "not_made_yet" in caplog.text


def test_a_broken_check_tells_the_log_and_not_the_caller(caplog):
    with caplog.at_level(logging.ERROR, logger="hub.rest.readiness"):
        is_ready, report = run_checks([("model", crash)], timeout_s=30)

    assert not is_ready
    assert "himitsu" not in report["model"]["detail"]
    assert "postgresql://user:[SECRET-1]@host" in caplog.text  # and the log has it without the password


def test_details_come_in_the_callers_language():
    def fail_lazily() -> None:
        raise Unavailable(gettext_lazy("Enter a valid date."))

    with translation.override("ja"):
        _is_ready, report = run_checks([("model", fail_lazily)], timeout_s=30)

    assert report["model"]["detail"] == "日付を正しく入力してください。"


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_a_queue_that_is_gone_is_unavailable(settings, closed_port: int):
    settings.REDIS_CLIENT_URL = f"redis://127.0.0.1:{closed_port}/0"

    with pytest.raises(Unavailable, match="REDIS_URL"):
        check_queue()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_gone_is_unavailable_and_its_address_is_not_told(monkeypatch, closed_port: int):
    gone = {"ENGINE": "django.db.backends.postgresql", "HOST": "127.0.0.1", "PORT": str(closed_port)}
    monkeypatch.setitem(connections.settings, "default", {**connections.settings["default"], **gone})

    # a new thread connects anew, with these settings
    with ThreadPoolExecutor(max_workers=1) as thread, pytest.raises(Unavailable, match="PostgreSQL") as failure:
        thread.submit(check_database).result()

    assert str(closed_port) not in str(failure.value)
