"""The embedded Valkey, over real servers."""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from kombu import Connection
from redis import Redis

from hub.core.embedded import EmbeddedServerError, EmbeddedValkey, shared_valkey
from tests.hub.core.embedded.conftest import REPOSITORY, UserProcess, lives

TASKS = ["章立ての検査", "用語の検査", "図表番号の検査"]


def main_pid(home: Path) -> int:
    return int((home / "server.lock").read_text())


def test_constructing_it_creates_and_starts_nothing(home: Path) -> None:
    server = EmbeddedValkey(home)
    assert not server.is_ready()
    assert not home.exists()


def test_what_was_written_survives_a_restart_and_the_kill_of_the_server(valkey: EmbeddedValkey, home: Path) -> None:
    valkey.ensure()
    with Redis.from_url(valkey.redis_url(2), decode_responses=True) as client:
        client.rpush("queue", *TASKS)
        # everysec: the log is synced once a second. Wait for the disk, so that nothing rests on the page cache.
        assert client.execute_command("WAITAOF", 1, 0, 10_000)[0] == 1
        os.kill(main_pid(home), signal.SIGKILL)
        valkey.ensure()
        assert client.lrange("queue", 0, -1) == TASKS
        valkey.release()
        assert not valkey.is_ready()
        valkey.ensure()
        assert client.lrange("queue", 0, -1) == TASKS


def test_a_kill_loses_no_answered_write_even_before_the_disk_has_it(valkey: EmbeddedValkey, home: Path) -> None:
    valkey.ensure()
    with Redis.from_url(valkey.redis_url(0)) as client:
        for number in range(500):
            client.rpush("queue", number)
        os.kill(main_pid(home), signal.SIGKILL)
        valkey.ensure()
        assert client.llen("queue") == 500


def test_a_server_whose_socket_was_removed_is_started_again_with_what_it_held(
    valkey: EmbeddedValkey, home: Path
) -> None:
    valkey.ensure()
    with Redis.from_url(valkey.redis_url(0)) as client:
        client.rpush("queue", *TASKS)
    before = main_pid(home)
    (valkey.socket_dir / "valkey.sock").unlink()
    valkey.ensure()
    assert main_pid(home) != before
    with Redis.from_url(valkey.redis_url(0)) as client:
        assert client.llen("queue") == len(TASKS)


def test_celerys_transport_reads_the_broker_url_also_with_odd_letters(tmp_path: Path) -> None:
    server = EmbeddedValkey(tmp_path / "設計 審査")
    server.ensure()
    with Connection(server.broker_url(3)) as connection:
        queue = connection.SimpleQueue("reviews")
        queue.put({"title": "要件定義書"})
        message = queue.get(timeout=5)
        message.ack()
        queue.close()
    with Redis.from_url(server.redis_url(3)) as client:
        assert client.exists("_kombu.binding.reviews")
    server.release()
    assert message.payload == {"title": "要件定義書"}


def test_it_is_private_and_refuses_writes_rather_than_forgetting(valkey: EmbeddedValkey, home: Path) -> None:
    valkey.ensure()
    with Redis.from_url(valkey.redis_url(0), decode_responses=True) as client:
        wanted = {"port": "0", "appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        assert client.config_get(*wanted) == wanted
    assert (valkey.socket_dir / "valkey.sock").stat().st_mode & 0o777 == 0o700
    assert home.stat().st_mode & 0o777 == 0o700
    assert os.getsid(main_pid(home)) == main_pid(home)


def test_racing_processes_share_one_server_and_the_last_one_out_stops_it(
    home: Path, start_user: Callable[..., UserProcess]
) -> None:
    users = [start_user("valkey") for _ in range(5)]
    (pid,) = {user.server_pid() for user in users}
    users[0].kill()
    for user in users[1:-1]:
        user.leave()
    assert EmbeddedValkey(home).is_ready()
    users[-1].leave()
    assert not lives(pid)


FORKING = """
import os, pathlib, sys
from hub.core.embedded import EmbeddedValkey
server = EmbeddedValkey(pathlib.Path(sys.argv[1]))
server.ensure()
parent_left_out, parent_left_in = os.pipe()
if os.fork():
    server.release()
    os.write(parent_left_in, b"x")
    os.wait()
    print(server.is_ready())
else:
    os.read(parent_left_out, 1)
    print(server.is_ready(), server.is_held, flush=True)
    if sys.argv[2] == "joins":
        server.ensure()
    server.release()
"""


@pytest.mark.parametrize(("child", "still_ready"), [("only inherits", True), ("joins", False)])
def test_a_forked_child_keeps_the_server_and_stops_it_only_as_a_user_of_its_own(
    home: Path, child: str, still_ready: bool
) -> None:
    command = [sys.executable, "-c", FORKING, str(home), child]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60)
    assert done.stdout.split() == ["True", "True", str(still_ready)], done.stderr


def test_a_server_whose_home_was_removed_is_not_left_behind(valkey: EmbeddedValkey, home: Path) -> None:
    valkey.ensure()
    pid = main_pid(home)
    shutil.rmtree(home)
    valkey.release()
    wait_for_end(pid)
    valkey.ensure()
    assert main_pid(home) != pid


def wait_for_end(pid: int) -> None:
    """Return when the process has ended: its pidfd becomes readable then."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        readable, _, _ = select.select([handle], [], [], 30)
        os.close(handle)
        assert readable


def test_a_start_that_fails_shows_the_end_of_the_log(home: Path, valkey: EmbeddedValkey) -> None:
    valkey.ensure()
    valkey.release()
    (home / "data" / "appendonlydir" / "appendonly.aof.manifest").write_text("壊れた\n")
    with pytest.raises(EmbeddedServerError, match=r"(?s)Valkey in .* did not start.*server\.log.*manifest"):
        valkey.ensure()


def test_shared_objects_are_one_per_home(home: Path) -> None:
    assert shared_valkey(home) is shared_valkey(home.parent / "." / "home")


def test_a_server_that_begins_to_run_while_orphans_are_looked_for_is_none(
    valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey.ensure()
    listed = [set[int](), valkey._pids()]  # before it runs the server's program, and after
    monkeypatch.setattr(valkey, "_pids", lambda: listed.pop(0) if len(listed) > 1 else listed[0])
    valkey._kill_orphans()
    assert valkey.is_ready()
