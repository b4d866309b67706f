"""A parser child sees its own file alone: whoever takes it over reads neither the hub's files nor its processes."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hub.core.confinement import NO_ACCOUNT, confine_files, drop_capabilities, landlock_version, leave_superuser
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.made_files import read_made_file, take_made_file
from knowledge.parsers.process.isolation import as_it_is, run_isolated

ALLOWED = ["its own file", "its own folder", "a library"]
TASK = "tests.knowledge.parsers.intruder_tasks:look_around"


@pytest.fixture
def file(tmp_path) -> Path:
    (tmp_path / "its").mkdir()
    path = tmp_path / "its" / "a.txt"
    path.write_text("設計書")
    return path


@pytest.fixture
def arguments(tmp_path) -> dict[str, object]:
    secret = tmp_path / "secret_key"
    secret.write_text("秘密")
    return {"secret": str(secret), "worker": os.getpid()}


@pytest.mark.skipif(not landlock_version(), reason="needs a kernel with Landlock")
def test_a_child_reads_its_own_file_and_nothing_of_anybody_else(file, arguments):
    outcome = run_isolated(TASK, file, as_it_is, filename="a.txt", limits=ParseLimits(wall_s=60), arguments=arguments)
    assert [name for name, what in outcome.items() if what == "done"] == ALLOWED
    if landlock_version() < 6:
        return
    assert {what for what in outcome.values() if what != "done"} == {"PermissionError"}


def test_the_same_tries_succeed_without_it(file, arguments, tmp_path):
    given = {"limits": None, "folder": tmp_path, "filename": "", **arguments, "worker": os.getpid()}
    code = (
        f"from pathlib import Path, PosixPath; from {TASK.partition(':')[0]} import look_around; "
        f"print(look_around(Path({str(file)!r}), **{given}))"
    )
    outcome = json.loads(subprocess.check_output([sys.executable, "-W", "ignore", "-c", code]))
    assert [
        name for name in (*ALLOWED, "another's file", "writing", "ending the worker") if outcome[name] != "done"
    ] == []


def who_it_is(file: Path, **arguments: str) -> dict[str, Any]:
    task = "tests.knowledge.parsers.intruder_tasks:who_it_is"
    return run_isolated(task, file, as_it_is, filename="a.txt", limits=ParseLimits(wall_s=60), arguments=arguments)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the superuser")
def test_a_superusers_child_is_a_user_without_account_who_reads_closed_files(file):
    file.chmod(0o600)
    file.parent.chmod(0o700)
    said = who_it_is(file)
    assert said["users"] == [NO_ACCOUNT] * 6
    assert said["reads"] == said["a program reads"] == "設計書"
    with pytest.raises(KeyError):
        pwd.getpwuid(NO_ACCOUNT)
    (kept,) = set(said["own"])
    assert int(kept, 16) in (1 << 1, 1 << 2), "one of root's capabilities, which reaches files"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the superuser")
def test_a_superuser_who_can_become_nobody_else_keeps_the_number_and_nothing_more(tmp_path):
    child = os.fork()
    if not child:
        drop_capabilities()
        is_left = leave_superuser(tmp_path)
        held = Path("/proc/self/status").read_text()
        os._exit(0 if not is_left and os.getuid() == 0 and "CapPrm:\t0000000000000000" in held else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tmp_path.stat().st_uid == 0


@pytest.mark.skipif(not landlock_version(), reason="needs a kernel with Landlock")
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_a_child_leaves_plain_files_alone(file, what):
    assert who_it_is(file, leave=what)["left"] == "PermissionError"


def test_its_parent_takes_plain_files_alone_where_there_is_no_landlock(tmp_path):
    secret, made, to = tmp_path / "secret", tmp_path / "made", tmp_path / "taken"
    secret.write_text("秘密")
    for leave, error in ((made.symlink_to, OSError), (made.hardlink_to, ValueError)):
        leave(secret)
        with pytest.raises(error):
            read_made_file(made)
        with pytest.raises(error):
            take_made_file(made, to)
        made.unlink()
    os.mkfifo(made)
    with pytest.raises(ValueError, match="plain file"):
        read_made_file(made)
    made.unlink()
    made.write_text("図")
    assert read_made_file(made).decode() == "図"
    assert take_made_file(made, to).read_text() == "図"
    assert not made.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the superuser, who has something to give up")
def test_a_superusers_child_is_none_even_where_there_is_no_landlock(tmp_path):
    foreign = tmp_path / "foreign"
    foreign.write_text("x")
    os.chown(foreign, 12345, 12345)
    foreign.chmod(0o600)
    child = os.fork()
    if not child:
        drop_capabilities()
        try:
            foreign.read_text()
        except PermissionError:
            try:
                Path(f"/proc/{os.getppid()}/mem").open("rb")  # noqa: SIM115
            except PermissionError:
                os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not landlock_version(), reason="needs a kernel with Landlock")
def test_what_is_not_there_is_left_out(tmp_path):
    child = os.fork()
    if not child:
        done = confine_files(readable=[tmp_path / "nowhere"], writable=[tmp_path])
        (tmp_path / "a").write_text("x")
        os._exit(0 if done else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "a").read_text() == "x"
