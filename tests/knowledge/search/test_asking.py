"""What a question can ask for: codes, phrases, English, dates, variety, and how much it is told."""

from __future__ import annotations

from datetime import date, datetime
from unicodedata import normalize

import pytest
from django.utils import timezone

from hub.access.principals import Classification, local_operator
from hub.core.errors import InvalidInput
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.analysis import analyse_passage, analyse_query, fingerprint
from knowledge.index.morphemes import stem
from knowledge.models import Chunk, Document
from knowledge.search import phrases, scope
from knowledge.search.fusion import GOOD_EVIDENCE
from knowledge.search.highlights import highlight_spans, query_marks
from knowledge.search.hybrid import search
from knowledge.search.phrase_postings import known_of_phrases, numbers_with_most
from knowledge.search.phrases import find_phrases
from knowledge.types.search import SearchDetail, SearchFilter, SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
RARE_WORDS = (
    *("論理", "物理", "骨格", "塗装", "配管", "鋼材", "足場", "基礎", "測量"),
    *("外壁", "断熱", "防水", "採光", "換気", "空調", "照明", "消防", "昇降"),
)


def ask(text: str, **options: object) -> SearchResult:
    return search(local_operator(), SearchQuery(text=text, **options))  # type: ignore[arg-type]


def contents(result: SearchResult) -> list[str]:
    return [hit.content for hit in result.hits]


@pytest.mark.parametrize("mode", [SearchMode.LEXICAL, SearchMode.HYBRID])
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("FR-001 の応答時間と性能要件を教えてください", "FR-001 画面を表示する。"),
        ("ＦＲ－００１", "FR-001 画面を表示する。"),
        ("GL-3.2.1", "GL-3.2.1 に従う。"),
        ("第三条は何を定めるか", "第3条 委託の範囲"),
        ("第３条", "第3条 委託の範囲"),
    ],
)
def test_a_code_comes_before_everything_else_that_fits(question: str, first: str, mode: SearchMode) -> None:
    Library().add(
        "要件.md",
        [
            "応答時間と性能要件を定める。応答時間は3秒、性能要件は表による。",
            "FR-0010 応答時間の性能要件を定める。",
            "FR-001 画面を表示する。",
            "GL-3.2.10 に従う性能要件。",
            "GL-3.2.1 に従う。",
            "第30条 委託の範囲を定める。第13条",
            "第3条 委託の範囲",
        ],
    )
    assert contents(ask(question, mode=mode))[0] == first


def test_a_code_that_no_passage_has_is_told_and_nothing_passes_for_good_evidence() -> None:
    Library().add("要件.md", ["FR-001 応答時間は3秒とする。", "FR-002 認証は多要素とする。"])
    known, unknown = ask("FR-001 の応答時間"), ask("ＸＹ－９９９ の応答時間")
    assert (known.hits[0].score or 0) >= GOOD_EVIDENCE
    assert "code_not_found" not in {notice.code for notice in known.notices}
    assert contents(unknown)[0] == contents(known)[0]
    assert (unknown.hits[0].score or 0) < GOOD_EVIDENCE
    told = {notice.code: notice for notice in unknown.notices}
    assert "no_good_evidence" in told
    assert "XY-999" in told["code_not_found"].ja
    assert "XY-999" in told["code_not_found"].en


def test_of_two_codes_the_missing_one_is_told_and_the_other_answers() -> None:
    Library().add("要件.md", ["FR-001 応答時間は3秒とする。", "認証は多要素とする。"])
    result = ask("FR-001 と FR-009 の応答時間")
    assert [notice.en for notice in result.notices] == ["No passage was found that has FR-009."]
    assert (result.hits[0].score or 0) >= GOOD_EVIDENCE


def test_a_code_is_asked_however_common_it_is_and_however_long_the_question() -> None:
    long = "窓口 端末 印刷 帳票 監査 証跡 回線 冗長 暗号 認証 災害 復旧 移行 研修 保守 運用 監視 通報 様式 申請"
    Library().add("要件.md", [f"NFR-001 {word}に従う。" for word in long.split()] + [long])
    assert contents(ask(f"{long} NFR-001"))[0].startswith("NFR-001")


def test_synonyms_take_no_room_from_the_words_of_the_caller() -> None:
    own = "氏名の項目名は平仮名で書く"
    Library().add("指針.md", [own, *(f"{word}を設計する。" for word in RARE_WORDS)])
    query = SearchQuery(text="氏名の項目名", mode=SearchMode.LEXICAL, detail=SearchDetail.EXPLAIN)
    result = search(local_operator(), query, expand=lambda text: dict.fromkeys(RARE_WORDS, "氏名"))
    assert result.hits[0].content == own
    assert {"氏名", "項目", "名"} <= set(result.hits[0].terms or ())
    assert "query_cut" not in {notice.code for notice in result.notices}


@pytest.mark.parametrize("text", ["？！", "。、・", "は、が。", "%", '"', "あ" * 500])
@pytest.mark.parametrize("mode", [SearchMode.VECTOR, SearchMode.HYBRID])
def test_a_question_without_a_word_has_no_good_evidence(text: str, mode: SearchMode) -> None:
    Library().add("記号.md", ["---", "・。、", "応答時間は3秒とする。", "あああ。"])
    result = ask(text, mode=mode)
    assert all((hit.score or 0) < GOOD_EVIDENCE for hit in result.hits)
    assert "no_good_evidence" in {notice.code for notice in result.notices}


def test_articles_are_one_term_however_their_number_is_written() -> None:
    for written in ("第十二条の三", "第12条の3", "第 １２ 条の３"):
        assert "第12条の3" in analyse_passage("", written).words
    assert analyse_query("第百三条").codes == ("第103条",)


def test_english_forms_of_a_word_find_each_other() -> None:
    Library().add("en.md", ["The servers were restarted after testing.", "Policies for archiving are listed."])
    assert contents(ask("restarting a server", mode=SearchMode.LEXICAL))[0].startswith("The servers")
    assert contents(ask("archive policy", mode=SearchMode.LEXICAL))[0].startswith("Policies")
    assert not analyse_query("what is the").words


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *[
            ("caresses", "caress"),
            ("flies", "fli"),
            ("dies", "die"),
            ("gas", "gas"),
            ("gaps", "gap"),
            ("kiwis", "kiwi"),
        ],
        *[("luxuriated", "luxuri"), ("hoping", "hope"), ("hopped", "hop"), ("proceed", "proceed"), ("agreed", "agre")],
        *[("relational", "relat"), ("triplicate", "triplic"), ("hopefulness", "hope"), ("goodness", "good")],
        *[("adjustment", "adjust"), ("adoption", "adopt"), ("controlling", "control"), ("by", "by"), ("say", "say")],
        *[("added", "add"), ("adding", "add"), ("exceeds", "exceed"), ("internally", "internal"), ("pasted", "paste")],
        *[("international", "internat"), ("university", "universiti"), ("universal", "universal"), ("ugly", "ugli")],
    ],
)
def test_stems_are_those_of_the_published_algorithm(word: str, expected: str) -> None:
    assert stem(word) == expected


PHRASE_PASSAGES = ("応答時間は通常時３秒以内とする。", "応答は時間内に3秒で返す。", "ＡＰＩの応答時間を測る。")


@pytest.mark.parametrize("mode", list(SearchMode))
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("「応答時間」の目標", {0, 2}),
        ("『3秒以内』", {0}),
        ('"応答時間は" 測定', {0}),
        ("“API”の応答", {2}),
        ("「応答時間」と「3秒」", {0}),
        ("「。」", {0, 1, 2}),
        ("「存在しない語句」の応答時間", set()),
    ],
)
def test_a_quoted_phrase_must_occur(question: str, expected: set[int], mode: SearchMode) -> None:
    Library().add("設計.md", PHRASE_PASSAGES)
    result = ask(question, mode=mode)
    if mode is SearchMode.LEXICAL and question == "「。」":
        expected = set()  # nothing that lexical search could ask for
    assert set(contents(result)) == {PHRASE_PASSAGES[place] for place in expected}
    assert all(phrase in normalize("NFKC", text) for text in contents(result) for phrase in find_phrases(question))
    assert ("phrase_not_found" in {one.code for one in result.notices}) == (not expected)


@pytest.mark.parametrize("question", ["「応答時間」の目標", "「。」と応答時間"])
def test_of_many_passages_that_may_have_a_phrase_the_best_are_read(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Library().add("設計.md", [*PHRASE_PASSAGES, *(f"応答時間の目標は第{n}章に書く。" for n in range(12))])
    everything = contents(ask(question, limit=20, mode=SearchMode.LEXICAL))
    monkeypatch.setattr(scope, "SMALL", 3)
    monkeypatch.setattr(phrases, "READ_AT_ONCE", 4)
    unhurried = ask(question, limit=20, mode=SearchMode.LEXICAL)
    assert contents(unhurried) == everything
    monkeypatch.setattr(phrases, "ENOUGH", 3)
    hurried = ask(question, limit=20, mode=SearchMode.LEXICAL)
    assert "phrase_cut" in {one.code for one in hurried.notices}
    assert contents(hurried)[0] == everything[0]
    assert 3 <= len(hurried.hits) <= 4
    assert all(phrase in text for text in contents(hurried) for phrase in find_phrases(question))


def test_every_passage_that_may_have_a_phrase_is_found_in_every_segment() -> None:
    library = Library()
    for number in range(6):
        library.add(f"{number}.md", [f"第{number}章の応答時間", f"第{number}章の時間と応答", "処理時間"])
    groups = [["応答", "答時", "時間"], ["時間"]]
    found = numbers_with_most(groups, known_of_phrases(groups, active_embedding_set(), visible=None))
    having = Chunk.objects.filter(lexical_entry__ordinal__in=found.tolist())
    # One of three terms may be divided by the end of a line.
    expected = [f"第{number}章の{text}" for number in range(6) for text in ("応答時間", "時間と応答")]
    assert sorted(one.content for one in having) == sorted(expected)
    nowhere = [["応答", "存在"]]
    assert not numbers_with_most(nowhere, known_of_phrases(nowhere, active_embedding_set(), visible=None)).size


def test_a_phrase_may_end_inside_of_a_longer_word() -> None:
    Library().add("en.md", ["The performance report", "A perform report"])
    assert contents(ask('"performa"')) == ["The performance report"]


def test_dates_and_classifications_restrict() -> None:
    library = Library()
    for name, day, level in (
        ("a.md", 1, Classification.C1),
        ("b.md", 2, Classification.C2),
        ("c.md", 3, Classification.C3),
    ):
        library.add(name, [f"性能の記述 {name}"], classification=level)
        moment = datetime(2026, 4, day, 23, 30, tzinfo=timezone.get_current_timezone())
        Document.objects.filter(path=name).update(created_at=moment, updated_at=moment)

    def found(**restriction: object) -> str:
        hits = ask("性能", filter=SearchFilter(**restriction)).hits  # type: ignore[arg-type]
        return "".join(sorted(hit.document_path[0] for hit in hits))

    assert found(created_from=date(2026, 4, 2)) == "bc"
    assert found(created_to=date(2026, 4, 2)) == "ab"
    assert found(updated_from=date(2026, 4, 2), updated_to=date(2026, 4, 2)) == "b"
    assert found(created_to=datetime(2026, 4, 2, 12, tzinfo=timezone.get_current_timezone())) == "a"
    assert found(classifications=("c1", "C3")) == "ac"
    with pytest.raises(InvalidInput, match=r"filter\.classification"):
        found(classifications=("c9",))


def test_equal_texts_are_shown_once_and_the_others_are_named() -> None:
    library = Library()
    library.add("a.md", ["応答時間は３秒以内とする。", "認証の方式"])
    library.add("b.md", ["応答時間は 3秒以内とする"])
    library.add("c.md", ["応答時間は4秒以内とする。"])
    result = ask("応答時間は何秒か")
    assert len(result.hits) == result.total_found == 3
    (double,) = [hit for hit in result.hits if hit.duplicates]
    assert {double.document_path, double.duplicates[0].document_path} == {"a.md", "b.md"}
    assert fingerprint("3秒") != fingerprint("4秒")


def test_one_document_may_be_kept_from_filling_the_answer() -> None:
    library = Library()
    library.add("a.md", [f"応答時間{n}は{n}秒とする。" for n in range(6)])
    library.add("b.md", ["応答時間の測り方"])
    paths = [hit.document_path for hit in ask("応答時間", per_document=2).hits]
    assert sorted(paths) == ["a.md", "a.md", "b.md"]


def test_pages_neither_repeat_nor_leave_out_while_documents_are_added() -> None:
    library = Library()
    library.add("a.md", [f"画面{n}の表示は{n}秒以内とする。" for n in range(12)])
    everything = set(contents(ask("画面の表示", limit=50)))
    seen, mark = [], None
    for number in range(20):
        page = ask("画面の表示", limit=5, after=mark)
        seen += contents(page)
        library.add(f"new{number}.md", [f"画面の表示 画面の表示 追加{number}"])
        mark = page.next_page
        if mark is None:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) == everything


@pytest.mark.parametrize("level", list(SearchDetail))
def test_each_level_of_detail_has_what_those_before_it_have(level: SearchDetail) -> None:
    Library().add("設計.md", PHRASE_PASSAGES)
    result = ask("応答時間は FR-001", detail=level, filter=SearchFilter(language="ja"))
    best = result.hits[0]
    assert (best.highlights is not None) == level.includes(SearchDetail.HIGHLIGHTS)
    assert (best.legs is not None) == level.includes(SearchDetail.SCORES)
    assert (best.terms is not None) == (result.explanation is not None) == (level is SearchDetail.EXPLAIN)
    if result.explanation:
        assert "応答" in (best.terms or ())
        assert result.explanation.codes == ("fr-001",)
        assert result.explanation.permitted == 3
        assert result.explanation.filters == {"language": "ja"}
        assert set(result.explanation.plans) == {"vector", "lexical"}


def marked(text: str, question: str) -> list[str]:
    return [text[start:end] for start, end in highlight_spans(text, query_marks(question, analyse_query(question)))]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("通常時の応答時間は３秒", "応答時間は何秒か", ["応答時間", "秒"]),
        ("ＦＲ－００１とFR-0010", "FR-001", ["ＦＲ－００１"]),
        ("サーバーの性能", "サーバ", ["サーバー"]),
        ("ｻｰﾊﾞｰとﾃﾞｰﾀﾍﾞｰｽ、カ\u3099イト\u3099", "サーバのデータベースのガイド", ["ｻｰﾊﾞｰ", "ﾃﾞｰﾀﾍﾞｰｽ", "カ\u3099イト\u3099"]),
        ("All Requirements are required", "requirement", ["Requirements", "required"]),
        ("何もない", "！？", []),
        ("問い合せ、問合わせは申込書で。", "申し込みの問い合わせ", ["問い合せ", "問合わせ", "申込"]),
    ],
)
def test_highlights_are_spans_of_the_text_as_it_stands(text: str, question: str, expected: list[str]) -> None:
    assert marked(text, question) == expected


def test_synonyms_by_which_a_passage_was_found_are_marked() -> None:
    Library().add("設計.md", ["障害時の復旧は四時間以内とする。", "認証は多要素とする。"])
    query = SearchQuery(text="リカバリの目標", mode=SearchMode.LEXICAL, detail=SearchDetail.HIGHLIGHTS)
    hit = search(local_operator(), query, expand=lambda text: {"復旧": "リカバリ"}).hits[0]
    assert [hit.content[start:end] for start, end in hit.highlights or ()] == ["復旧"]


class ByLength:
    """Rates a passage by its length."""

    name = "length"

    def scores(self, query: str, passages: list[str]) -> list[float]:
        return [float(len(passage)) for passage in passages]


def test_a_reranker_orders_the_first_candidates_and_shows_its_scores() -> None:
    Library().add("設計.md", ["応答時間", "応答時間は3秒", "認証の方式は多要素とし、応答時間は別に定める。"])
    query = SearchQuery(text="応答時間", detail=SearchDetail.SCORES)
    hits = search(local_operator(), query, reranker=ByLength()).hits  # type: ignore[arg-type]
    assert [len(hit.content) for hit in hits] == sorted([len(hit.content) for hit in hits], reverse=True)
    assert hits[0].legs is not None
    assert (hits[0].legs["reranker"].rank, hits[0].legs["reranker"].raw) == (1, len(hits[0].content))


@pytest.mark.parametrize("level", list(SearchDetail))
@pytest.mark.parametrize(
    "text", ["「", "「」", '""', "「\ud800」", "『😀』", '"' * 9999, "「" * 5000 + "」" * 5000, "FR-" * 3000]
)
def test_odd_quotes_and_codes_get_an_answer(text: str, level: SearchDetail) -> None:
    Library().add("設計.md", PHRASE_PASSAGES)
    assert ask(text, detail=level).total_found >= 0
