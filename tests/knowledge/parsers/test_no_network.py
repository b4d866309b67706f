"""A parser child has no network: whoever takes it over reaches neither the world nor the hub's own servers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from hub.core.no_network import can_refuse_network, is_refused, refuse_network
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import as_it_is, run_isolated


@pytest.fixture(autouse=True)
def _where_it_can_be():
    if not can_refuse_network():
        pytest.skip("needs a kernel with seccomp filters, on x86_64 or aarch64")


@pytest.fixture
def listeners(tmp_path):
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(tmp_path / "s"))
    unix.listen()
    with tcp, unix:
        yield {"port": tcp.getsockname()[1], "unix": str(tmp_path / "s")}


def test_a_child_that_tries_to_connect_is_refused_in_every_way(tmp_path, listeners):
    file = tmp_path / "a.txt"
    file.write_text("x")
    outcome = run_isolated(
        "tests.knowledge.parsers.network_tasks:reach_out",
        file,
        as_it_is,
        filename="a.txt",
        limits=ParseLimits(wall_s=60),
        arguments=listeners,
    )
    refused = {name: what for name, what in outcome.items() if what != "done"}
    assert set(refused) == set(outcome)
    assert {what for name, what in refused.items() if name not in {"name", "a program"}} == {"PermissionError"}


def test_the_same_tries_succeed_without_the_filter(listeners):
    arguments = {"limits": None, "folder": "", "filename": "", **listeners}
    code = f"from tests.knowledge.parsers.network_tasks import reach_out; print(reach_out('', **{arguments}))"
    outcome = json.loads(subprocess.check_output([sys.executable, "-W", "ignore", "-c", code]))
    assert [outcome[name] for name in ("tcp", "udp", "unix", "pair", "a program")] == ["done"] * 5


def test_it_holds_for_what_the_process_starts_and_not_for_its_parent():
    child = os.fork()
    if not child:
        refuse_network()
        grandchild = os.fork()
        if not grandchild:
            os._exit(0 if is_refused() else 1)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not is_refused()
