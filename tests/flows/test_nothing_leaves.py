"""A hub with its default settings asks no name server and connects to nothing beyond this machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import docx
import pytest

from tests.flows.hub_process import ROOT, HubProcess, start_hub
from tests.migrated import start_from_migrated

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed (apt-get install strace)"),
]

OWN = Path(__file__).resolve().parents[1] / "data"
# Only calls that name a peer stop a process, so that a traced hub is about as fast as any.
TRACE = ("strace", "-D", "-f", "-q", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg")
_PEER = re.compile(
    r"sin6?_port=htons\((?P<port>\d+)\).*?(?:inet_addr|inet_pton)\((?:AF_INET6, )?\"(?P<address>[^\"]+)\""
)
_LOCAL = ("127.", "::1", "::ffff:127.")
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
_SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "予約の取り消し"}},
}


def peers_beyond(trace: Path) -> list[str]:
    """List the calls of a trace that name a port of a name server, or an address that is not this machine's."""
    return [
        line
        for line in trace.read_text(errors="replace").splitlines()
        if (peer := _PEER.search(line)) and (peer["port"] == "53" or not peer["address"].startswith(_LOCAL))
    ]


def word_file(folder: Path) -> Path:
    path = folder / "覚書.docx"
    document = docx.Document()
    document.add_heading("1. 目的", 1)
    document.add_paragraph("本書は図書の予約の取り消しについて定める。")
    document.save(str(path))
    return path


def ask_over_stdio(hub: HubProcess, trace: Path) -> str:
    """Search through a traced stdio server; gives what it answered."""
    requests = (_INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, _SEARCH)
    process = subprocess.Popen(
        [*TRACE, "-o", str(trace), sys.executable, "manage.py", "mcp", "hub"],
        cwd=ROOT,
        env=hub.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(request) + "\n" for request in requests))
    process.stdin.flush()
    answered = next(line for line in process.stdout if '"id":2' in line.replace(" ", ""))
    process.communicate(timeout=60)
    return answered


@pytest.mark.parametrize("from_nothing", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_process_of_the_hub_asks_for_names_or_connects_outside(tmp_path, from_nothing):
    """With tables that are there, and, which takes longer, while they are made."""
    if not from_nothing:
        start_from_migrated(tmp_path / "data")
    trace = tmp_path / "hub.trace"
    hub = start_hub(tmp_path / "data", "--no-sample", under=(*TRACE, "-o", str(trace)))
    try:
        files = (OWN / "library_design.md", OWN / "reservation.html", word_file(tmp_path))
        documents = [hub.upload(path)["document_id"] for path in files]
        assert {one["status"] for one in hub.wait_until_finished(*documents)} == {"ready"}
        assert hub.call("POST", "/search", json={"query": "予約の取り消し"}).json()["results"]
        review = hub.manage("review", documents[0], "--checklist", "basic-design", "--format", "json", check=False)
        assert review.returncode in {0, 1}, review.stderr
        stdio_trace = tmp_path / "stdio.trace"
        assert "予約" in ask_over_stdio(hub, stdio_trace)
    finally:
        hub.stop()
    assert "connect(" in trace.read_text(errors="replace"), "the tracer saw nothing"
    assert peers_beyond(trace) == []
    assert peers_beyond(stdio_trace) == []
