"""The gate sees what prompts and options of the second opinion and of the reading change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import translation

from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from review.curation.prompts import draft_prompt, publish_prompt
from review.evaluation import gate
from review.evaluation.gate_report import Standing
from review.models import JudgePrompt
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.llm_server import prompt_of
from tests.review.evaluation.test_gate import guard
from tests.review.judging.conftest import item, start  # noqa: F401 (fixture)
from tests.review.judging.second_model import findings_in, opinion, schema_of
from tests.review.judging.test_sweep import SIDES
from tests.review.judging.test_three_runs import OPTIONS, document, model, shown  # noqa: F401 (fixture)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("item")]
ME = local_operator()
AVAILABILITY = "可用性"
WEAK = "迷うときは何も変えない。"


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


@pytest.fixture
def guarded(document, configured, configure) -> EvaluationDataset:  # noqa: F811
    configure(llm_second_opinion=True, llm_sweep=True)
    configured.answer = lenient
    case = {"document_id": document.public_id}
    return guard(
        "steps",
        ["prompt"],
        [
            {
                **case,
                "check_item_id": "BD-B01",
                "topic": "nfr_availability",
                "item": "可用性",
                "expected_verdict": "pass",
            },
            {**case, "check_item_id": "READ-01", "location": SIDES[0], "item": "取り置き", "expected_verdict": "fail"},
        ],
    )


def lenient(asked: dict[str, Any]) -> str:
    """The model of three runs, but that it takes nothing back and finds nothing where its prompt tells it so."""
    if WEAK not in prompt_of(asked):
        return str(model()(asked))
    labels = [label for label, _ in findings_in(asked)]
    said = {"reason": "判断できない。", "quotes": [], "severity": "major", "same_as": "none", "verdict": "cannot_tell"}
    answers: dict[str, Any] = {
        "second_opinion": {"opinions": [opinion(label, "confirmed") for label in labels]},
        "proofs": {"proofs": [{"finding": label, "reason": "否。", "holds": "no"} for label in labels]},
        "reading": {"facts": [], "findings": []},
        "refuting": {"verdicts": [{"finding": label, **said} for label in labels]},
    }
    return json.dumps(answers[schema_of(asked)], ensure_ascii=False)


def draft(kind: str, text: str = WEAK) -> JudgePrompt:
    return draft_prompt(principal=ME, kind=kind, text=text, note="変える")


@pytest.mark.parametrize(("kind", "case"), [("second", "可用性"), ("sweep", "取り置き"), ("refute", "取り置き")])
def test_a_prompt_of_a_step_that_does_worse_is_refused(guarded, configured, gate_mode, kind, case) -> None:  # noqa: F811
    gate_mode("refuse")
    prompt = draft(kind)
    with pytest.raises(Conflict, match=case) as refused:
        publish_prompt(principal=ME, prompt_id=prompt.pk)
    assert refused.value.error_code == "evaluation_regression"
    runs, asked = EvaluationRun.objects.count(), len(configured.requests)
    with pytest.raises(Conflict):
        publish_prompt(principal=ME, prompt_id=prompt.pk)
    assert (EvaluationRun.objects.count(), len(configured.requests)) == (runs, asked)
    other = draft(kind, "引用を正確に写すこと。")
    assert publish_prompt(principal=ME, prompt_id=other.pk).status == "published"


def test_options_of_the_steps_are_measured_anew(guarded, configured, configure) -> None:  # noqa: F811
    name = f"prompt:second@{draft('second').number}"
    assert gate.compare(principal=ME, name=name).comparisons[0].standing is Standing.WORSE
    runs = EvaluationRun.objects.count()
    gate.compare(principal=ME, name=name)
    assert EvaluationRun.objects.count() == runs
    configure(llm_sweep=False)
    gate.compare(principal=ME, name=name)
    assert EvaluationRun.objects.count() == runs + 2
    assert {run.parameters["model_asked"]["sweep"] for run in EvaluationRun.objects.all()} == {True, False}


def test_the_steps_are_replayed_without_a_model(guarded, document, configured, configure) -> None:  # noqa: F811
    shown(start(document, **OPTIONS))  # names the model whose recordings can be read
    name = f"prompt:refute@{draft('refute').number}"
    assert gate.compare(principal=ME, name=name).comparisons[0].standing is Standing.WORSE
    asked = len(configured.requests)
    EvaluationRun.objects.all().delete()
    configure(llm_provider="none")
    assert gate.compare(principal=ME, name=name).comparisons[0].standing is Standing.WORSE
    assert len(configured.requests) == asked
