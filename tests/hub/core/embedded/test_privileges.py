"""Which user and which rights PostgreSQL gets; the reduced rights are those of common containers."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hub.core.embedded import EmbeddedPostgres, EmbeddedServerError
from hub.core.embedded.launch import CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
from tests.hub.core.embedded.conftest import REPOSITORY, UserProcess

NOBODY = 65534
WITHOUT_READ_SEARCH = ("setpriv", "--bounding-set=-dac_read_search")
# Python, too, may be installed where an ordinary user can't get to without the right to traverse.
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--securebits=+no_setuid_fixup"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
WITHOUT_BOTH = ("setpriv", "--bounding-set=-dac_read_search,-dac_override")


@pytest.fixture(autouse=True)
def _needs_setpriv(needs_root: None) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv (util-linux) is not installed")


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home below folders that everybody can traverse."""
    above = Path(tempfile.mkdtemp(prefix="hubtest-"))
    above.chmod(0o755)
    yield above / "home"
    shutil.rmtree(above)


def user_and_capabilities(pid: int) -> tuple[int, int]:
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["Uid"].split()[1]), int(fields["CapEff"], 16)


def test_below_a_closed_folder_it_runs_as_nobody_with_the_right_to_read_only(
    postgres: EmbeddedPostgres, start_user: Callable[..., UserProcess]
) -> None:
    assert postgres.home.parent.stat().st_mode & 0o777 == 0o700
    pid = start_user("postgres", home=postgres.home).server_pid()
    assert user_and_capabilities(pid) == (NOBODY, 1 << CAP_DAC_READ_SEARCH)
    assert postgres.home.stat().st_mode & 0o777 == 0o700
    assert (postgres.home / "data").stat().st_uid == NOBODY


def test_without_that_right_an_open_path_needs_none(open_home: Path, start_user: Callable[..., UserProcess]) -> None:
    user = start_user("postgres", home=open_home, before=WITHOUT_READ_SEARCH)
    assert user_and_capabilities(user.server_pid()) == (NOBODY, 0)
    assert open_home.stat().st_mode & 0o777 == 0o711
    user.leave()


def test_without_that_right_a_closed_path_takes_the_wider_one(start_user: Callable[..., UserProcess]) -> None:
    pid = start_user("postgres", before=WITHOUT_READ_SEARCH).server_pid()
    assert user_and_capabilities(pid) == (NOBODY, 1 << CAP_DAC_OVERRIDE)


def test_without_any_right_the_error_names_the_closed_folder(home: Path) -> None:
    command = [*WITHOUT_BOTH, sys.executable, "-m", "tests.hub.core.embedded.user_process", "postgres", str(home)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=REPOSITORY)
    assert f"the folder {home.parent} is closed to it" in done.stderr
    assert "HUB_DATA_DIR" in done.stderr


def test_an_ordinary_user_runs_it_as_himself(open_home: Path, start_user: Callable[..., UserProcess]) -> None:
    open_home.mkdir()
    os.chown(open_home, NOBODY, NOBODY)
    user = start_user("postgres", home=open_home, before=AS_NOBODY)
    assert user_and_capabilities(user.server_pid())[0] == NOBODY
    user.leave()
    with pytest.raises(EmbeddedServerError, match="belongs to the user that runs the hub"):
        EmbeddedPostgres(open_home).ensure()


def test_the_owner_of_the_data_comes_before_the_setting(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.ensure()
    postgres.release()
    monkeypatch.setenv("HUB_PG_OS_USER", "daemon")
    postgres.ensure()
    assert (postgres.home / "data").stat().st_uid == NOBODY


def test_the_setting_chooses_the_owner_of_fresh_data(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_PG_OS_USER", "daemon")
    server = EmbeddedPostgres(home)
    server.ensure()
    assert (home / "data").owner() == "daemon"
    server.release()


@pytest.mark.parametrize(("name", "said"), [("no-such-user", "does not exist"), ("root", "is root")])
def test_a_user_that_will_not_do_is_named(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.setenv("HUB_PG_OS_USER", name)
    with pytest.raises(EmbeddedServerError, match=rf"user {name} {said}.*HUB_PG_OS_USER"):
        EmbeddedPostgres(home).ensure()
