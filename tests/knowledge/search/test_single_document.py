"""One document's passages are ranked by what is left of the index, and where there is none, that is told."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import Error, connection

from knowledge.models import DocumentVersion
from knowledge.search.single_document import nearest_within, rank_within
from tests.knowledge.search.shelf import Library
from tests.knowledge.search.test_degraded import break_table
from tests.knowledge.search.test_failing_statements import MOST_STATEMENTS, cut_connection, failing

TEXTS = ["認証は多要素とする。", "帳票は夜間に印刷する。", "応答時間は3秒以内とする。"]
QUESTION = "応答時間は何秒か"
VECTORS, WORDS = "knowledge_chunkvector", "knowledge_lexicalterm"


def version_of(library: Library) -> DocumentVersion:
    return library.add("設計書.md", TEXTS)[0].version


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "code"), [(VECTORS, "vector_unavailable"), (WORDS, "lexical_unavailable")])
def test_passages_are_ranked_by_the_leg_that_is_left(table: str, code: str) -> None:
    version = version_of(Library())
    break_table(table)
    ranked = rank_within(version, QUESTION)
    assert ranked.chunks[0].content == TEXTS[-1]
    assert ranked.is_ranked
    assert [notice.code for notice in ranked.notices] == [code]


@pytest.mark.django_db
def test_passages_that_nothing_ranks_stand_in_the_documents_order_and_that_is_told() -> None:
    version = version_of(Library())
    break_table(VECTORS)
    break_table(WORDS)
    ranked = rank_within(version, QUESTION)
    assert [chunk.content for chunk in ranked.chunks] == TEXTS
    assert not ranked.is_ranked
    assert [notice.code for notice in ranked.notices] == ["passages_unranked"]


@pytest.mark.django_db
def test_coverage_is_told_without_the_nearest_passages_when_the_vectors_can_not_be_read() -> None:
    version = version_of(Library())
    assert nearest_within(version, {"応答": QUESTION}).by_key["応答"][0].content == TEXTS[-1]
    break_table(VECTORS)
    nearest = nearest_within(version, {"応答": QUESTION, "認証": "認証の方式"})
    assert not nearest.by_key
    assert [notice.code for notice in nearest.notices] == ["vector_unavailable"]


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_no_legs_affair() -> None:
    version = version_of(Library())
    for number in range(MOST_STATEMENTS):
        with failing(number, cut_connection) as seen, suppress(Error):
            rank_within(version, QUESTION)
            assert number >= len(seen)
        connection.close()
        if number >= len(seen):
            return
    raise AssertionError
