"""The same document three times: with a model that answers alike, and three times from the recorded answers."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.llm.models import RecordedAnswer
from review.judging.steps import StepState
from review.runs.reviews import get_review, replay_review, review_facts
from review.runs.schemas import ReviewOut
from tests.factories import upload_text, work_through
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.review.judging.conftest import FAIL, ITEM, finish, judged, start
from tests.review.judging.second_model import opinion, schema_of, second_model
from tests.review.judging.test_second_opinion import PROOF
from tests.review.judging.test_second_opinion import TEXT as FIRST
from tests.review.judging.test_sweep import SIDES, proposal, reading_model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("item")]

TEXT = f"{FIRST}\n## 4 予約\n\n{SIDES[0]}\n\n## 5 取り置き\n\n{SIDES[1]}\n"
PARTS = ("findings", "overturned", "candidates")
OPTIONS: dict[str, Any] = {"check_items": ("BD-A02", "BD-B01", ITEM), "second_opinion": "on", "sweep": "on"}


def model() -> Any:
    reads = reading_model(proposal(*SIDES))
    decide = lambda label, text: (  # noqa: E731
        opinion(label, "overturned", PROOF) if "可用性" in text else opinion(label, "confirmed")
    )
    others = second_model(decide, reading=reads, refuting=reads)
    return lambda asked: FAIL(asked) if schema_of(asked) == "judgement" else others(asked)


def shown(review: Any) -> ReviewOut:
    return review_facts(get_review(local_operator(), finish(review).review_id), everything=True)


def said(facts: ReviewOut) -> bytes:
    """All that a review says, but for ids, times and what was spent."""
    left_out = {"review_id", "started_at", "finished_at", "created_at", "usage", "summary", "replay_of", "suggestions"}
    told = facts.model_dump(mode="json", exclude=left_out)
    for name in PARTS:
        told[name] = [{key: value for key, value in one.items() if key != "id"} for one in told[name]]
    told["results"] = [
        {key: value for key, value in one.items() if key != "execution_time_ms"} for one in told["results"]
    ]
    return json.dumps(told, ensure_ascii=False, sort_keys=True).encode()


@pytest.fixture
def document(db: None, tmp_path: Any) -> Any:
    return work_through(upload_text(local_operator(), tmp_path, TEXT, document_type="basic_design").document)


def test_three_runs_of_a_model_that_answers_alike_say_the_same(document, configured) -> None:  # noqa: F811
    configured.answer = model()
    runs, asked = [], []
    for _round in range(3):
        RecordedAnswer.objects.all().delete()
        before = len(configured.requests)
        runs.append(shown(start(document, **OPTIONS)))
        asked.append(len(configured.requests) - before)
    assert asked[0] >= 6
    assert len(set(asked)) == 1, "nothing came from the recordings"
    assert [len(runs[0].overturned), sum(one.check_item_id == "READ-01" for one in runs[0].findings)] == [1, 1]
    assert len({said(one) for one in runs}) == 1


def turned(answer: str) -> str:
    """The same answer with its lists in another order."""

    def turn(said: Any) -> Any:
        if isinstance(said, dict):
            return {name: turn(one) for name, one in reversed(said.items())}
        return [turn(one) for one in reversed(said)] if isinstance(said, list) else said

    return json.dumps(turn(json.loads(answer)), ensure_ascii=False)


def test_the_order_of_an_answer_changes_nothing(document, configured) -> None:  # noqa: F811
    whole = model()
    runs = []
    for answer in (whole, lambda asked: turned(whole(asked))):
        RecordedAnswer.objects.all().delete()
        configured.answer = answer
        runs.append(shown(start(document, **OPTIONS)))
    assert said(runs[0]) == said(runs[1])


def reworded(answer: str) -> str:
    """The same answer in other words, with quotes that end a little earlier."""

    def change(said: Any, name: str = "") -> Any:
        if isinstance(said, dict):
            return {key: change(one, key) for key, one in said.items()}
        if isinstance(said, list):
            return [change(one) for one in said]
        if name in ("message", "reason"):
            return f"言い換えると、{said}"
        return said.rstrip("。") if name == "quote" and is_cut else said

    read = json.loads(answer)
    is_cut = "grounds" not in read  # what a judge finds is named by its quote as it is
    return json.dumps(change(read), ensure_ascii=False)


def test_other_words_and_shorter_quotes_of_the_same_sentences_give_the_same_verdicts(document, configured) -> None:  # noqa: F811
    whole = model()
    runs = []
    for answer in (whole, lambda asked: reworded(whole(asked)), lambda asked: turned(reworded(whole(asked)))):
        RecordedAnswer.objects.all().delete()
        configured.answer = answer
        runs.append(shown(start(document, **OPTIONS)))
    assert len({said(one) for one in runs}) > 1, "the words are others"
    assert len({tuple((one.check_item_id, one.verdict) for one in facts.results) for facts in runs}) == 1
    for name in PARTS:
        assert len({tuple(sorted(one.fingerprint for one in getattr(facts, name))) for facts in runs}) == 1


def test_a_model_that_answers_otherwise_changes_no_review_of_the_same_version(document, configured) -> None:  # noqa: F811
    configured.answer = model()
    first = shown(start(document, **OPTIONS))
    configured.answer = lambda _asked: pytest.fail("the answers that are kept count")
    assert [said(shown(start(document, **OPTIONS))) for _round in range(2)] == [said(first)] * 2


def jittering(*models: Any) -> Any:
    """A model that answers each request as another of ``models``, and every third one in a way that can't be used."""
    turn = count()

    def answer(asked: dict[str, Any]) -> str:
        at = next(turn)
        return "{" if at % 3 == 0 else models[at % len(models)](asked)

    return answer


def verdicts_and_findings(facts: ReviewOut) -> tuple[Any, ...]:
    found = [[one.model_dump(exclude={"id"}) for one in getattr(facts, name)] for name in PARTS]
    return [(one.check_item_id, one.verdict, one.score) for one in facts.results], found


def test_three_reviews_by_a_model_whose_answers_jitter_are_equal_and_ask_once(document, configured) -> None:  # noqa: F811
    whole, nothing = model(), json.dumps({"facts": [], "findings": []})
    says = {"judgement": judged("fail", findings=({"quote": "サーバは2台、端末は40台とする。"},))}
    otherwise = {"judgement": judged("pass", quotes=(PROOF,)), "reading": lambda _asked: nothing}
    one, other = (lambda asked, by=by: by.get(schema_of(asked), whole)(asked) for by in (says, otherwise))
    configured.answer = jittering(one, other)
    runs, asked = [], []
    for _round in range(3):
        before = len(configured.requests)
        runs.append(verdicts_and_findings(shown(start(document, **OPTIONS))))
        asked.append(len(configured.requests) - before)
    assert asked[0] >= 6
    assert "error" not in {verdict for _item, verdict, _score in runs[0][0]}
    assert asked[1:] == [0, 0], "what was asked for once more is kept for the request that it mends"
    assert runs[0] == runs[1] == runs[2]
    RecordedAnswer.objects.all().delete()
    configured.answer = jittering(one)
    assert verdicts_and_findings(shown(start(document, **OPTIONS))) != runs[0], "asked anew it says something else"


def test_three_replays_are_equal_byte_for_byte_and_ask_nobody(document, configured) -> None:  # noqa: F811
    configured.answer = model()
    first = shown(start(document, **OPTIONS))
    assert all(one.state == StepState.DONE for one in first.steps)
    configured.answer = lambda _asked: pytest.fail("a replay asks nobody")
    asked = len(configured.requests)
    replays = [shown(replay_review(principal=local_operator(), review_id=first.review_id)) for _round in range(3)]
    assert {said(one) for one in replays} == {said(first)}
    assert len(configured.requests) == asked
