"""A passage that says the asked thing by another name comes behind those that name it, and before those with parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hub.access.principals import local_operator
from knowledge.index.analysis import analyse_query
from knowledge.models import LexicalField
from knowledge.ontology.store import expand
from knowledge.search.bm25 import all_scores
from knowledge.search.hybrid import search
from knowledge.search.postings import Piece, PieceKey
from knowledge.search.weighing import FieldTerm, Synonym
from knowledge.types.search import SearchDetail, SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library


@dataclass(frozen=True, kw_only=True)
class Concept:
    """A question, the name in it, other names of the same thing, and what has parts of the name and is something else.

    ``said`` are sentences that a passage may say of any of them.
    """

    question: str
    name: str
    others: tuple[str, ...]
    parts: tuple[str, ...]
    said: tuple[str, ...]


CONCEPTS = (
    Concept(
        question="可用性の目標",
        name="可用性",
        others=("アベイラビリティ", "稼働率", "Availability"),
        parts=("可用帯域", "利用性", "可能性", "保守性", "稼働機器"),
        said=("{}の目標は、月次で報告する。", "本システムの{}について、目標を次のとおり定める。"),
    ),
    Concept(
        question="個人情報を漏えいしたときの連絡先",
        name="個人情報",
        others=("パーソナルデータ",),
        parts=("個人の荷物", "情報", "個人票", "報告書", "データ"),
        said=("{}が漏えいした場合の連絡先は、総務課とする。",),
    ),
    Concept(
        question="目標復旧時間",
        name="目標復旧時間",
        others=("RTO", "リカバリタイム"),
        parts=("復旧時間", "目標時間", "復旧手順", "作業時間", "タイムカード"),
        said=("{}は、4時間とする。",),
    ),
)
FILLERS = tuple(f"第{number}条 様式第{number}号の記入欄と提出窓口{number}を別に定める。" for number in range(1, 41))


def found(text: str, names: dict[str, str], mode: SearchMode = SearchMode.LEXICAL) -> dict[str, float]:
    query = SearchQuery(text=text, mode=mode, limit=100)
    hits = search(local_operator(), query, expand=lambda text: names).hits
    return {hit.content: hit.score or 0.0 for hit in hits}


@pytest.mark.django_db
@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_another_name_comes_behind_the_name_and_before_its_parts(concept: Concept) -> None:
    said = [
        sentence.format(name) for sentence in concept.said for name in (*concept.parts, *concept.others, concept.name)
    ]
    Library().add("要件.md", [*said, *FILLERS])
    for mode in (SearchMode.LEXICAL, SearchMode.HYBRID):
        scores = found(concept.question, dict.fromkeys(concept.others, concept.name), mode)
        for sentence in concept.said:
            parts = max(scores.get(sentence.format(part), 0.0) for part in concept.parts)
            others = [scores[sentence.format(other)] for other in concept.others]
            assert parts < min(others) <= max(others) < scores[sentence.format(concept.name)], (mode, scores)


@pytest.mark.django_db
def test_saying_one_thing_by_all_its_names_is_not_telling_of_both() -> None:
    both, other_name, all_names = (
        "バックアップにより可用性を高め、夜間に実施する。",
        "バックアップにより稼働率を高め、夜間に実施する。",
        "可用性（アベイラビリティ、稼働率）を高め、夜間に実施する。",
    )
    Library().add("要件.md", [both, other_name, all_names, "可用性を高め、夜間に実施する。", *FILLERS])
    names = dict.fromkeys(("アベイラビリティ", "稼働率"), "可用性") | {"データ退避": "バックアップ"}
    assert [*found("可用性とバックアップ", names)][:2] == [both, other_name]


@pytest.mark.django_db
def test_a_long_question_leaves_room_for_other_names() -> None:
    wanted = "アベイラビリティの目標値を定める。"
    long = "本業務で用いる計算機と通信回線および周辺装置ならびに設置場所における可用性の目標値と測定方法"
    Library().add("要件.md", [wanted, "可能性の目標値を定める。", "耐用性の目標値を定める。", long, *FILLERS])
    assert [*found(long, {"アベイラビリティ": "可用性"})][:2] == [long, wanted]


@pytest.mark.django_db
def test_a_question_of_one_name_finds_another_one_as_good_evidence_and_no_score_exceeds_one() -> None:
    Library().add("要件.md", ["アベイラビリティ、稼働率、Availability。稼働率とアベイラビリティ。", *FILLERS])
    names = dict.fromkeys(("アベイラビリティ", "稼働率", "Availability"), "可用性")
    query = SearchQuery(text="可用性", mode=SearchMode.LEXICAL, detail=SearchDetail.EXPLAIN)
    best = search(local_operator(), query, expand=lambda text: names).hits[0]
    assert 0.7 <= (best.score or 0) <= 1
    assert 0.5 <= ((best.legs or {})["lexical"].raw or 0) <= 0.85
    assert {"稼働", "率", "avail"} <= set(best.terms or ())


def test_what_is_no_word_of_the_question_has_no_other_names() -> None:
    asked = analyse_query("ログイン履歴", synonyms={"記録": "ログ"})
    assert asked.other_words == asked.other_bigrams == ()


def test_other_names_stand_for_the_words_of_the_name_alone() -> None:
    asked = analyse_query("可用性の目標値", synonyms={"稼働率": "可用性"})
    assert [(one.terms, one.instead_of) for one in asked.other_words] == [(("稼働", "率"), ("可用", "性"))]
    assert [(one.terms, one.instead_of) for one in asked.other_bigrams] == [(("稼働", "働率"), ("可用", "用性"))]


@pytest.mark.django_db
def test_the_published_ontologies_tell_which_name_stands_in_the_question() -> None:
    assert set(expand("性能の目標").values()) == {"性能"}


def piece(*chunks: tuple[int, int]) -> Piece:
    ordinals, tfs = zip(*chunks, strict=True)
    return Piece(
        ordinals=np.array(ordinals, np.int32),
        tfs=np.array(tfs, np.int16),
        lengths=np.full(len(ordinals), 100, np.int16),
        peak_tf=max(tfs),
        least_length=100,
    )


def term(number: int, share: float, synonym: Synonym | None = None) -> FieldTerm:
    return FieldTerm(
        term_id=number,
        text=str(number),
        field=LexicalField.WORD,
        share=share,
        base=1.0,
        slope=0.0,
        pieces=(PieceKey(number, 1, 1),),
        chunks=1,
        synonym=synonym,
    )


def test_of_a_name_and_its_other_names_the_one_counts_that_brings_the_most() -> None:
    one, two = Synonym(name="one", instead_of=("1",)), Synonym(name="two", instead_of=("1",))
    terms = [term(1, 0.6), term(2, 0.4), term(3, 0.2, one), term(4, 0.2, one), term(5, 0.5, two)]
    chunks = {1: [(10, 1), (11, 1)], 2: [(12, 1)], 3: [(11, 1), (12, 1), (13, 9)], 4: [(12, 1)], 5: [(11, 3), (12, 1)]}
    scores = all_scores(terms, {PieceKey(number, 1, 1): piece(*of) for number, of in chunks.items()})
    # 11: two (0.375) instead of 1 (0.3); 12: two (0.25) instead of one (0.2), and 2 (0.2); 13: a part of one alone.
    assert dict(zip(scores.ordinals.tolist(), scores.words.round(9).tolist(), strict=True)) == {
        10: 0.3,
        11: 0.375,
        12: 0.45,
        13: 0.18,
    }
