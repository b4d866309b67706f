"""Search engines: what the port promises, from Qdrant's own engine in several shards behind its REST interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from knowledge.engines import EngineError, QdrantEngine
from knowledge.ports import SearchEngine
from knowledge.types.engines import IndexedPassage, Layout, Tags, WeighedTerms, Within
from tests.contracts.qdrant_facade import Facade, Fault

DIMENSION, NUMBER_OF_TERMS, NAME = 16, 60, "kb_test"
EVERYWHERE = Within()


@pytest.fixture
def engine(facade: Facade) -> Iterator[QdrantEngine]:
    made = QdrantEngine(facade.url, timeout_s=1.0)
    made.make(NAME, Layout(dimension=DIMENSION, shards=3, copies=1))
    yield made
    facade.script.clear()
    made.drop(NAME)
    made.close()


def passages(count: int) -> list[IndexedPassage]:
    chance = np.random.default_rng(5)
    made = []
    for number in range(1, count + 1):
        terms = np.sort(chance.choice(NUMBER_OF_TERMS, 12, replace=False)) + 1
        made.append(
            IndexedPassage(
                number=number,
                document_id=number // 10,
                tags=Tags(collection_id=number % 4, classification=number % 3 + 1),
                vector=chance.normal(size=DIMENSION).astype(np.float16).astype(np.float32),
                term_ids=terms,
                weights=chance.random(12).astype(np.float32),
            )
        )
    return made


def sums(made: list[IndexedPassage], asked: WeighedTerms) -> dict[int, float]:
    worth = dict(zip(asked.term_ids.tolist(), asked.weights.tolist(), strict=True))
    scores = {
        one.number: sum(
            worth.get(term, 0.0) * weight
            for term, weight in zip(one.term_ids.tolist(), one.weights.tolist(), strict=True)
        )
        for one in made
    }
    return {number: score for number, score in scores.items() if score > 0}


def asked_terms(*term_ids: int) -> WeighedTerms:
    return WeighedTerms(term_ids=np.array(term_ids), weights=np.linspace(0.1, 0.9, len(term_ids)))


def test_sums_over_shards_are_exact_whatever_the_filter(engine: SearchEngine) -> None:
    made = passages(300)
    engine.write(NAME, made)
    asked = [asked_terms(1, 5, 9, 40), asked_terms(59)]
    places = (EVERYWHERE, Within(collection_ids=(1, 2), ceiling=2), Within(numbers=np.arange(1, 40)))
    for within in places:
        for question, found in zip(asked, engine.search_sparse(NAME, asked, within, limit=300), strict=True):
            expected = {
                number: score
                for number, score in sums(made, question).items()
                if (within.collection_ids is None or number % 4 in within.collection_ids)
                and (within.ceiling is None or number % 3 + 1 <= within.ceiling)
                and (within.numbers is None or number in within.numbers)
            }
            assert dict(zip(found.numbers.tolist(), found.scores.tolist(), strict=True)) == pytest.approx(
                expected, abs=1e-6
            )
            order = list(zip((-found.scores).tolist(), found.numbers.tolist(), strict=True))
            assert order == sorted(order)


def test_the_nearest_are_those_that_comparing_all_gives(engine: SearchEngine) -> None:
    made = passages(200)
    engine.write(NAME, made)
    vector = np.random.default_rng(6).normal(size=DIMENSION)
    cosines = {one.number: _cosine(vector, one.vector) for one in made}
    expected = sorted(cosines, key=lambda number: -cosines[number])[:20]
    for exact in (True, False):
        found = engine.search_dense(NAME, vector, EVERYWHERE, limit=20, exact=exact)
        assert found.numbers.tolist() == expected
        assert found.scores.tolist() == pytest.approx([cosines[number] for number in expected], abs=1e-3)


def _cosine(one: np.ndarray, other: np.ndarray | None) -> float:
    assert other is not None
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_writing_deleting_and_tagging_twice_is_as_once(engine: SearchEngine) -> None:
    made = passages(60)
    for _time in range(2):
        engine.write(NAME, made)
        engine.delete(NAME, [3, 4, 4_000])
        engine.retag(NAME, 2, Tags(collection_id=77, classification=3))
        engine.retag(NAME, 9_999, Tags(collection_id=77, classification=3))
        engine.make(NAME, Layout(dimension=DIMENSION, shards=3, copies=1))
        engine.write(NAME, [])
        engine.delete(NAME, [])
    assert engine.count(NAME, EVERYWHERE) == 58
    assert engine.count(NAME, Within(collection_ids=(77,))) == 10
    assert engine.numbers(NAME, after=0, limit=5).tolist() == [1, 2, 5, 6, 7]
    assert engine.numbers(NAME, after=58, limit=5).tolist() == [59, 60]
    assert engine.health(NAME).passages == 58
    assert engine.health(NAME).thin_shards == 0


def test_a_passage_may_lack_its_vector_or_have_no_term(engine: SearchEngine) -> None:
    (first, second) = passages(2)
    nothing = np.zeros(0, np.int64)
    bare = IndexedPassage(
        number=1,
        document_id=1,
        tags=first.tags,
        vector=None,
        term_ids=first.term_ids,
        weights=first.weights,
    )
    silent = IndexedPassage(
        number=2,
        document_id=1,
        tags=second.tags,
        vector=second.vector,
        term_ids=nothing,
        weights=nothing.astype(np.float32),
    )
    engine.write(NAME, [bare, silent])
    assert engine.search_dense(NAME, np.ones(DIMENSION), EVERYWHERE, limit=9).numbers.tolist() == [2]
    (found,) = engine.search_sparse(NAME, [asked_terms(*first.term_ids.tolist())], EVERYWHERE, limit=9)
    assert found.numbers.tolist() == [1]


@pytest.mark.parametrize("fault", [Fault.AWAY, Fault.LATE, Fault.WRONG, Fault.FAILED])
def test_an_engine_that_does_not_answer_well_is_an_error_and_no_empty_list(
    facade: Facade, engine: SearchEngine, fault: Fault
) -> None:
    engine.write(NAME, passages(5))
    facade.script.append(fault)
    with pytest.raises(EngineError):
        engine.search_sparse(NAME, [asked_terms(1)], EVERYWHERE, limit=5)
    facade.script.append(fault)
    with pytest.raises(EngineError):
        engine.count(NAME, EVERYWHERE)


def test_a_collection_that_is_not_there_is_told_apart(engine: SearchEngine) -> None:
    with pytest.raises(EngineError, match="404") as missing:
        engine.count("kb_other", EVERYWHERE)
    assert missing.value.is_missing
    engine.drop("kb_other")


def test_the_key_goes_with_each_request(facade: Facade, engine: SearchEngine) -> None:
    facade.keys.clear()
    with closing(QdrantEngine(facade.url, api_key="a-key", timeout_s=1.0)) as keyed:
        keyed.count(NAME, EVERYWHERE)
    assert facade.keys == {"Bearer a-key"}
