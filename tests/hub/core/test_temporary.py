"""Temporary files are private and go with their process, whatever ended it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hub.core import temporary

CHILD = """
import sys, time
from pathlib import Path
from hub.core import temporary
temporary.set_root(Path(sys.argv[1]))
(temporary.temp_dir() / "secret.txt").write_text("秘密")
print("ready", flush=True)
time.sleep(60 if sys.argv[2] == "stay" else 0)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")
    return tmp_path / "tmp"


def start(root: Path, how: str) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(root), how], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_each_process_has_a_private_folder_that_goes_with_it(root):
    own = temporary.temp_dir()
    assert (own.stat().st_mode & 0o777, root.stat().st_mode & 0o777) == (0o700, 0o700)
    assert temporary.temp_dir() == own
    with start(root, "end") as child:
        child.wait(10)
    assert list(root.iterdir()) == [own]


def test_the_folder_of_a_killed_process_is_swept_and_those_of_the_living_stay(root):
    own = temporary.temp_dir()
    with start(root, "stay") as lives, start(root, "stay") as dies:
        dies.send_signal(signal.SIGKILL)
        dies.wait(10)
        assert len(list(root.glob("process-*/secret.txt"))) == 2
        assert temporary.sweep() == 1
        assert own.is_dir()
        assert len(list(root.glob("process-*/secret.txt"))) == 1
        lives.kill()
    assert temporary.sweep() == 1


def test_a_forked_child_has_a_folder_of_its_own_and_leaves_its_parents_alone(root):
    own = temporary.temp_dir()
    child = os.fork()
    if not child:
        other = temporary.temp_dir()
        (other / "mine").touch()
        os._exit(0 if other != own and own.is_dir() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert temporary.sweep() == 1
    assert list(root.iterdir()) == [own]


def test_what_an_older_hub_left_goes_after_a_day(root):
    root.mkdir()
    for name, age_s in (("received-old", 90_000), ("received-new", 60)):
        (root / name).write_bytes(b"x")
        os.utime(root / name, (time.time() - age_s,) * 2)
    assert temporary.sweep() == 1
    assert [path.name for path in root.iterdir()] == ["received-new"]


def test_encrypted_installations_keep_them_in_memory_where_there_is_room(tmp_path, monkeypatch):
    def choose(**changes) -> Path:
        return temporary.choose_root(
            **{"chosen": None, "data_dir": tmp_path, "is_encrypted": True, "most_bytes": 1000, **changes}
        )

    monkeypatch.setattr(temporary, "in_memory_bytes", lambda: 4000)
    assert temporary.is_in_memory(choose())
    assert choose() != choose(data_dir=tmp_path / "other")
    assert choose(most_bytes=1001) == tmp_path / "tmp"
    assert choose(is_encrypted=False) == tmp_path / "tmp"
    assert choose(chosen=tmp_path / "own") == tmp_path / "own"
