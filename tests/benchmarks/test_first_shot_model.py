"""The first-shot measurement with a model: the hub's whole path and everything handed over, on a made-up document."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.first_shot import readings
from benchmarks.first_shot.handed import read_handed
from benchmarks.first_shot.near import judged_rows
from benchmarks.first_shot.outputs import FindingLine, table, write_all, write_blind, write_lines
from benchmarks.first_shot.readings import Source, sources
from benchmarks.first_shot.with_model import ModelDefect, ModelOptions, near_to, review_all, said_of
from hub.llm.providers import registry
from tests.hub.llm.conftest import configure  # noqa: F401 (fixture)
from tests.llm_server import llm_server
from tests.review.judging.second_model import findings_in, opinion, schema_of, shown_in

TEXT = """# 予約受付システム基本設計書

## 1 目的

待ち時間を短くするため、来庁の予約を受け付ける。

## 2 構成

サーバーは2台とし、片方が止まっても業務を続けられるよう、待機系へ5分以内に切り替える。

## 3 記録の始末

予約の記録は退庁のときに残らず消す。

## 4 監査

予約の記録は翌年の監査で確かめる。
"""
REMOVED, EXAMINED = "予約の記録は退庁のときに残らず消す。", "予約の記録は翌年の監査で確かめる。"
TREATED = "片方が止まっても業務を続けられるよう、待機系へ5分以内に切り替える。"
FIELDS = {"document": "G.md", "confidence": "high", "note": "", "first": "pass", "second": "pass"}
ROWS = [
    FIELDS | {"id": "1", "check_type": "required_section", "item": "目的/背景", "location": "", "expected": "pass"},
    FIELDS | {"id": "2", "check_type": "required_section", "item": "範囲", "location": "", "expected": "fail"},
    FIELDS
    | {"id": "3", "check_type": "consistency", "item": "記録の扱い", "location": REMOVED[:10], "expected": "fail"},
    FIELDS | {"id": "4", "check_type": "consistency", "item": "台数", "location": "サーバーは2台", "expected": "pass"},
]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    (tmp_path / "G.md").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(readings, "read_lines", lambda name: json.loads(json.dumps(ROWS)))
    monkeypatch.setattr(registry, "_openai", registry._openai)  # restored afterwards
    own = replace(
        Source(**FACTS), document="G.md", document_type="basic_design", sha256=hashlib.sha256(TEXT.encode()).hexdigest()
    )
    readings.readings.cache_clear()
    yield own
    readings.readings.cache_clear()


FACTS: dict[str, Any] = {name: getattr(sources()[0], name) for name in Source.__slots__}


class Reader:
    """Answers every kind of request from the made-up document, and notes how many were under way at once."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.met = threading.Barrier(2)
        self.together = False

    def __call__(self, asked: dict[str, Any]) -> str:
        name = schema_of(asked)
        if name in ("reading", "second_opinion"):
            self._meet()
        self.names.append(name)
        return json.dumps(self._answer(name, asked), ensure_ascii=False)

    def _meet(self) -> None:
        try:
            self.met.wait(timeout=10)
            self.together = True
        except threading.BrokenBarrierError:
            pass  # a later request of the same kind, alone

    def _answer(self, name: str, asked: dict[str, Any]) -> Any:
        if name == "second_opinion":
            return {"opinions": [self._opinion(*one) for one in findings_in(asked)]}
        if name == "proofs":
            return {
                "proofs": [
                    {"finding": one, "reason": "引用のとおり。", "holds": "yes"} for one, _ in findings_in(asked)
                ]
            }
        if name == "reading":
            quotes = [self._quote(asked, quote) for quote in (REMOVED, EXAMINED)]
            wanted = "consistency" in json.dumps(asked["response_format"])
            found = {
                "item": "none",
                "topic": "none",
                "category": "consistency",
                "kind": "contradiction",
                "severity": "major",
                "quotes": quotes,
                "message": "消すはずの記録を翌年に確かめるとあり、食い違う。",
            }
            return {"facts": [], "findings": [found] if wanted else []}
        if name == "refuting":
            said = [(one, "stands") for one, _ in findings_in(asked)]
            return {
                "verdicts": [
                    {
                        "finding": one,
                        "reason": "両方が書かれている。",
                        "quotes": [],
                        "severity": "major",
                        "same_as": "none",
                        "verdict": verdict,
                    }
                    for one, verdict in said
                ]
            }
        if name == "handed":
            topics = asked["response_format"]["json_schema"]["schema"]["properties"]["topics"]["items"]["properties"]
            codes = topics["topic"]["enum"]
            return {
                "topics": [
                    {"topic": one, "reason": "本文による。", "verdict": "present" if one == "purpose" else "missing"}
                    for one in codes
                ],
                "findings": [
                    {
                        "category": "consistency",
                        "kind": "wrong",
                        "severity": "minor",
                        "quotes": ["サーバーは2台とし", "ここにない引用"],
                        "message": "台数の根拠がない。",
                    }
                ],
            }
        return {"reason": "分からない。", "grounds": [], "findings": [], "score": 0, "verdict": "cannot_tell"}

    def _opinion(self, label: str, text: str) -> dict[str, Any]:
        if "可用性" in text:
            return opinion(label, "overturned", TREATED)
        return opinion(label, "confirmed")

    def _quote(self, asked: dict[str, Any], quote: str) -> dict[str, str]:
        passages = ((label, text) for label, text in shown_in(asked).items() if label.startswith("p"))
        label = next((label for label, text in passages if quote in text), "p1")
        return {"passage": label, "quote": quote}


@pytest.mark.django_db(transaction=True)
def test_both_ways_answer_the_rows(source: Source, tmp_path: Path, configure: Any) -> None:  # noqa: F811
    model = Reader()
    with llm_server(model) as server:
        configure(llm_provider="openai", llm_base_url=server.url, llm_model="strong", llm_context_tokens=60_000)
        configure(llm_price_in=Decimal(1), llm_price_out=Decimal(5))
        options = ModelOptions(url=server.url, timeout_s=30)
        (hub,), (handed,) = review_all([source], tmp_path, options, handed=True)
        asked = [json.dumps(one, sort_keys=True) for one in server.requests]
    assert model.together
    assert len(asked) == len(set(asked)) == hub.spent.requests + handed.spent.requests
    assert [one.said for one in hub.answers] == ["pass", "fail", "fail", "pass"]
    assert [one.said for one in handed.answers] == ["pass", "fail", "pass", "fail"]
    assert hub.steps["second_opinion"] == hub.steps["sweep"] == "done"
    states = {state: [one for one in hub.findings if one.state == state] for state in ("counted", "overturned")}
    assert [one.quotes for one in states["overturned"] if "可用性" in one.message] == [((TREATED, True),)]
    (contradiction,) = (one for one in states["counted"] if one.category == "consistency")
    assert dict(contradiction.quotes) == {REMOVED: True, EXAMINED: True}
    assert hub.spent.cost > 0
    assert hub.spent.estimated_cost is not None
    _head, _line, *lines = table({"path": [hub], "handed": [handed]}).splitlines()
    assert lines[0].startswith("| path | 1.000 of 4 | 0.000 | 0.000 | 1.000, 0.000, 0.000 | 0 of 1 |")
    assert lines[1].startswith("| handed | 0.500 of 4 | 0.500 | 0.500 | 1.000, 0.000, 0.000 | 1 of 1 | 1 |")
    write_all(tmp_path / "out", [hub], [handed])
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows-handed.jsonl").read_text("utf-8").splitlines()]
    assert [row["is_wrong"] for row in rows] == [False, False, True, True]
    key = [json.loads(line) for line in (tmp_path / "out" / "KEY-blind.jsonl").read_text("utf-8").splitlines()]
    assert {one["way"] for one in key} == {"hub", "handed"}
    near = [json.loads(line) for line in (tmp_path / "out" / "near.jsonl").read_text("utf-8").splitlines()]
    assert {one["row"] for one in near} == {"記録の扱い", "台数"}
    assert all(set(one) == {"id", "document", "row", "place", "findings"} for one in near)
    # on the line of the row on the number of servers stands a finding that it has no reason
    says = [one["row"] == "記録の扱い" and "食い違う" in str(one["findings"]) for one in near]
    judged_lines = ({**one, "says": said} for one, said in zip(near, says, strict=True))
    write_lines(tmp_path / "out" / "near.jsonl", judged_lines)
    judged = {way: judged_rows(tmp_path / "out", way)["metrics"] for way in ("hub", "handed")}
    assert [judged[way]["false_positive_rate"]["value"] for way in ("hub", "handed")] == [0, 0]
    assert [judged[way]["false_negative_rate"]["value"] for way in ("hub", "handed")] == [0, 0.5]


def test_near_a_row_is_what_quotes_beside_it_names_its_words_or_quotes_nothing() -> None:
    text = "一行目の文。\n" + "間。\n" * 200 + "版は2.0である。\n"
    case = {"check_type": "structure", "location": "版は2.0", "item": "変更履歴がない", "variants": []}
    last = len(text)
    nothing = ModelDefect(category="structure", spans=(), message="作成者がない。")
    beside = ModelDefect(
        category="structure", spans=((last - 5, last - 2),), message="日付がない。", quotes=("である",)
    )
    elsewhere = ModelDefect(category="structure", spans=((0, 5),), message="変更履歴が欠けている。", quotes=("一行目",))
    other = ModelDefect(category="structure", spans=((0, 5),), message="綴りの誤り。", quotes=("一行目の文",))
    assert near_to(case, [nothing, beside, elsewhere, other], text) == (nothing, beside, elsewhere)
    assert near_to({**case, "topic": "purpose"}, [nothing], text) == ()


def test_a_topic_that_a_document_need_not_have_is_not_there_and_no_finding() -> None:
    said = [("scope", "missing"), ("migration", "not_needed"), ("purpose", "present")]
    answer = {"topics": [{"topic": topic, "reason": "本文による。", "verdict": verdict} for topic, verdict in said]}
    read = read_handed({**answer, "findings": []}, "本文")
    assert read.topics == {"scope": False, "migration": False, "purpose": True}
    assert read.not_needed == {"migration"}


def test_the_blind_file_does_not_name_the_way(tmp_path: Path) -> None:
    facts = {"document": "G", "state": "counted", "rule_id": "", "item": "", "category": "", "severity": "minor"}
    lines = [
        FindingLine(**facts, way=way, message=f"{way[0]}{at}", quotes=())
        for way in ("hub", "handed")
        for at in range(20)
    ]
    overturned = replace(lines[0], state="overturned", message="覆った")
    write_blind(tmp_path / "blind.jsonl", [*lines, overturned])
    blind = [json.loads(line) for line in (tmp_path / "blind.jsonl").read_text("utf-8").splitlines()]
    key = [json.loads(line) for line in (tmp_path / "KEY-blind.jsonl").read_text("utf-8").splitlines()]
    assert all(set(one) == {"id", "document", "message", "quotes"} for one in blind)
    assert [one["id"] for one in blind] == [one["id"] for one in key]
    assert len({one["id"] for one in blind}) == len(lines)
    assert sorted(ways := [one["way"] for one in key]) != ways


def test_a_models_finding_answers_the_row_whose_line_it_quotes() -> None:
    text = "一行目の文。\n二行目の文。\n"
    case = {"check_type": "consistency", "location": "二行目"}
    here, there = ((7, 12),), ((0, 5),)

    def said(ruled: str, category: str, spans: Any, **more: Any) -> str:
        found = [ModelDefect(category=category, spans=spans)]
        return said_of(case | more, ruled, found, text, topic="", was_read=True)

    assert said("pass", "consistency", here) == "fail"
    assert said("pass", "consistency", there) == "pass"
    assert said("pass", "coverage", here) == "pass"
    assert said("undecided", "coverage", here) == "pass"
    assert said_of(case, "undecided", [], text, topic="", was_read=False) == "undecided"
    missing = ModelDefect(category="coverage", spans=here, topic="性能")
    assert said_of({"check_type": "required_section"}, "pass", [missing], text, topic="性能", was_read=True) == "fail"
    assert said_of({"check_type": "required_section"}, "pass", [missing], text, topic="移行", was_read=True) == "pass"
