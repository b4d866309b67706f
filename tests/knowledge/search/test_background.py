"""What runs beside the thread of a search: the model from the beginning, and sums of a large index."""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar

import pytest

from hub.access.principals import local_operator
from knowledge.index.active_embedder import get_embedder
from knowledge.search import background, scope
from knowledge.search.bm25 import ScoresWith, best_scores
from knowledge.search.hybrid import search
from knowledge.search.indexes import embedded
from knowledge.types.search import SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library

PASSAGES = [f"第{n}節 応答時間は{n}秒以内とし、認証は多要素とする。" for n in range(1, 30)]
WAIT_S = 20.0
of_the_call: ContextVar[str] = ContextVar("of_the_call", default="")


def test_work_beside_knows_the_callers_context_and_raises_where_it_is_waited_for() -> None:
    of_the_call.set("監査")
    assert background.begin(of_the_call.get)() == "監査"
    empty: dict[str, str] = {}
    failing = background.begin(lambda: empty["無い"])
    with pytest.raises(KeyError, match="無い"):
        failing()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # newer Pythons don't like what is tried here
def test_a_forked_process_begins_work_of_its_own() -> None:
    assert background.begin(os.getpid)() == os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"%d" % background.begin(os.getpid)())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"%d" % child


@pytest.mark.django_db
def test_the_model_works_while_the_question_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    Library().add("基本設計書.md", PASSAGES)
    began = threading.Event()
    embed = type(get_embedder()).embed_query
    monkeypatch.setattr(type(get_embedder()), "embed_query", lambda *given: (began.set(), embed(*given))[1])
    seen: list[bool] = []

    def expand(_text: str) -> dict[str, str]:
        seen.append(began.wait(WAIT_S))  # in vain, if the model were only asked afterwards
        return {}

    assert search(local_operator(), SearchQuery(text="応答時間"), expand=expand).hits
    assert seen == [True]


@pytest.mark.django_db
@pytest.mark.parametrize(("mode", "is_beside"), [(SearchMode.HYBRID, True), (SearchMode.LEXICAL, False)])
def test_sums_of_a_large_index_say_the_same_beside_the_vectors(
    monkeypatch: pytest.MonkeyPatch, mode: SearchMode, is_beside: bool
) -> None:
    Library().add("基本設計書.md", PASSAGES)
    query = SearchQuery(text="応答時間は7秒以内か", mode=mode, limit=30, detail=True)
    of_few = search(local_operator(), query)
    threads: list[threading.Thread] = []

    def summed(*given: object) -> ScoresWith:
        threads.append(threading.current_thread())
        return best_scores(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(embedded, "best_scores", summed)
    monkeypatch.setattr(scope, "SMALL", 0)
    of_many = search(local_operator(), query)
    assert [thread is not threading.current_thread() for thread in threads] == [is_beside]
    assert [hit.chunk_id for hit in of_many.hits] == [hit.chunk_id for hit in of_few.hits]
    assert [hit.score for hit in of_many.hits] == pytest.approx([hit.score for hit in of_few.hits])
