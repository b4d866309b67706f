"""One trace from the call to worker, child of the parser, engine and language model, without a word of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic, sleep

import pytest

from tests.flows.hub_process import HubProcess, start_hub
from tests.llm_server import llm_server
from tests.migrated import start_from_migrated
from tests.trace_receiver import Received, TraceReceiver, trace_receiver

pytestmark = pytest.mark.timeout(600)
TEXT = "# 特命調達の基本設計書\n\n## 1. 目的\n\n極秘案件の応答時間は三秒以内とする。\n"
SECRET_WORDS = ("特命調達", "極秘案件", "応答時間", "三秒以内", "目的")


@pytest.fixture
def receiver() -> Iterator[TraceReceiver]:
    with trace_receiver() as server:
        yield server


@pytest.fixture
def traced(receiver, tmp_path_factory) -> Iterator[HubProcess]:
    data_dir = tmp_path_factory.mktemp("traced") / "data"
    start_from_migrated(data_dir)
    with llm_server("{}") as model:
        running = start_hub(
            data_dir,
            *("--no-sample", "--workers", "1"),
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
            LLM_PROVIDER="openai",
            LLM_BASE_URL=model.url,
            LLM_MODEL="model-of-a-test",
            LLM_API_KEY="x",
        )
        yield running
        if running.process.poll() is None:
            running.stop()


def chain(spans: Sequence[Received], end: Received) -> list[str]:
    """The names from the first part to ``end``."""
    by_id = {one.span_id: one for one in spans}
    names = [end.name]
    while (end := by_id.get(end.parent_id)) is not None:
        names.insert(0, end.name)
    return names


def longest(spans: Sequence[Received], name: str) -> list[str]:
    return max((chain(spans, one) for one in spans if one.name == name), key=len, default=[])


def test_a_call_is_followed_to_the_parser_the_engine_and_the_model(traced, receiver, tmp_path):
    (tmp_path / "極秘案件.md").write_text(TEXT)
    document_id = traced.upload(tmp_path / "極秘案件.md", document_type="basic_design")["document_id"]
    (document,) = traced.wait_until_finished(document_id)
    assert document["status"] == "ready"
    assert traced.call("POST", "/search", json={"query": "極秘案件の応答時間"}).status_code == 200
    asked = {
        "document_id": document_id,
        "checklist": "basic-design",
        "check_items": ["BD-B06"],
        "options": {"sweep": "off", "second_opinion": "off"},
    }
    review = traced.call("POST", "/reviews", json=asked)
    assert review.status_code == 202, review.text
    review_id = review.json()["review_id"]
    deadline = monotonic() + 240
    while traced.call("GET", f"/reviews/{review_id}").json()["status"] not in {"completed", "failed"}:
        assert monotonic() < deadline
        sleep(0.5)
    traced.stop()
    spans = receiver.spans()
    task = "task knowledge.advance_version"
    assert longest(spans, task)[:2] == ["POST api/v1/documents", task]
    # on a slow machine the sweep may send the same task first, as one that no call asked for
    assert longest(spans, "guarded child")[-4:] == [task, "ingest parsing", "guarded work", "guarded child"]
    assert longest(spans, "search vector")[:2] == ["POST api/v1/search", "search total"]
    check = longest(spans, "review check")
    assert check[:2] == ["POST api/v1/reviews", "task review.execute"], check
    assert longest(spans, "language model")[:2] == check[:2]
    of_upload = next(one.trace_id for one in spans if one.name == "guarded child")
    assert len({one.process for one in spans if one.trace_id == of_upload}) >= 2
    sent = b"".join(receiver.bodies)
    assert [word for word in SECRET_WORDS if word.encode() in sent] == []
