"""Counting what people judged of findings in real documents."""

from __future__ import annotations

import json

from benchmarks.first_shot.outputs import read_lines
from benchmarks.judged import FINDINGS, counts_by_kind, table
from review.rules.certainty import Certainty, certainty_of, precision_of
from tests.conftest import REPOSITORY

KIND = "document.missing_history"


def line(says: str, *, is_left: bool = True, kind: str = "style.tari") -> dict[str, object]:
    return {"document": "P01.docx", "rule": kind, "kind": kind, "says": says, "marks": [], "is_left": is_left}


def test_what_holds_counts_whether_or_not_somebody_would_act_on_it():
    assert counts_by_kind([line("right"), line("true"), line("false")]) == {"style.tari": {"right": 2, "judged": 3}}


def test_a_kind_of_which_something_is_gone_was_mended_for_these_documents():
    counted = counts_by_kind([line("right"), line("false", is_left=False)])

    assert counted == {"style.tari": {"right": 1, "judged": 1, "mended_for": True}}
    assert counts_by_kind([line("false", is_left=False)]) == {}


def test_the_table_has_first_shot_and_what_is_left():
    assert "| `style.tari` | 1, 0, 1 | 1, 0, 0 |" in table([line("right"), line("false", is_left=False)])


def test_the_shipped_table_has_what_people_judged():
    counted = counts_by_kind(read_lines(FINDINGS))
    shipped = json.loads((REPOSITORY / "review" / "data" / "precision.json").read_text(encoding="utf-8"))["kinds"]

    assert {kind: shipped[kind] for kind in counted} == counted
    assert certainty_of(precision_of(KIND).bound) is Certainty.LIKELY
