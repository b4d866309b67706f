"""What may not be done with embedding sets, and by whom."""

from __future__ import annotations

from typing import Any

import pytest

from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.embedding_sets import comparisons, sets, switching
from knowledge.embedding_sets.sets import SetDraft
from knowledge.evaluation import questions
from knowledge.index import active_embedder
from knowledge.index.active_embedder import active_embedding_set, make_embedder
from knowledge.models import Collection, EmbeddingSet
from knowledge.types.chunks import ChunkOptions
from tests.factories import hub_curator, principal_with

pytestmark = pytest.mark.django_db

ME = local_operator()


@pytest.fixture(autouse=True)
def first_set(db: None) -> EmbeddingSet:
    return active_embedding_set()


def make(name: str) -> EmbeddingSet:
    return sets.create_set(principal=ME, draft=SetDraft(name=name, backend="bundled"))


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (SetDraft(name="x", backend="word2vec"), InvalidInput),
        (SetDraft(name="x", backend="bundled", model="large"), InvalidInput),
        (SetDraft(name="x", backend="openai", model="m"), InvalidInput),
        (SetDraft(name="x", backend="bundled", chunk_options=ChunkOptions(size=600)), InvalidInput),
        (SetDraft(name=" ", backend="bundled"), InvalidInput),
        (SetDraft(name="multilingual-e5-small-q4 1", backend="bundled"), Conflict),
    ],
)
def test_a_set_that_can_not_be_is_refused_with_a_reason(draft: SetDraft, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        sets.create_set(principal=ME, draft=draft)
    assert "{" not in str(caught.value)
    assert EmbeddingSet.objects.count() == 1


def test_only_administrators_change_sets_and_curators_see_them() -> None:
    collection = Collection.objects.get(slug="default")
    curator, reader = hub_curator(), principal_with(Role.CURATOR, collection)
    assert [state.embedding_set.is_active for state in sets.list_sets(curator)] == [True]
    with pytest.raises(Forbidden):
        sets.list_sets(reader)
    name = active_embedding_set().name
    for change in (sets.start_build, switching.switch_to, sets.drop_set):
        with pytest.raises(Forbidden):
            change(principal=curator, name=name)
    with pytest.raises(Forbidden):
        sets.create_set(principal=curator, draft=SetDraft(name="x", backend="bundled"))
    with pytest.raises(Forbidden):
        switching.roll_back(principal=curator)


def test_the_key_goes_to_the_configured_address_alone(settings) -> None:
    ours = "http://127.0.0.1:1/v1"
    config = settings.CONFIG.model_copy(update={"embedding_api_key": "secret", "embedding_base_url": ours})
    settings.CONFIG = config
    active_embedder._make_embedder.cache_clear()
    for url, key in ((ours, "secret"), ("", "secret"), ("http://127.0.0.1:2/v1", None)):
        embedder: Any = make_embedder("openai", "m", url)
        assert embedder._server._api_key == (key or "")
    active_embedder._make_embedder.cache_clear()


def test_a_set_that_is_not_complete_is_not_switched_to() -> None:
    make("next")
    with pytest.raises(Conflict, match="0"):
        switching.switch_to(principal=ME, name="next")
    with pytest.raises(NotFound):
        switching.switch_to(principal=ME, name="nobody")
    assert active_embedding_set().backend == "bundled"


def test_without_an_earlier_set_there_is_no_going_back() -> None:
    with pytest.raises(Conflict):
        switching.roll_back(principal=ME)


def test_the_active_set_is_never_dropped() -> None:
    with pytest.raises(Conflict):
        sets.drop_set(principal=ME, name=active_embedding_set().name)
    assert active_embedding_set().status == "ready"


def test_a_comparison_needs_cases_and_built_sets() -> None:
    make("next")
    with pytest.raises(NotFound):
        comparisons.start_comparison(principal=ME, dataset="gold", candidate="next")
    line = '{"query": "応答時間", "relevant": ["性能.md"]}'
    questions.import_retrieval_cases(principal=ME, dataset="gold", lines=[line])
    with pytest.raises(Conflict):
        comparisons.start_comparison(principal=ME, dataset="gold", candidate="next")
    with pytest.raises(InvalidInput, match="1: "):
        questions.import_retrieval_cases(principal=ME, dataset="gold", lines=["{"])
