"""One leg down: the other one answers and says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from hub.access.principals import local_operator
from hub.core.errors import Unavailable
from hub.core.waiting import Stop, Stopped, stoppable_by
from knowledge.embedders.bundled.backend import BundledEmbedder
from knowledge.embedders.openai_compatible import OpenAICompatibleEmbedder
from knowledge.index.active_embedder import get_embedder
from knowledge.models import EmbeddingSet
from knowledge.search import recall, scope
from knowledge.search.hybrid import search
from knowledge.types.search import SearchFilter, SearchMode, SearchQuery, SearchResult
from tests.knowledge.embedding_server import embedding_server
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def library(db: None) -> Library:
    made = Library()
    made.add("設計書.md", ["応答時間は3秒以内とする。", "認証は多要素とする。"])
    return made


def ask(mode: SearchMode) -> tuple[SearchResult, set[str]]:
    result = search(local_operator(), SearchQuery(text="応答時間", mode=mode))
    return result, {notice.code for notice in result.notices}


def break_table(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {name} RENAME TO {name}_gone")


def mend_table(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {name}_gone RENAME TO {name}")


@pytest.mark.parametrize("mode", list(SearchMode))
def test_lexical_search_answers_when_the_vectors_can_not_be_read(mode: SearchMode) -> None:
    break_table("knowledge_chunkvector")
    result, codes = ask(mode)
    assert result.hits[0].content.startswith("応答時間")
    assert ("vector_unavailable" in codes) == (mode is not SearchMode.LEXICAL)


# What the vector leg asks the index depends on how many passages are permitted.
@pytest.mark.parametrize(
    ("table", "small"),
    [
        ("knowledge_lexicalentry", scope.SMALL),
        ("knowledge_lexicalentry", 1),
        ("knowledge_lexicalstatistics", scope.SMALL),
        ("knowledge_lexicalstatistics", 1),
        ("knowledge_lexicalposting", scope.SMALL),
        ("knowledge_lexicalsegment", scope.SMALL),
        ("knowledge_lexicalterm", scope.SMALL),
    ],
)
def test_vector_search_answers_when_a_table_of_the_lexical_index_can_not_be_read(
    table: str, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    break_table(table)
    for mode in SearchMode:
        result, codes = ask(mode)
        assert result.hits[0].content.startswith("応答時間")
        assert ("lexical_unavailable" in codes) == (mode is not SearchMode.VECTOR)
        assert "passage_facts_unavailable" in codes or table != "knowledge_lexicalentry"


def test_without_the_lexical_index_a_caller_who_may_search_nothing_is_told_so() -> None:
    break_table("knowledge_lexicalentry")
    nowhere = SearchQuery(text="応答時間", filter=SearchFilter(collections=("nowhere",)))
    result = search(local_operator(), nowhere)
    assert not result.hits
    assert "nothing_to_search" in {notice.code for notice in result.notices}


def test_a_quoted_phrase_is_found_without_the_lexical_index() -> None:
    break_table("knowledge_lexicalentry")
    result = search(local_operator(), SearchQuery(text="「時間は3秒」"))
    assert [hit.content for hit in result.hits] == ["応答時間は3秒以内とする。"]
    assert {"phrases_unavailable", "lexical_unavailable"} <= {notice.code for notice in result.notices}


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.VECTOR])
def test_a_phrase_is_looked_for_without_the_postings_where_few_passages_may_have_it(
    mode: SearchMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_table("knowledge_lexicalterm")
    query = SearchQuery(text="「時間は3秒」", mode=mode)
    result = search(local_operator(), query)
    assert [hit.content for hit in result.hits] == ["応答時間は3秒以内とする。"]
    assert "phrases_unavailable" in {notice.code for notice in result.notices}
    monkeypatch.setattr(scope, "SMALL", 1)
    with pytest.raises(Unavailable) as caught:
        search(local_operator(), query)
    assert caught.value.error_code == "phrases_unavailable"


def test_without_either_leg_the_caller_is_told() -> None:
    break_table("knowledge_chunkvector")
    break_table("knowledge_lexicalposting")
    with pytest.raises(Unavailable):
        ask(SearchMode.HYBRID)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_search_that_nobody_waits_for_asks_neither_leg(mode: SearchMode) -> None:
    stop = Stop()
    stop.set()
    break_table("knowledge_chunkvector")  # which would be told otherwise
    break_table("knowledge_lexicalposting")
    with stoppable_by(stop), pytest.raises(Stopped):
        ask(mode)


def test_vectors_of_another_model_are_never_compared() -> None:
    EmbeddingSet.objects.update(fingerprint="of another model")
    result, codes = ask(SearchMode.HYBRID)
    assert result.hits[0].content.startswith("応答時間")
    assert "vector_unavailable" in codes


def test_lexical_search_answers_when_the_model_server_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    away = OpenAICompatibleEmbedder(base_url="http://127.0.0.1:9/v1", model="away", sleep=lambda _seconds: None)
    monkeypatch.setattr(recall, "embedder_of", lambda _embedding_set: away)
    result, codes = ask(SearchMode.HYBRID)
    assert result.hits[0].content.startswith("応答時間")
    assert "vector_unavailable" in codes


def test_vectors_of_another_length_are_refused_and_words_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with embedding_server() as server, monkeypatch.context() as patched:
        stranger = OpenAICompatibleEmbedder(base_url=server.url, model="stranger")
        patched.setattr(recall, "embedder_of", lambda _embedding_set: stranger)
        result, codes = ask(SearchMode.HYBRID)
        stranger.close()
    assert result.hits[0].content.startswith("応答時間")
    assert "vector_unavailable" in codes
    assert "vector_unavailable" not in ask(SearchMode.HYBRID)[1]


def test_a_bundled_model_that_can_not_be_read_is_used_again_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "models"
    folder.write_text("not a folder")
    bundled = BundledEmbedder(cache_dir=folder)
    monkeypatch.setattr(recall, "embedder_of", lambda _embedding_set: bundled)
    result, codes = ask(SearchMode.HYBRID)
    assert result.hits[0].content.startswith("応答時間")
    assert "vector_unavailable" in codes
    get_embedder().embed_query("準備")
    folder.unlink()
    folder.symlink_to(settings.HUB_DATA_DIR / "models")
    assert "vector_unavailable" not in ask(SearchMode.HYBRID)[1]


def test_scores_of_a_model_nobody_measured_are_not_passed_off_as_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = get_embedder()
    monkeypatch.setattr(recall, "embedder_of", lambda _embedding_set: embedder)
    EmbeddingSet.objects.update(model="nobody measured it")
    _result, codes = ask(SearchMode.HYBRID)
    assert "uncalibrated_scores" in codes
    _result, codes = ask(SearchMode.LEXICAL)
    assert "uncalibrated_scores" not in codes


@pytest.mark.parametrize("table", ["knowledge_ontology", "knowledge_ontologyclass"])
def test_search_goes_on_without_synonyms_while_the_ontologies_can_not_be_read(library: Library, table: str) -> None:
    library.add("運用設計書.md", ["スループットは毎秒 50 件とする。"])
    by_words = SearchQuery(text="性能", mode=SearchMode.LEXICAL)
    break_table(table)
    for mode in SearchMode:
        result, codes = ask(mode)
        assert result.hits[0].content.startswith("応答時間")
        assert ("synonyms_unavailable" in codes) == (mode is not SearchMode.VECTOR)
    assert search(local_operator(), by_words).hits == ()
    mend_table(table)
    found = search(local_operator(), by_words)
    assert "スループットは毎秒 50 件とする。" in {hit.content for hit in found.hits}
    assert "synonyms_unavailable" not in {notice.code for notice in found.notices}


def test_quoted_phrases_and_codes_are_found_without_the_ontologies(library: Library) -> None:
    library.add("要件定義書.md", ["要件 FR-001 は応答時間を定める。"])
    break_table("knowledge_ontologyclass")
    for text in ("「FR-001 は応答」", "FR-001"):
        result = search(local_operator(), SearchQuery(text=text))
        assert result.hits[0].content.startswith("要件 FR-001")
        assert [notice.code for notice in result.notices] == ["synonyms_unavailable"]


def test_without_synonyms_and_either_leg_the_caller_is_told() -> None:
    for table in ("knowledge_ontologyclass", "knowledge_chunkvector", "knowledge_lexicalposting"):
        break_table(table)
    with pytest.raises(Unavailable):
        ask(SearchMode.HYBRID)


def test_a_failure_is_one_line_in_the_log_without_the_question(caplog: pytest.LogCaptureFixture) -> None:
    break_table("knowledge_ontologyclass")
    break_table("knowledge_lexicalterm")
    ask(SearchMode.HYBRID)
    said = [record for record in caplog.records if record.name.startswith("knowledge.search")]
    assert [record.getMessage() for record in said] == [
        'the search goes on without synonyms: UndefinedTable: relation "knowledge_ontologyclass" does not exist',
        'lexical search failed: UndefinedTable: relation "knowledge_lexicalterm" does not exist',
    ]
    assert not any(record.exc_info for record in said)


class Broken:
    """A reranker that fails, or says what can't be used."""

    name = "broken"

    def __init__(self, said: list[float] | None) -> None:
        self.said = said

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        if self.said is None:
            raise Unavailable("out of memory", code="reranker_unavailable")
        return self.said


@pytest.mark.parametrize("said", [None, [], [1.0], [1.0, math.nan], [1.0, math.inf], [0.0] * 99])
def test_a_reranker_that_fails_leaves_the_order_of_the_scores_and_a_notice(said: list[float] | None) -> None:
    plain, _codes = ask(SearchMode.HYBRID)
    result = search(local_operator(), SearchQuery(text="応答時間"), reranker=Broken(said))
    assert result.hits == plain.hits
    assert [notice.code for notice in result.notices if notice not in plain.notices] == ["reranker_unavailable"]


def test_a_reranker_that_is_not_there_leaves_a_notice_until_the_setting_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, _codes = ask(SearchMode.HYBRID)
    absent = settings.CONFIG.model_copy(update={"reranker_model": str(tmp_path / "no model")})
    with monkeypatch.context() as patched:
        patched.setattr(settings, "CONFIG", absent)
        result, codes = ask(SearchMode.HYBRID)
    assert result.hits == plain.hits
    assert "reranker_unavailable" in codes
    assert "reranker_unavailable" not in ask(SearchMode.HYBRID)[1]
