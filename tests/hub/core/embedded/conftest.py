"""Real servers in temporary folders, and other processes that use them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hub.core.embedded import EmbeddedPostgres, EmbeddedValkey

REPOSITORY = Path(__file__).resolve().parents[4]


class UserProcess:
    """A running ``user_process.py``."""

    def __init__(self, kind: str, home: Path, *, before: tuple[str, ...]) -> None:
        command = [*before, sys.executable, "-m", "tests.hub.core.embedded.user_process", kind, str(home)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=REPOSITORY
        )

    def server_pid(self) -> int:
        """Wait until it has the server; return that server's pid."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.strip().isdigit(), line + self._process.stdout.read()
        return int(line)

    def leave(self) -> None:
        """Let it end as a program does."""
        self._process.communicate(timeout=30)

    def kill(self) -> None:
        """Let it end without a chance to clean up."""
        self._process.kill()
        self._process.communicate(timeout=30)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for a server that is not there yet, below one that only we can traverse; its path is short."""
    above = Path(tempfile.mkdtemp(prefix="hubtest-"))
    yield above / "home"
    for kind in (EmbeddedPostgres, EmbeddedValkey):
        with suppress(FileNotFoundError):
            stop_whatever_runs(kind(above / "home"))
    shutil.rmtree(above)


@pytest.fixture
def start_user(home: Path) -> Iterator[Callable[..., UserProcess]]:
    started: list[UserProcess] = []

    def start(kind: str, *, home: Path = home, before: tuple[str, ...] = ()) -> UserProcess:
        started.append(UserProcess(kind, home, before=before))
        return started[-1]

    yield start
    for user in started:
        with suppress(ValueError):  # one that has left already: its pipes are closed
            user.kill()


@pytest.fixture(scope="session")
def lasting_home() -> Iterator[Path]:
    """The home of a server that many tests start and stop: a fresh one for each would take most of their time."""
    above = Path(tempfile.mkdtemp(prefix="hubtest-"))
    yield above / "home"
    shutil.rmtree(above)


@pytest.fixture
def postgres(lasting_home: Path) -> Iterator[EmbeddedPostgres]:
    """A server that ran before, mostly, and is stopped now."""
    server = EmbeddedPostgres(lasting_home)
    yield server
    server.release()
    stop_whatever_runs(server)
    assert not server.is_ready()  # another user is left, who would keep it running in the tests that follow


@pytest.fixture
def valkey(home: Path) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey(home)
    yield server
    server.release()


@pytest.fixture
def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root runs PostgreSQL as another user")


def stop_whatever_runs(server: EmbeddedPostgres | EmbeddedValkey) -> None:
    """Become the last user and leave; a test that failed half-way leaves no server behind."""
    if server.is_ready():
        server.ensure()
        server.release()


def lives(pid: int) -> bool:
    """Tell whether a process is there and not merely waiting to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
