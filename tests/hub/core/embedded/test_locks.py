"""Who counts as a user, across processes, threads and forks."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from hub.core.embedded.locks import LifecycleLocks

HOLDER = """
import sys, pathlib
from hub.core.embedded.locks import LifecycleLocks
locks = LifecycleLocks(pathlib.Path(sys.argv[1]))
with locks.exclusive():
    locks.join()
print("joined", flush=True)
sys.stdin.read()
"""


def start_holder(folder: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "joined\n"
    return holder


def has_users(folder: Path) -> bool:
    locks = LifecycleLocks(folder)
    with locks.exclusive():
        return locks.has_users()


def fork_and_wait_for(release_child: int, ready: int) -> int:
    """Fork a child that says it is there, then ends, without cleaning up, when ``release_child`` is closed."""
    if pid := os.fork():
        return pid
    os.write(ready, b"x")
    os.read(release_child, 1)
    os._exit(0)


def test_a_user_that_is_killed_no_longer_counts(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    assert has_users(tmp_path)
    holder.kill()
    holder.communicate()
    assert not has_users(tmp_path)


def test_two_objects_of_one_process_count_twice(tmp_path: Path) -> None:
    first, second = LifecycleLocks(tmp_path), LifecycleLocks(tmp_path)
    for locks in (first, second):
        with locks.exclusive():
            locks.join()
    first.leave()
    assert has_users(tmp_path)
    second.leave()
    assert not has_users(tmp_path)


def test_a_forked_child_keeps_its_parents_reference_until_it_ends(tmp_path: Path) -> None:
    locks = LifecycleLocks(tmp_path)
    with locks.exclusive():
        locks.join()
    ready_out, ready_in = os.pipe()
    end_out, end_in = os.pipe()
    child = fork_and_wait_for(end_out, ready_in)
    os.read(ready_out, 1)
    locks.leave()
    assert has_users(tmp_path)
    os.write(end_in, b"x")
    os.waitpid(child, 0)
    assert not has_users(tmp_path)
    for fd in (ready_out, ready_in, end_out, end_in):
        os.close(fd)


def test_a_forked_child_may_not_stop_what_it_only_inherited(tmp_path: Path) -> None:
    locks = LifecycleLocks(tmp_path)
    with locks.exclusive():
        locks.join()
    child = os.fork()
    if child == 0:
        os._exit(10 * locks.is_user + locks.may_stop)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 10
    assert locks.may_stop
    locks.leave()


def test_a_child_forked_inside_the_start_lock_neither_holds_nor_blocks_it(tmp_path: Path) -> None:
    locks = LifecycleLocks(tmp_path)
    with locks.exclusive():
        child = os.fork()
        if child == 0:
            with locks.exclusive():  # taken once the parent has let go
                os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_programs_that_are_executed_inherit_no_reference(tmp_path: Path) -> None:
    locks = LifecycleLocks(tmp_path)
    with locks.exclusive():
        locks.join()
    command = [sys.executable, "-c", "import sys; print('executed', flush=True); sys.stdin.read()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, close_fds=False) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "executed\n"
        locks.leave()
        assert not has_users(tmp_path)
        other.communicate()


def test_the_start_lock_is_held_by_one_thread_at_a_time(tmp_path: Path) -> None:
    locks = LifecycleLocks(tmp_path)
    inside, most = [], []

    def enter() -> None:
        for _ in range(50):
            with locks.exclusive():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 200
    assert max(most) == 1
