import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from hub.core.processes import PerProcess


def in_a_fork(answer: Callable[[], int]) -> int:
    """Run `answer` in a forked child and return what it gave there."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(answer()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        given = int(pipe.read())
    os.waitpid(child, 0)
    return given


def test_a_value_is_made_once_on_first_use() -> None:
    made: list[int] = []
    value = PerProcess(lambda: made.append(1) or len(made))
    assert made == []

    assert (value.get(), value.get()) == (1, 1)


def test_a_failed_attempt_is_repeated_on_the_next_use() -> None:
    outcomes = iter([OSError("disk full"), None])

    def make() -> str:
        if failure := next(outcomes):
            raise failure
        return "made"

    value = PerProcess(make)

    with pytest.raises(OSError, match="disk full"):
        value.get()
    assert value.get() == "made"


def test_a_forked_child_makes_its_own_value() -> None:
    value = PerProcess(os.getpid)
    parent = value.get()

    child = in_a_fork(value.get)

    assert parent == os.getpid() == value.get()
    assert child != parent


def test_a_forked_child_may_inherit_plain_data() -> None:
    value = PerProcess(os.getpid, inherit=True)
    parent = value.get()

    assert in_a_fork(value.get) == parent


def test_a_fork_while_another_thread_makes_the_value_does_not_block_the_child() -> None:
    making, go_on = threading.Event(), threading.Event()
    parent = os.getpid()

    def make() -> int:
        if os.getpid() == parent:
            making.set()
            assert go_on.wait(60)
        return os.getpid()

    value = PerProcess(make)
    thread = threading.Thread(target=value.get)
    thread.start()
    assert making.wait(60)

    child = in_a_fork(value.get)
    go_on.set()
    thread.join()

    assert child != value.get() == parent


LEAVES_A_CYCLE = """
from hub.core.processes import collect_seldom

class Left:
    def __del__(self):
        print("looked at")

collect_seldom()
left = Left()
left.itself = left
del left
"""


@pytest.mark.parametrize(
    ("code", "printed"), [(LEAVES_A_CYCLE, ""), (LEAVES_A_CYCLE.replace("collect_seldom()\n", ""), "looked at\n")]
)
def test_a_process_that_looks_for_cycles_seldom_does_not_look_at_its_end(code: str, printed: str) -> None:
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == printed
