"""What each form of a text drops and what it keeps, and that all who compare texts use these."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.graph.reading import name_key
from knowledge.search.highlights import fold_characters
from knowledge.text.folding import (
    HYPHENS,
    fold_case,
    fold_compact,
    fold_each,
    fold_name,
    fold_terms,
    narrow,
    normalise,
)
from review.report.sheet import cell_key

FORMS = (narrow, fold_each, normalise, fold_case, fold_compact, fold_name, fold_terms)
# What is written, and what each of FORMS makes of it, in that order.
CASES = {
    "ＦＲ－００１": ("FR-001", "fr-001", "FR-001", "fr-001", "fr-001", "fr-001", "fr-001"),
    "FR‐001": ("FR-001", "fr‐001", "FR‐001", "fr‐001", "fr‐001", "fr-001", "fr-001"),
    "SQL　表": ("SQL 表", "sql 表", "SQL 表", "sql 表", "sql表", "sql 表", "sql 表"),
    "ｻｰﾊﾞ": ("ｻｰﾊﾞ", "サーハ\u3099", "サーバ", "サーバ", "サーバ", "サーバ", "サーバ"),
    "㍻Straße": ("㍻Straße", "㍻straße", "平成Straße", "平成strasse", "平成strasse", "平成strasse", "平成strasse"),
    "髙\ufe00橋": ("髙\ufe00橋", "髙\ufe00橋", "髙\ufe00橋", "髙\ufe00橋", "髙\ufe00橋", "髙\ufe00橋", "高橋"),
    " 第 1 章\n": (" 第 1 章\n", " 第 1 章\n", " 第 1 章\n", " 第 1 章\n", "第1章", "第 1 章", " 第 1 章\n"),
    "サーバ—室": ("サーバ—室",) * 7,
}  # fmt: skip
TEXTS = st.text(alphabet=st.sampled_from("ＡaＢb１2－‐−–-ー　 \nｶﾞガか゛\u3099①㈱㋿髙高\u200b\ufe00ß。（"), max_size=30)
PRODUCT = ("knowledge", "review")


@pytest.mark.parametrize("text", CASES)
def test_each_form_drops_and_keeps_what_it_says(text: str) -> None:
    assert tuple(form(text) for form in FORMS) == CASES[text]


# A mark that follows a blank is one with the letter before it once the blank is dropped.
@given(TEXTS.map(lambda text: text.translate(dict.fromkeys(map(ord, "ﾞ゛\u3099")))))
def test_a_text_in_a_form_stays_as_it_is_in_that_form(text: str) -> None:
    for form in (narrow, normalise, fold_compact, fold_name):
        assert form(form(text)) == form(text), form.__name__


@given(TEXTS)
def test_offsets_hold_where_characters_are_folded_one_by_one(text: str) -> None:
    assert len(narrow(text)) == len(fold_each(text)) == len(fold_characters(text)) == len(text)


@given(TEXTS)
def test_who_compares_names_and_cells_compares_them_in_these_forms(text: str) -> None:
    assert name_key(text) == fold_name(text)
    assert cell_key(text) == fold_compact(text)


def test_hyphens_are_one_for_all_who_make_them_one() -> None:
    assert {narrow(hyphen) for hyphen in HYPHENS} == {fold_name(hyphen) for hyphen in HYPHENS} == {"-"}


def test_nothing_else_of_the_product_applies_nfkc_by_itself() -> None:
    places = [
        f"{path}:{node.lineno}"
        for package in PRODUCT
        for path in sorted((Path(__file__).parents[3] / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and any(isinstance(one, ast.Constant) and one.value == "NFKC" for one in node.args)
        and not path.match("knowledge/text/folding.py")
    ]
    assert places == []
