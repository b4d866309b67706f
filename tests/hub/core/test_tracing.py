"""Spans reach a collector with ids and numbers, never with texts; off, nothing of OpenTelemetry is loaded."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from django.test import Client

from hub.core.errors import NotFound
from hub.core.tracing import NO_ID, Collector, add_span, span, stop, trace_to, traceparent
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import parse_isolated
from tests.trace_receiver import trace_receiver


@pytest.fixture
def receiver():
    with trace_receiver() as server:
        trace_to(_collector(server.url))
        yield server
        trace_to(None)


def _collector(url: str, *, share: float = 1) -> Collector:
    return Collector(url=url, headers={"authorization": "Bearer x"}, share=share, service="hub-web", version="1.0.0")


def test_a_part_of_another_process_and_an_error_by_its_code_alone(receiver):
    with span("outer", {"hub.request_id": "req_1", "hub.mode": "利用者の質問文", "hub.text": "a b"}) as outer:
        parent = traceparent()
        outer.note({"hub.hits": 3})
        outer.rename("GET documents/<str:document_id>")
    with pytest.raises(NotFound), span("task", parent=parent):
        raise NotFound("秘密の文書「人事評価.docx」はありません。")
    with span("called", caller=parent), span("inside"):
        pass
    with span("apart", caller="what a stranger sent"):
        add_span(
            "measured", {"hub.cpu_ms": 5}, started_ns=time.time_ns() - 2_000_000, ended_ns=time.time_ns(), code="x"
        )
    stop()
    found = {one.name: one for one in receiver.spans()}
    outer, task, apart, measured = (
        found["GET documents/<str:document_id>"],
        *(found[name] for name in ("task", "apart", "measured")),
    )
    assert outer.facts == {"hub.request_id": "req_1", "hub.mode": NO_ID, "hub.text": NO_ID, "hub.hits": 3}
    assert (task.trace_id, task.parent_id, task.code) == (outer.trace_id, outer.span_id, "not_found")
    called, inside = found["called"], found["inside"]
    assert (called.parent_id, called.linked, inside.trace_id) == ("", (outer.trace_id,), called.trace_id)
    assert called.trace_id != outer.trace_id
    assert (apart.parent_id, apart.linked) == ("", ())
    assert (measured.parent_id, measured.code, measured.facts) == (apart.span_id, "x", {"hub.cpu_ms": 5})
    assert 0.001 < measured.seconds < 0.1
    assert receiver.paths == {"/v1/traces"}
    assert {one["authorization"] for one in receiver.headers_seen} == {"Bearer x"}
    assert not any("人事評価".encode() in body for body in receiver.bodies)


def test_a_guarded_child_is_traced_by_its_host_even_when_it_fails(receiver, tmp_path):
    (tmp_path / "議事録.md").write_text("# 第三回会議\n\n秘匿すべき本文\n")
    (tmp_path / "壊れた.pdf").write_bytes(b"%PDF-1.4 broken")
    with span("ingest"):
        parse_isolated(tmp_path / "議事録.md", filename="議事録.md", limits=ParseLimits())
        with pytest.raises(ParseError):
            parse_isolated(tmp_path / "壊れた.pdf", filename="壊れた.pdf", limits=ParseLimits())
    stop()
    spans = receiver.spans()
    good, bad = (one for one in spans if one.name == "guarded work")
    assert (good.code, bool(bad.code)) == ("", True)
    for work in (good, bad):
        (child,) = (one for one in spans if one.parent_id == work.span_id)
        assert child.name == "guarded child"
        assert child.facts["hub.cpu_ms"] > 0
        assert child.facts["hub.peak_kib"] > 1000
        assert child.seconds <= work.seconds
    assert not any(text.encode() in body for body in receiver.bodies for text in ("議事録", "秘匿", "壊れた"))


def test_of_no_trace_a_span_is_sent_with_a_share_of_nothing(receiver):
    trace_to(_collector(receiver.url, share=0))
    with span("unseen"):
        assert not int((traceparent() or "").rpartition("-")[2], 16) & 1  # the flag of what is sent
    stop()
    assert receiver.spans() == []


@pytest.mark.parametrize(("share", "trace", "flag", "sent"), [(1e-9, "0" * 31 + "1", "01", 0), (1, "f" * 32, "00", 1)])
def test_no_caller_decides_whether_a_trace_is_sent(receiver, share: float, trace: str, flag: str, sent: int):
    trace_to(_collector(receiver.url, share=share))
    Client().get("/healthz", headers={"traceparent": f"00-{trace}-{'1' * 16}-{flag}"})
    stop()
    assert [one.linked for one in receiver.spans()] == [(trace,)] * sent


def test_a_collector_that_is_away_holds_nobody_up_and_is_logged(caplog):
    trace_to(_collector("http://127.0.0.1:9"))
    try:
        with span("lost"):
            pass
        stop()
    finally:
        trace_to(None)
    assert "127.0.0.1" in caplog.text


def test_off_nothing_of_opentelemetry_is_loaded():
    program = (
        "import sys; from hub.core.tracing import span, traceparent;"
        "span('x').__enter__().note({'a': 1}); assert traceparent() is None;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
