"""Whoever may not search a document learns nothing of it, not even a number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hub.access.principals import ALL_SCOPES, Classification, Principal, Role, Scope, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.models import CollectionGrant, Document
from knowledge.search.hybrid import search
from knowledge.search.pages import get_chunk, neighbours
from knowledge.types.search import SearchDetail, SearchFilter, SearchMode, SearchQuery, SearchResult
from tests.knowledge.search.shelf import Library, person

pytestmark = pytest.mark.django_db
MODES = pytest.mark.parametrize("mode", list(SearchMode))


@pytest.fixture
def secret() -> Library:
    library = Library(slug="secret")
    library.add("秘.md", ["暗号鍵の保管場所は地下金庫である。", "鍵の更新は年1回とする。"])
    return library


def ask(principal: Principal, mode: SearchMode = SearchMode.HYBRID, **options: object) -> SearchResult:
    query = SearchQuery(text="暗号鍵の保管場所", mode=mode, **{"detail": True, "with_context": True, **options})  # type: ignore[arg-type]
    return search(principal, query)


def sees_nothing(result: SearchResult) -> bool:
    return (result.hits, result.total_found, result.next_offset) == ((), 0, None)


@MODES
def test_a_caller_without_a_grant_gets_neither_hits_nor_counts(secret: Library, mode: SearchMode) -> None:
    stranger, empty = person("stranger"), SearchFilter(collections=("no-such-collection",))
    result = ask(stranger, mode)
    assert sees_nothing(result)
    assert result.notices == ask(stranger, mode, filter=empty).notices


@MODES
def test_a_named_collection_that_is_not_visible_answers_like_one_that_is_not_there(
    secret: Library, mode: SearchMode
) -> None:
    open_library = Library(slug="open")
    open_library.add("公開.md", ["公開の情報である。"])
    reader = person("reader", granted=open_library.collection)
    hidden = ask(reader, mode, filter=SearchFilter(collections=("secret",)))
    unknown = ask(reader, mode, filter=SearchFilter(collections=("nowhere",)))
    assert sees_nothing(hidden)
    assert (hidden.hits, hidden.total_found, hidden.notices) == (unknown.hits, unknown.total_found, unknown.notices)
    by_id = SearchFilter(document_ids=(secret.made["秘.md"].public_id,))
    assert sees_nothing(ask(reader, mode, filter=by_id))


@MODES
@pytest.mark.parametrize("role", [Role.READER, Role.REVIEWER, Role.CURATOR, Role.ADMINISTRATOR])
def test_roles_that_may_search_find_it(secret: Library, role: Role, mode: SearchMode) -> None:
    assert ask(person("member", granted=secret.collection, role=role), mode).total_found > 0


@MODES
def test_an_auditor_may_read_but_not_search(secret: Library, mode: SearchMode) -> None:
    auditor = person("auditor", granted=secret.collection, role=Role.AUDITOR, scopes=ALL_SCOPES)
    assert sees_nothing(ask(auditor, mode))


def test_a_token_without_the_scope_is_refused(secret: Library) -> None:
    with pytest.raises(Forbidden, match="search"):
        ask(person("reader", granted=secret.collection, scopes=frozenset({Scope.READ})))


@MODES
def test_a_document_above_the_ceiling_is_not_there(secret: Library, mode: SearchMode) -> None:
    Document.objects.update(classification=Classification.C3)
    assert sees_nothing(ask(person("c2", granted=secret.collection), mode))
    assert ask(person("c3", granted=secret.collection, ceiling=Classification.C3), mode).total_found > 0


def test_a_grant_to_a_group_counts_for_its_members(secret: Library) -> None:
    group = Group.objects.create(name="設計班")
    CollectionGrant.objects.create(collection=secret.collection, group=group, role=Role.READER)
    member = Principal(
        name="m",
        user_id=person("m").user_id,
        scopes=ALL_SCOPES,
        ceiling=Classification.C2,
        group_ids=frozenset({group.pk}),
    )
    assert ask(member).total_found == 2


def test_full_documents_obey_the_same_permissions(secret: Library) -> None:
    assert sees_nothing(ask(person("stranger"), full_document=True))


def test_a_passage_one_may_not_read_answers_like_one_that_is_not_there(secret: Library) -> None:
    chunk_id = ask(local_operator()).hits[0].chunk_id
    stranger = person("stranger")
    messages = set()
    for wanted in (chunk_id, "chk_nowhere", "\0"):
        with pytest.raises(NotFound) as caught:
            get_chunk(stranger, wanted)
        messages.add((str(caught.value).replace(wanted, "ID"), caught.value.error_code))
    assert len(messages) == 1
    with pytest.raises(NotFound):
        neighbours(stranger, chunk_id)


def test_a_reader_gets_a_passage_and_its_neighbours_in_order(secret: Library) -> None:
    reader = person("reader", granted=secret.collection)
    first = ask(reader).hits[0]
    assert get_chunk(reader, first.chunk_id).content == first.content
    around = neighbours(reader, first.chunk_id, before=5, after=5)
    assert [(hit.chunk_index, hit.is_context) for hit in around] == [(0, False), (1, True)]
    with pytest.raises(InvalidInput, match="before"):
        neighbours(reader, first.chunk_id, before=-1)


def test_passages_of_an_older_version_stay_readable(secret: Library) -> None:
    chunk_id = ask(local_operator()).hits[0].chunk_id
    secret.add_version(secret.made["秘.md"], ["新しい版"])
    assert get_chunk(person("reader", granted=secret.collection), chunk_id).version == 1


DETAILS = {"detail": SearchDetail.EXPLAIN, "with_context": True}


def facts(result: SearchResult) -> SearchResult:
    return replace(result, timings_ms={})


@MODES
def test_a_hidden_document_shows_in_nothing_that_an_answer_tells(secret: Library, mode: SearchMode) -> None:
    """Not in hits, counts, neighbours, highlights, duplicates, further pages, or the explanation."""
    text = "暗号鍵の保管場所は地下金庫である。"
    open_library = Library(slug="open")
    open_library.add("公開.md", [text, "鍵の更新は別に定める。"])
    reader = person("reader", granted=open_library.collection)
    before = facts(ask(reader, mode, **DETAILS))
    twin = Library(slug="secret").add("双子.md", [text, "地下金庫の番号は別表による。"])
    after = facts(ask(reader, mode, **DETAILS))
    assert not {chunk.public_id for chunk in twin} & set(str(after).split("'"))
    assert after.total_found == before.total_found == 2
    assert all(hit.duplicates == () for hit in after.hits)
    assert after.explanation == before.explanation
    assert [(hit.chunk_id, hit.highlights, hit.terms) for hit in after.hits] == [
        (hit.chunk_id, hit.highlights, hit.terms) for hit in before.hits
    ]


@MODES
@pytest.mark.parametrize("text", ["暗号鍵の保管場所", "「地下金庫」の番号", "KEY-001"])
def test_hidden_and_unknown_ids_cost_the_same_queries_and_say_the_same(
    secret: Library, mode: SearchMode, text: str
) -> None:
    open_library = Library(slug="open")
    open_library.add("公開.md", ["公開の情報である。"])
    reader = person("reader", granted=open_library.collection)
    search(reader, SearchQuery(text=text, mode=mode, **DETAILS))  # type: ignore[arg-type] # this process reads the index
    answers, counts = [], []
    for name in (secret.made["秘.md"].public_id, "doc_nowhere"):
        query = SearchQuery(text=text, mode=mode, filter=SearchFilter(document_ids=(name,)), **DETAILS)  # type: ignore[arg-type]
        with CaptureQueriesContext(connection) as captured:
            answers.append(str(facts(search(reader, query))).replace(name, "ID"))
        counts.append(len(captured))
    assert answers[0] == answers[1]
    assert counts[0] == counts[1]
