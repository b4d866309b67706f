"""Known vulnerabilities of what is pinned: asked of a server that speaks OSV's protocol, or of records on disk."""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.vulnerabilities import main


def record(name: str, **affected: object) -> dict[str, object]:
    return {"id": f"OSV-{name}", "affected": [{"package": {"name": name, "ecosystem": "PyPI"}, **affected}]}


RECORDS = [
    record("Alpha_One", versions=["1.0", "1.1"]),
    record("beta", ranges=[{"type": "ECOSYSTEM", "events": [{"introduced": "2.0"}, {"fixed": "2.5"}]}]),
    record("gamma", ranges=[{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"last_affected": "3.0"}]}]),
    record("delta", ranges=[{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "4.0"}]}]),
    record("epsilon", versions=["5.0"]) | {"withdrawn": "2026-01-01T00:00:00Z"},
]
PINS = "alpha-one==1.1 \\\n    --hash=sha256:00\nbeta==2.4.9\ngamma==3.0\ndelta==4.0\nepsilon==5.0\n"


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    path = tmp_path / "base.txt"
    path.write_text(PINS)
    return path


class Osv(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        known = {("beta", "2.4.9"): [{"id": "OSV-beta"}]}
        results = [{"vulns": known.get((query["package"]["name"], query["version"]), [])} for query in asked]
        body = json.dumps({"results": results if self.path == "/v1/querybatch" else results[1:]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), Osv)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_records_on_disk_are_looked_up_by_version_and_range(requirements, tmp_path, capsys, form):
    folder = tmp_path / "osv"
    folder.mkdir()
    for one in RECORDS:
        (folder / f"{one['id']}.json").write_text(json.dumps(one))
    database = folder
    if form == "zip":
        database = tmp_path / "all.zip"
        with zipfile.ZipFile(database, "w") as archive:
            for path in folder.iterdir():
                archive.write(path, path.name)
    assert main(["--requirements", str(requirements), "--database", str(database)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines[:-1]] == ["alpha-one", "beta", "gamma"]


def test_a_server_is_asked_about_all_pins(requirements, server, capsys):
    assert main(["--requirements", str(requirements), "--server", server]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "beta\t2.4.9\tOSV-beta"
    (requirements).write_text("alpha-one==1.2\n")
    assert main(["--requirements", str(requirements), "--server", server]) == 0


def test_what_could_not_be_asked_is_not_called_safe(requirements, server, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for how in (
        ["--server", "http://127.0.0.1:9"],
        ["--server", server + "/other"],
        ["--database", str(tmp_path / "empty")],
        ["--database", str(tmp_path / "missing.zip")],
    ):
        assert main(["--requirements", str(requirements), *how]) == 3
        said = capsys.readouterr()
        assert said.err.startswith("not checked: ")
        assert said.out == ""
