"""Words are counted in what the caller may see: hidden documents change no answer, no score and no order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from hub.access.principals import ALL_SCOPES, Classification, Principal, Role, local_operator
from hub.access.services import create_token, principal_for_user
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.analysis import analyse_query
from knowledge.index.postings import write_postings
from knowledge.index.segments import maintain_segments
from knowledge.models import Chunk, CollectionGrant, Document
from knowledge.search import phrases, scope, visible
from knowledge.search.candidates import NO_CANDIDATES, CandidateReader
from knowledge.search.hybrid import search
from knowledge.search.indexes import index_in_postgresql
from knowledge.search.postings import store as piece_store
from knowledge.search.reach import reach_of
from knowledge.search.visible import visible_versions
from knowledge.search.weighing import weigh_terms
from knowledge.types.search import SearchDetail, SearchFilter, SearchMode, SearchQuery
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.servers import completions, rag, rag_graph
from tests.factories import new_user, upload_text, work_through
from tests.knowledge.search.shelf import Library, person

pytestmark = pytest.mark.django_db
MODES = pytest.mark.parametrize("mode", list(SearchMode))
PLANS = pytest.mark.parametrize("small", [10_000, 0], ids=["few permitted", "many permitted"])
OPEN = (
    "応答時間は三秒以内とする。画面の表示も同じとする。",
    "監査証跡は七年間保管する。",
    "監査証跡の応答時間は定めない。",
    "暗号化方式は AES とし、鍵は別に定める。FR-001 を満たす。",
    "画面の表示は日本語とする。",
    "バックアップは毎日取得し、監査証跡を含む。",
)
# Of these words the last is in no open document.
QUESTIONS = (
    "監査証跡の応答時間",
    "暗号化方式と監査証跡",
    "「監査証跡」の画面",
    "FR-001 の暗号化方式",
    "緋色計画の応答時間",
)
HIDDEN = [
    "監査証跡、監査証跡、監査証跡。暗号化方式。応答時間。FR-001",
    "緋色計画の監査証跡と暗号化方式を定める。画面の表示。",
    "緋色計画の応答時間は監査証跡に記す。",
]


@pytest.fixture
def library() -> Library:
    library = Library(slug="open")
    for number, text in enumerate(OPEN):
        library.add(f"公開{number}.md", [text, f"{number}号の文書である。"])
    return library


def hide_six(library: Library) -> None:
    for number in range(3):
        Library(slug="closed").add(f"秘{number}.md", HIDDEN)
        library.add(f"機密{number}.md", HIDDEN, classification=Classification.C3)


def said(principal: Principal, mode: SearchMode, **options: Any) -> list[object]:
    """All that searches answer but the time they took."""
    answers: list[object] = []
    for text in QUESTIONS:
        query = SearchQuery(text=text, mode=mode, detail=SearchDetail.EXPLAIN, limit=50, **options)
        found = search(principal, query)
        answers.append((found.hits, found.total_found, found.notices, found.explanation, found.next_page))
    return answers


@MODES
@PLANS
def test_six_hidden_documents_change_nothing_in_an_answer(
    library: Library, mode: SearchMode, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "SMALL", small)
    heidi = person("heidi", granted=library.collection)
    before = said(heidi, mode)
    hide_six(library)
    assert said(heidi, mode) == before


def test_a_superuser_below_the_highest_ceiling_is_told_nothing_either(library: Library) -> None:
    root = Principal(name="root", user_id=None, scopes=ALL_SCOPES, ceiling=Classification.C2, is_superuser=True)
    before = said(root, SearchMode.LEXICAL)
    for number in range(6):
        library.add(f"機密{number}.md", HIDDEN, classification=Classification.C3)
    assert said(root, SearchMode.LEXICAL) == before


def test_who_sees_everything_counts_every_passage(library: Library) -> None:
    before = said(local_operator(), SearchMode.LEXICAL)
    hide_six(library)
    assert said(local_operator(), SearchMode.LEXICAL) != before


def test_a_filter_changes_no_score(library: Library) -> None:
    heidi = person("heidi", granted=library.collection)
    hide_six(library)
    query = SearchQuery(text=QUESTIONS[0], mode=SearchMode.LEXICAL)
    scores = {hit.chunk_id: hit.score for hit in search(heidi, query).hits}
    one = SearchFilter(document_ids=(library.made["公開2.md"].public_id,))
    filtered = search(heidi, SearchQuery(text=QUESTIONS[0], mode=SearchMode.LEXICAL, filter=one)).hits
    assert filtered
    assert all(hit.score == scores[hit.chunk_id] for hit in filtered)


def test_phrases_are_looked_for_among_what_may_be_seen(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many hidden passages with the phrase that not all texts could be read, and none may crowd others out."""
    monkeypatch.setattr(scope, "SMALL", 0)
    monkeypatch.setattr(phrases, "READ_AT_ONCE", 8)
    monkeypatch.setattr(phrases, "MOST_READ", 10)
    heidi = person("heidi", granted=library.collection)
    before = said(heidi, SearchMode.LEXICAL)
    hide_six(library)
    assert said(heidi, SearchMode.LEXICAL) == before


def test_the_best_are_looked_for_among_what_may_be_seen_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "SMALL", 0)
    active, reach = active_embedding_set(), reach_of(person("heidi", granted=library.collection))
    hide_six(library)
    terms = weigh_terms(analyse_query("監査証跡"), active, visible=visible_versions(reach))
    permitted = scope.permitted_chunks(reach, SearchFilter(), active, for_words=True)
    reader = CandidateReader(permitted=permitted, embedding_set=active, near=None, known=NO_CANDIDATES)
    scores, found = index_in_postgresql(active).sum_terms(terms, permitted, limit=50).best(reader)
    assert len(found) == 3
    assert set(scores.ordinals.tolist()) == set(found.ordinals.tolist()), "each was asked for once, and none in vain"


def counted(principal: Principal, text: str) -> dict[tuple[int, str], tuple[int, int, float]]:
    terms = weigh_terms(analyse_query(text), active_embedding_set(), visible=visible_versions(reach_of(principal)))
    return {(term.field, term.text): (term.chunks, term.passages, term.slope) for term in terms}


def test_counts_are_those_of_a_hub_that_holds_only_what_may_be_seen(library: Library) -> None:
    text = "監査証跡の応答時間"
    alone = counted(local_operator(), text)
    hide_six(library)
    assert counted(person("heidi", granted=library.collection), text) == alone
    assert {3} <= {chunks for chunks, _passages, _slope in alone.values()}


def test_counts_follow_every_change_at_once(library: Library) -> None:
    """Rights, classification, retirement, titles, versions, merged segments, and what this process has forgotten."""
    text, heidi = "監査証跡", person("heidi", granted=library.collection)
    closed = Library(slug="closed")
    closed.add("秘.md", HIDDEN)
    word = (1, "監査")

    def passages() -> int:
        return counted(heidi, text)[word][1]

    assert passages() == 2 * len(OPEN)
    CollectionGrant.objects.create(collection=closed.collection, user_id=heidi.user_id, role=Role.READER)
    assert passages() == 2 * len(OPEN) + len(HIDDEN)
    Document.objects.filter(path="秘.md").update(classification=Classification.C3)
    assert passages() == 2 * len(OPEN)
    Document.objects.filter(path="公開0.md").update(classification=Classification.C3)
    assert passages() == 2 * len(OPEN) - 2
    before = counted(heidi, text)
    chunks = list(Chunk.objects.filter(version__document__path="公開1.md").order_by("pk"))
    write_postings(chunks, title="公開1.md", path="公開1.md")
    assert counted(heidi, text) == before
    while maintain_segments(purge=True):
        pass
    assert counted(heidi, text) == before
    visible.store.clear()
    piece_store.clear()
    assert counted(heidi, text) == before
    library.add_version(library.made["公開2.md"], ["監査証跡はない。"])
    assert passages() == 2 * len(OPEN) - 3


def test_callers_of_different_rights_share_no_count(library: Library) -> None:
    heidi, text = person("heidi", granted=library.collection), "監査証跡"
    first = counted(heidi, text)
    hide_six(library)
    alice = person("alice", granted=library.collection, ceiling=Classification.C3)
    assert counted(alice, text) != first
    assert counted(local_operator(), text) not in (first, counted(alice, text))
    assert counted(heidi, text) == first


def test_segments_that_nobody_names_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible, "KEPT_PASSAGES", 0)
    kept = visible.SeenStore()
    for number in range(1, 6):
        ordinals = np.arange(number * 10, number * 10 + 10, dtype=np.int32)
        segment = visible._Segment(
            ordinals=ordinals, places=np.ones(10, np.int32), versions=np.array([0, number]), lengths={1: ordinals}
        )
        kept._keep({visible.SegmentKey(number, 1): segment})
    assert len(kept._segments) == 2


DOCUMENT = "# {name}\n\n## 1 監査証跡\n\nFR-001 の監査証跡と暗号化方式、応答時間を定める。\n"


@pytest.fixture
def heidi_at_doors(library: Library, tmp_path: Path) -> tuple[Client, Principal]:
    text, shelf = DOCUMENT.format(name="公開計画"), library.collection.slug
    more = {"name": "公開計画.md", "collection": shelf, "document_type": "basic_design"}
    work_through(upload_text(local_operator(), tmp_path, text, **more).document)
    user = new_user(username="heidi")
    CollectionGrant.objects.create(collection=library.collection, user=user, role=Role.READER)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset(ALL_SCOPES))[1]
    rest = Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})
    return rest, principal_for_user(user)


def at_doors(rest: Client, principal: Principal) -> list[object]:
    answers: list[object] = []

    def post(path: str, body: dict[str, object]) -> None:
        answer = rest.post(f"/api/v1{path}", data=json.dumps(body), content_type="application/json")
        answers.append((answer.status_code, without_times(answer.json())))

    for text in QUESTIONS:
        for mode in ("hybrid", "lexical", "vector"):
            post("/search", {"query": text, "mode": mode, "detail": "explain"})
        post("/answer", {"query": text})
    for entity in ("FR-001", "監査証跡", "緋色計画", "公開計画"):
        post("/graph/search", {"entity": entity})
    with caller_context(Caller(principal=principal)):
        for text in QUESTIONS:
            answers.append(without_times(json.loads(rag.search(query=text).model_dump_json())))
        answers.append(json.loads(rag_graph.graph_search(entity="FR-001").model_dump_json()))
    for values in completions.OF_ARGUMENTS.values():
        answers.append(completions._complete(values, principal, "").model_dump())
    return answers


# What differs between two equal answers: times, the id of a refusal, and the signed mark of where a page ends.
OWN_OF_EACH = ("timings_ms", "request_id", "next_cursor")


def without_times(answer: object) -> object:
    if isinstance(answer, dict):
        return {name: without_times(value) for name, value in answer.items() if name not in OWN_OF_EACH}
    return [without_times(one) for one in answer] if isinstance(answer, list) else answer


def test_no_door_answers_otherwise_for_hidden_documents(
    heidi_at_doors: tuple[Client, Principal], library: Library, tmp_path: Path
) -> None:
    before = at_doors(*heidi_at_doors)
    hide_six(library)
    for number, shelf in enumerate(("closed", library.collection.slug)):
        more: Any = {"name": f"緋{number}.md", "collection": shelf, "classification": Classification.C3}
        work_through(upload_text(local_operator(), tmp_path, DOCUMENT.format(name="緋色計画"), **more).document)
    assert at_doors(*heidi_at_doors) == before
