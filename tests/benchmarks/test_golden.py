"""The record of what the hub answers: the same for the same answers, and different where they differ."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

from benchmarks.golden.records import compare, report, write_kind
from benchmarks.golden.stable import Stable
from hub.core.ids import new_id
from tests.conftest import REPOSITORY

BEGUN = datetime(2026, 4, 1, 15, 30, tzinfo=UTC)  # in Japan it is the second of April


def stable() -> Stable:
    return Stable(begun=BEGUN, folders={"/tmp/hub-1": "<data>"})


def test_ids_of_two_runs_get_the_same_names_by_what_was_learnt_and_by_their_order():
    written = []
    for _run in range(2):
        names, document, first, second = stable(), new_id("doc"), new_id("fnd"), new_id("fnd")
        names.learn(document, "doc 設計書.md")
        answer = {"document_id": document, "findings": [first, second], first: f"「{second}」は/api/{first}?a=1を見よ"}
        written.append((names.answer(answer), names.answer([second])))
    assert written[0] == written[1]
    assert written[0] == (
        {
            "document_id": "<doc 設計書.md>",
            "findings": ["<fnd 1>", "<fnd 2>"],
            "<fnd 1>": "「<fnd 2>」は/api/<fnd 1>?a=1を見よ",
        },
        ["<fnd 1>"],
    )


def test_words_that_look_like_ids_stay():
    words = ["check_item_id", "doc_short", "get_guideline_mapping", "style.no_mixed_zenkaku_and_hankaku_alphabet"]
    assert stable().answer(words) == words


def test_times_of_the_run_are_replaced_and_those_that_documents_write_stay():
    answer = {
        "created_at": "2026-04-01T15:31:02.123456Z",
        "text": "作成 2026-04-02 00:31 JST、2026年4月2日。初版 2024-04-01T09:00:00+09:00。番号 20260402001",
        "timings_ms": {"model": 1.5, "total": 3},
        "execution_time_ms": 12,
        "timeout_ms": {"type": "integer"},
        "next_cursor": "eyJzaG93biI6",
        "path": "/tmp/hub-1/blobs",
    }
    assert stable().answer(answer) == {
        "created_at": "<time>",
        "text": "作成 <time>、<today>。初版 2024-04-01T09:00:00+09:00。番号 20260402001",
        "timings_ms": "<ms>",
        "execution_time_ms": "<ms>",
        "timeout_ms": {"type": "integer"},
        "next_cursor": "<cursor>",
        "path": "<data>/blobs",
    }


def test_json_in_a_text_is_recorded_by_its_fields_and_its_form():
    compact, indented = (json.dumps({"total_ms": 3, "名": "値"}, ensure_ascii=False, indent=i) for i in (None, 2))
    assert stable().answer([compact, indented, "{not JSON"]) == [
        {"JSON": {"total_ms": "<ms>", "名": "値"}},
        {"indented JSON": {"total_ms": "<ms>", "名": "値"}},
        "{not JSON",
    ]


def test_office_files_are_recorded_by_their_members_and_long_texts_by_their_digest():
    def packed(moment: tuple[int, int, int, int, int, int], text: str) -> bytes:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr(zipfile.ZipInfo("b.xml", moment), text)
            archive.writestr(zipfile.ZipInfo("a.png", moment), b"\x89\xff")
        return held.getvalue()

    one, two = packed((2026, 4, 1, 0, 0, 0), "同じ"), packed((2026, 4, 1, 9, 9, 8), "同じ")
    assert one != two
    assert stable().answer(one) == stable().answer(two)
    assert list(stable().answer(one)) == ["a.png", "b.xml"]
    assert stable().answer(one) != stable().answer(packed((2026, 4, 1, 0, 0, 0), "別"))
    assert stable().answer("長" * 300, longest=200) != stable().answer("長" * 299 + "い", longest=200)


def test_two_records_of_the_same_are_equal_byte_for_byte_whatever_the_order(tmp_path):
    answers = [("b", {"x": 1}), ("a", ["日本"])]
    write_kind(tmp_path / "one", "search", answers)
    write_kind(tmp_path / "two", "search", reversed(answers))
    one, two = (tmp_path / name / "search.jsonl" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert [json.loads(line)["key"] for line in one.read_text().splitlines()] == ["a", "b"]
    assert not report(compare(one.parent, two.parent))


def test_compare_names_what_changed_what_is_gone_and_what_is_new(tmp_path):
    before = [("kept", 1), ("changed", {"hits": [{"score": 0.5}, {"score": 0.4}]}), ("order", {"a": 1, "b": 2})]
    after = [("kept", 1), ("changed", {"hits": [{"score": 0.5}, {"score": 0.3}]}), ("order", {"b": 2, "a": 1})]
    write_kind(tmp_path / "one", "search", [*before, ("gone", 1)])
    write_kind(tmp_path / "two", "search", [*after, ("new", 1)])
    write_kind(tmp_path / "two", "graph", [("walk", 1)])
    graph, search = compare(tmp_path / "one", tmp_path / "two")
    assert (graph.kind, graph.new) == ("graph", ["walk"])
    assert (search.same, search.gone, search.new) == (1, ["gone"], ["new"])
    assert search.changed == {"changed": "$.hits[1].score: 0.4 → 0.3", "order": "$: the order of fields"}


def test_the_command_ends_with_1_where_records_differ_and_with_0_where_they_do_not(tmp_path):
    for name, score in (("one", 0.5), ("two", 0.5), ("three", 0.6)):
        write_kind(tmp_path / name, "search", [("question", {"score": score})])

    def compared(other: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "benchmarks.golden", "compare", str(tmp_path / "one"), str(tmp_path / other)]
        return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert compared("two").returncode == 0
    different = compared("three")
    assert different.returncode == 1
    assert "changed question\n            $.score: 0.5 → 0.6" in different.stdout
    assert compared("none").returncode == 1
