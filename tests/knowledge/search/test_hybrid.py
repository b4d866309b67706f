"""The search service on real PostgreSQL, with the bundled embedder."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hub.access.principals import local_operator
from hub.core.errors import InvalidInput
from knowledge.models import Document, LexicalPosting
from knowledge.search.hybrid import search
from knowledge.types.search import SearchFilter, SearchMode, SearchOrder, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library, Passage

pytestmark = pytest.mark.django_db
PASSAGES = (
    "本システムは利用者の認証に多要素認証を用いる。",
    "応答時間は通常時3秒以内とする。",
    "バックアップは毎日深夜2時に取得し、30日間保管する。",
)


@pytest.fixture
def library() -> Library:
    made = Library()
    made.add("基本設計書.md", PASSAGES)
    return made


def ask(text: str, **options: object) -> SearchResult:
    return search(local_operator(), SearchQuery(text=text, **options))  # type: ignore[arg-type]


def contents(result: SearchResult) -> list[str]:
    return [hit.content for hit in result.hits]


def codes(result: SearchResult) -> list[str]:
    return [notice.code for notice in result.notices]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_search_puts_the_passage_that_answers_first(library: Library, mode: SearchMode) -> None:
    result = ask("バックアップはいつ取得しますか", mode=mode)
    assert contents(result)[0] == PASSAGES[2]
    assert result.total_found >= 1


def test_scores_fall_with_rank_and_lie_between_0_and_1(library: Library) -> None:
    scores = [hit.score for hit in ask("応答時間は何秒か").hits if hit.score is not None]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert 0.0 <= scores[-1] <= scores[0] <= 1.0


def test_a_good_answer_scores_high_and_a_stranger_gets_none(library: Library) -> None:
    assert (ask("応答時間は何秒以内か").hits[0].score or 0) >= 0.7
    stranger = ask("富士山に最初に登った人物は誰か", threshold=0.7)
    assert stranger.hits == ()
    assert stranger.total_found == 0
    assert "no_good_evidence" in codes(stranger)


def test_a_question_in_english_finds_the_japanese_answer_before_a_sample_that_shares_a_word() -> None:
    answer = "文書1件あたりの処理時間は5分以内とする。"
    sample = "```python\ndef process_document(path):\n    document = load(path)\n    process(document)\n```"
    Library().add("基本設計書.md", [sample, answer, *PASSAGES])
    assert contents(ask("How long may it take to process one document?"))[0] == answer
    assert contents(ask("process document"))[0] == sample


def test_a_code_is_found_exactly_and_before_its_neighbours() -> None:
    Library().add("要件定義書.md", [f"要件 FR-0{n:02} 画面{n}の表示を定める。" for n in (1, 10, 11, 12)] + ["FR-0011"])
    assert contents(ask("FR-001"))[0].startswith("要件 FR-001 ")
    assert [text[:9] for text in contents(ask("FR-010", mode=SearchMode.LEXICAL, threshold=0.7))] == ["要件 FR-010"[:9]]


def test_full_width_questions_find_half_width_text_and_the_other_way_round() -> None:
    Library().add("api.md", ["API v2 の認証は OAuth2 を用いる。", "ＡＰＩゲートウェイはＦＲ－００５を満たす。"])
    assert "OAuth2" in contents(ask("ＯＡｕｔｈ２", mode=SearchMode.LEXICAL))[0]
    assert "００５" in contents(ask("FR-005", mode=SearchMode.LEXICAL))[0]


def test_synonyms_find_passages_that_use_another_word(library: Library) -> None:
    query = SearchQuery(text="レスポンスタイム", mode=SearchMode.LEXICAL)
    assert search(local_operator(), query, expand=lambda text: {}).hits == ()
    expanded = search(local_operator(), query, expand=lambda text: {"応答時間": "レスポンスタイム"})
    assert expanded.hits[0].content == PASSAGES[1]


def test_the_published_ontologies_give_the_synonyms() -> None:
    Library().add("design.md", ["スループットは毎秒 50 件とする。", "議事録の保管場所を定める。"])
    assert contents(ask("性能", mode=SearchMode.LEXICAL)) == ["スループットは毎秒 50 件とする。"]


def test_older_versions_retired_and_deleted_documents_are_never_found(library: Library) -> None:
    document = library.made["基本設計書.md"]
    library.add_version(document, ["応答時間は通常時1秒以内とする。"])
    assert contents(ask("応答時間")) == ["応答時間は通常時1秒以内とする。"]
    Document.objects.filter(pk=document.pk).update(retired_at="2026-01-01T00:00Z")
    assert ask("応答時間").total_found == 0
    Document.objects.filter(pk=document.pk).update(retired_at=None, current_version=None)
    assert ask("応答時間").total_found == 0
    document.delete()
    assert ask("応答時間").total_found == 0


@pytest.mark.parametrize(
    "text", ["😀", "は、が。", "！？", "\ud83d", "%s {} \\ ' \" ; --", "a" * 10_000, "性能" * 5_000]
)
@pytest.mark.parametrize("mode", list(SearchMode))
def test_odd_questions_get_an_answer_and_not_an_error(library: Library, text: str, mode: SearchMode) -> None:
    assert ask(text, mode=mode).total_found >= 0


def test_a_question_without_words_is_answered_by_vectors_and_says_so(library: Library) -> None:
    result = ask("！？")
    assert len(result.hits) == 3
    assert "lexical_empty" in codes(result)
    assert ask("！？", mode=SearchMode.LEXICAL).hits == ()


def test_a_long_question_says_that_only_a_part_was_used(library: Library) -> None:
    assert "query_cut" in codes(ask("".join(chr(0x4E00 + n) for n in range(5000))))


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("query", {"text": "  \n"}),
        ("query", {"text": "あ" * 10_001}),
        ("query", {"text": "性能\0"}),
        ("limit", {"limit": 0}),
        ("limit", {"limit": 101}),
        ("offset", {"offset": -1}),
        ("threshold", {"threshold": 1.01}),
        ("threshold", {"threshold": float("nan")}),
        ("context_size", {"context_size": 6}),
        ("filter.section_path", {"filter": SearchFilter(section_path=("3.2\0",))}),
        ("filter.section_path", {"filter": SearchFilter(section_path=(" ",))}),
        ("filter.metadata", {"filter": SearchFilter(metadata={"a": ["\0"]})}),
        ("filter.metadata", {"filter": SearchFilter(metadata={"a": [1.5, float("inf")]})}),
        ("filter.collections", {"filter": SearchFilter(collections=("\ud800",))}),
        ("filter.created_from", {"filter": SearchFilter(created_from=date(2026, 4, 2), created_to=date(2026, 4, 1))}),
        (
            "filter.updated_from",
            {"filter": SearchFilter(updated_from=datetime(2026, 4, 2, tzinfo=UTC), updated_to=date(2026, 4, 1))},
        ),
    ],
)
def test_bad_input_is_refused_by_the_name_of_its_field(field: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        search(local_operator(), SearchQuery(**{"text": "性能", **options}))  # type: ignore[arg-type]
    assert caught.value.data["field"] == field
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "restriction",
    [
        SearchFilter(created_from=date.min, created_to=date.max),
        SearchFilter(updated_from=datetime.min, updated_to=datetime.max),  # noqa: DTZ901 - what a caller may send
        SearchFilter(created_from=timezone.localdate() - timedelta(days=1), created_to=timezone.localdate()),
        SearchFilter(language="JA"),
    ],
)
def test_dates_at_the_ends_of_the_calendar_leave_nothing_out(library: Library, restriction: SearchFilter) -> None:
    assert ask("応答時間", filter=restriction).total_found == len(PASSAGES)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_filter_that_nothing_passes_is_told(library: Library, mode: SearchMode) -> None:
    assert "nothing_to_search" not in codes(ask("応答時間", mode=mode))
    result = ask("応答時間", mode=mode, filter=SearchFilter(document_types=("no-such-type",)))
    assert codes(result) == ["nothing_to_search", "no_good_evidence"]


def test_an_empty_hub_answers_with_nothing() -> None:
    result = ask("性能")
    assert (result.hits, result.total_found, result.next_offset) == ((), 0, None)
    assert codes(result) == ["nothing_to_search", "no_good_evidence"]


def test_details_show_both_legs_of_every_hit(library: Library) -> None:
    best = ask("応答時間は何秒か", detail=True).hits[0]
    assert best.legs is not None
    assert best.legs["vector"].rank == best.legs["lexical"].rank == 1
    assert 0.7 < best.legs["vector"].raw <= 1.0
    assert ask("応答時間は何秒か").hits[0].legs is None


@pytest.mark.parametrize("mode", [SearchMode.VECTOR, SearchMode.LEXICAL])
def test_details_leave_out_a_leg_that_was_not_asked(library: Library, mode: SearchMode) -> None:
    assert set(ask("応答時間は何秒か", mode=mode, detail=True).hits[0].legs or ()) == {mode.value}


def test_pages_are_slices_of_one_ranking() -> None:
    Library().add("要件定義書.md", [f"画面{n}の表示は{n}秒以内とする。" for n in range(12)])
    whole = ask("画面の表示", limit=12)
    pages, offset = [], 0
    while offset is not None:
        page = ask("画面の表示", limit=5, offset=offset)
        pages += contents(page)
        offset = page.next_offset
    assert pages == contents(whole)
    assert ask("画面の表示", limit=5, offset=50).hits == ()


def test_document_order_sorts_the_best_hits_by_path_and_place() -> None:
    library = Library()
    library.add("b.md", ["応答時間は3秒とする。", "応答時間の測定方法を定める。"])
    library.add("a.md", ["応答時間の目標"])
    hits = ask("応答時間は3秒", order=SearchOrder.DOCUMENT).hits
    assert [(hit.document_path, hit.chunk_index) for hit in hits] == [("a.md", 0), ("b.md", 0), ("b.md", 1)]


def test_the_output_budget_ends_a_page_early_and_the_next_one_goes_on(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings.CONFIG.model_copy(update={"hub_output_budget_chars": 45})
    monkeypatch.setattr(settings, "CONFIG", config)
    first = ask("バックアップの取得時刻")
    assert len(first.hits) == first.next_offset == 1 or sum(map(len, contents(first))) <= 45
    assert "output_budget" in codes(first)
    assert first.next_offset is not None
    rest = ask("バックアップの取得時刻", offset=first.next_offset)
    assert set(contents(first)).isdisjoint(contents(rest))


def test_neighbours_are_shown_once_as_context_and_without_overlap() -> None:
    texts = ["第一章 概要を述べる。", "概要を述べる。次に性能。", "次に性能。目標は3秒。", "別の話題である。"]
    passages = [Passage(text=texts[0]), Passage(text=texts[1], overlap=7), Passage(text=texts[2], overlap=5)]
    Library().add("設計書.md", [*passages, texts[3]])
    result = ask("目標は3秒", limit=1, with_context=True, context_size=2)
    shown = [(hit.is_context, hit.content) for hit in result.hits]
    assert shown == [(True, "第一章 "), (True, "概要を述べる。"), (False, texts[2]), (True, texts[3])]
    assert all(hit.score is None for hit in result.hits if hit.is_context)
    markdown = Document.objects.get().current_version.content.markdown
    assert all(hit.content == markdown[hit.start_offset : hit.end_offset] for hit in result.hits)
    assert "".join(contents(result)) == markdown


def test_a_neighbour_that_is_a_hit_itself_is_not_repeated(library: Library) -> None:
    result = ask("バックアップ", with_context=True, context_size=5)
    assert len(contents(result)) == len(set(contents(result))) == 3


def test_full_document_returns_each_document_once_and_whole(library: Library) -> None:
    library.add("テスト計画書.md", ["応答時間を測定する。", "応答時間の合否を判定する。"])
    result = ask("応答時間", full_document=True)
    assert result.total_found == 2
    assert sorted(contents(result)) == sorted(["".join(PASSAGES), "応答時間を測定する。応答時間の合否を判定する。"])
    assert all(hit.is_full_document and hit.chunk_index is None and hit.start_offset == 0 for hit in result.hits)


def test_a_document_beyond_the_output_budget_is_cut_and_says_so(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings.CONFIG.model_copy(update={"hub_output_budget_chars": 20})
    monkeypatch.setattr(settings, "CONFIG", config)
    result = ask("応答時間", full_document=True)
    assert contents(result) == ["".join(PASSAGES)[:20]]
    assert result.hits[0].end_offset == 20
    assert "document_cut" in codes(result)


def test_the_number_of_queries_does_not_depend_on_what_is_found(library: Library) -> None:
    ask("応答時間")
    counts = []
    for limit in (1, 3, 10):
        with CaptureQueriesContext(connection) as captured:
            ask("応答時間", limit=limit, with_context=True)
        counts.append(len(captured))
    library.add("多い.md", [f"応答時間{n}" for n in range(30)])
    with CaptureQueriesContext(connection) as captured:
        ask("応答時間", limit=30, with_context=True)
    assert set(counts) == {len(captured)}
    assert len(captured) <= 12


@pytest.mark.parametrize(("mode", "queries"), list(zip(SearchMode, (6, 8, 8), strict=True)))
def test_a_search_is_a_handful_of_queries(library: Library, mode: SearchMode, queries: int) -> None:
    """Two of them begin and end the search's own part of the transaction that this test is in."""
    ask("応答時間", mode=mode)
    with CaptureQueriesContext(connection) as captured:
        ask("応答時間", mode=mode)
    assert len(captured) == queries


def test_timings_cover_every_step(library: Library) -> None:
    assert set(ask("応答時間").timings_ms) == {"embed", "vector", "lexical", "fuse", "load", "total"}


def test_vector_search_ranks_by_meaning_alone(library: Library) -> None:
    LexicalPosting.objects.all().delete()
    assert (
        search(local_operator(), SearchQuery(text="ログイン方式", mode=SearchMode.VECTOR)).hits[0].content
        == PASSAGES[0]
    )
