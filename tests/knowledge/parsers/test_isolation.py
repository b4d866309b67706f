"""Parsing in a child process: limits, environment, and what remains when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import docx
import pytest

import knowledge
from hub.core.processes import PerProcess
from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.parsers.errors import parse_error
from knowledge.parsers.process.isolation import Host, HostLost, HostPool, as_it_is, host_environment, run_isolated
from knowledge.parsers.registry import DOCUMENT_TASK, parse_file
from knowledge.parsers.serialize import dump_document, dump_error, load_document, load_result
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

TASKS = "tests.knowledge.parsers.failing_tasks"


def request_for(path: Path, **limits: float) -> dict[str, object]:
    return {
        "task": DOCUMENT_TASK,
        "path": str(path),
        "more_files": [],
        "arguments": {"filename": path.name},
        "limits": limits,
    }


def test_a_document_comes_back_from_the_child_unchanged(samples: Path) -> None:
    path = samples / "library_design.md"

    document = parse_isolated(path, filename=path.name, limits=ParseLimits())

    assert document == parse_file(path, filename=path.name, limits=ParseLimits())


def test_pages_and_notices_survive_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf([PdfPage(image=True)]))
    document = parse_file(path, filename="a.pdf", limits=ParseLimits())

    assert document.notices
    assert load_document(load_result(dump_document(document, tmp_path)), tmp_path, ParseLimits()) == document


def test_errors_survive_the_way_back(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        load_result(dump_error(parse_error("encrypted")))

    assert (caught.value.code, caught.value.text.ja) == ("encrypted", parse_error("encrypted").text.ja)


def test_the_child_s_reason_reaches_the_caller(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04")

    with pytest.raises(ParseError) as caught:
        parse_isolated(tmp_path / "a.docx", filename="a.docx", limits=ParseLimits())
    assert caught.value.code == "corrupted"


def test_a_child_that_hangs_is_killed_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    os.mkfifo(tmp_path / "a.md")  # nobody writes: opening it waits for ever

    with pytest.raises(ParseError) as caught:
        parse_isolated(tmp_path / "a.md", filename="a.md", limits=ParseLimits(wall_s=1.5))

    assert caught.value.code in ("timeout", "empty_file")
    assert list(scratch.iterdir()) == []


def test_memory_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"- item\n" * 3_000_000)

    with pytest.raises(ParseError) as caught:
        parse_isolated(path, filename="a.md", limits=ParseLimits(memory_bytes=160 << 20, wall_s=60))
    assert caught.value.code == "out_of_memory"


def test_processor_time_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(("> - 項目\n\n" * 400_000).encode())

    with pytest.raises(ParseError) as caught:
        parse_isolated(path, filename="a.md", limits=ParseLimits(cpu_s=1, wall_s=60))
    assert caught.value.code == "timeout"


def test_the_size_of_the_output_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("予約業務の設計。\n" * 20_000, encoding="utf-8")

    with pytest.raises(ParseError) as caught:
        parse_isolated(path, filename="a.txt", limits=ParseLimits(max_output_bytes=100_000))
    assert caught.value.code == "output_too_large"


def test_a_file_over_the_input_limit_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("予約" * 1000, encoding="utf-8")

    with pytest.raises(ParseError) as caught:
        parse_isolated(path, filename="a.txt", limits=ParseLimits(max_input_bytes=1000))
    assert caught.value.code == "too_large"


def test_deep_nesting_ends_in_a_clear_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<div>" * 20_000 + "深い" + "</div>" * 20_000, encoding="utf-8")

    with pytest.raises(ParseError) as caught:
        parse_isolated(path, filename="a.html", limits=ParseLimits(wall_s=60))
    assert caught.value.code == "too_complex"


def test_the_heartbeat_beats_while_the_child_works_and_can_stop_it(tmp_path: Path) -> None:
    class LeaseLost(Exception):
        pass

    def beat() -> None:
        raise LeaseLost

    path = tmp_path / "a.md"
    path.write_bytes(("> - 項目\n\n" * 400_000).encode())

    with pytest.raises(LeaseLost):
        parse_isolated(path, filename="a.md", limits=ParseLimits(wall_s=60), heartbeat=beat)


def test_the_child_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for parsers")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.jp")

    environment = host_environment()

    assert "SECRET_KEY" not in environment
    assert "HTTPS_PROXY" not in environment


def _asked(host: Host, folder: Path, source: Path) -> int | None:
    request = request_for(source)
    (folder / "request.json").write_text(json.dumps(request))
    return host.run(folder, task=DOCUMENT_TASK, filename=source.name, limits=ParseLimits(), heartbeat=None)


def test_one_host_reads_one_document_after_another_each_in_a_child_of_its_own(samples: Path, tmp_path: Path) -> None:
    host = Host()
    try:
        for name in ("minutes.txt", "library_design.md"):
            folder = tmp_path / name
            folder.mkdir()
            assert _asked(host, folder, samples / name) == 0
            document = load_document(load_result((folder / "result.json").read_text()), folder, ParseLimits())
            assert document == parse_file(samples / name, filename=name, limits=ParseLimits())
        assert host.is_alive()
    finally:
        host.kill()


def test_a_child_that_dies_leaves_its_host_able_to_read_the_next(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "endless.md").write_bytes(("> - 項目\n\n" * 400_000).encode())
    pool = HostPool()
    with pool.lend() as host:
        (tmp_path / "request.json").write_text(json.dumps(request_for(tmp_path / "endless.md", cpu_s=1)))
        assert (
            host.run(tmp_path, task=DOCUMENT_TASK, filename="endless.md", limits=ParseLimits(), heartbeat=None)
            == -signal.SIGXCPU
        )
    with pool.lend() as again:
        assert again is host
        assert _asked(again, tmp_path, samples / "minutes.txt") == 0
    pool.close()
    assert not host.is_alive()


def test_a_host_that_was_killed_is_replaced(samples: Path, tmp_path: Path) -> None:
    pool = HostPool()
    with pool.lend() as first:
        first.kill()
    with pool.lend() as second:
        assert second is not first
        assert _asked(second, tmp_path, samples / "minutes.txt") == 0
    pool.close()


def test_a_file_is_not_blamed_for_hosts_that_were_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Host] = []

    class Recorded(Host):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr("knowledge.parsers.process.isolation.Host", Recorded)
    monkeypatch.setattr("knowledge.parsers.process.isolation.hosts", PerProcess(HostPool))
    (tmp_path / "endless.md").write_bytes(("> - 項目\n\n" * 400_000).encode())

    def kill_the_host() -> None:
        os.killpg(made[-1]._process.pid, signal.SIGKILL)

    with pytest.raises(HostLost):
        parse_isolated(tmp_path / "endless.md", filename="endless.md", limits=ParseLimits(), heartbeat=kill_the_host)
    assert len(made) == 2


def test_a_host_ends_when_its_worker_is_gone(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "knowledge.parsers.process.host"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=Path(knowledge.__path__[0]).parent,
    )
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_the_child_loads_neither_django_nor_the_parsers_it_does_not_need(samples: Path, tmp_path: Path) -> None:
    request = request_for(samples / "minutes.txt")
    (tmp_path / "request.json").write_text(json.dumps(request))
    program = (
        "import sys; from pathlib import Path; from knowledge.parsers.process import host;"
        "host.main(Path(sys.argv[1]), Path(sys.argv[2]));"
        "print([m for m in ('django', 'celery', 'docx', 'pypdfium2', 'pdfplumber', 'markitdown', 'bs4')"
        " if m in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "request.json"), str(tmp_path / "result.json")],
        capture_output=True,
        text=True,
        check=True,
        cwd=samples.parents[1],
    )

    assert done.stdout.strip() == "[]"


def test_macros_and_external_links_are_left_alone(tmp_path: Path) -> None:
    source = docx.Document()
    source.part.relate_to(
        "http://127.0.0.1:9/template.dotm",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate",
        is_external=True,
    )
    source.add_paragraph("本文")
    source.save(str(tmp_path / "a.docx"))

    assert parse_isolated(tmp_path / "a.docx", filename="a.docx", limits=ParseLimits()).markdown == "本文\n"


def test_notebooks_are_converted(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# 分析手順\n", "\n", "件数を数える。"]},
        {"cell_type": "code", "metadata": {}, "source": ["# 数える\n", "len(rows)"], "outputs": []},
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")

    document = parse_isolated(tmp_path / "a.ipynb", filename="a.ipynb", limits=ParseLimits())

    assert document.format == "ipynb"
    assert [block.kind.value for block in document.blocks] == ["heading", "paragraph", "code"]


def test_a_child_without_any_memory_left_has_enough_to_say_so(tmp_path: Path) -> None:
    request = {"task": f"{TASKS}:spend_all_memory", "path": str(tmp_path), "more_files": [], "arguments": {}}
    (tmp_path / "request.json").write_text(json.dumps({**request, "limits": {"memory_bytes": 1 << 20}}))
    host = Host()
    try:
        asked = {"task": str(request["task"]), "filename": "a.md"}
        assert host.run(tmp_path, **asked, limits=ParseLimits(wall_s=60), heartbeat=None) == 0
    finally:
        host.kill()
    with pytest.raises(ParseError) as caught:
        load_result((tmp_path / "result.json").read_text())
    assert caught.value.code == "out_of_memory"


def test_the_same_failure_with_memory_left_is_named_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("設計")
    with pytest.raises(ParseError) as caught:
        run_isolated(f"{TASKS}:fail", path, as_it_is, filename="a.md", limits=ParseLimits(wall_s=60))
    assert (caught.value.code, caught.value.text.en.count("SystemError")) == ("parser_crashed", 1)
