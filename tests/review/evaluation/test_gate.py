"""The gate before a prompt goes live: with a model's server, real documents and real rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import translation

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from hub.llm.models import RecordedAnswer
from review.curation.prompts import draft_prompt, publish_prompt
from review.evaluation import cases, datasets, gate
from review.evaluation.gate_report import Standing
from review.models import JudgePrompt
from tests.factories import hub_curator
from tests.hub.admin.support import client_of, make_user
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.llm_server import prompt_of
from tests.review.judging.conftest import (  # noqa: F401 (fixtures)
    FAIL,
    ITEM,
    PASS,
    document,
    item,
    read_once,
    run,
)

pytestmark = pytest.mark.django_db
ME = local_operator()
WEAK = "何でも適合とせよ。"


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


def guard(code: str, guards: list[str], rows: list[dict[str, Any]]) -> EvaluationDataset:
    made = datasets.create_dataset(principal=ME, code=code, name=code)
    cases.import_cases(principal=ME, dataset=code, rows=cases.rows_of(rows))
    datasets.change_dataset(principal=ME, code=code, guards=guards)
    return made


@pytest.fixture
def guarded(document) -> EvaluationDataset:  # noqa: F811
    case = {"document_id": document.public_id, "check_item_id": ITEM, "item": "復旧手順", "expected_verdict": "fail"}
    return guard("prompts", ["prompt"], [case])


def draft(text: str = WEAK) -> JudgePrompt:
    return draft_prompt(principal=ME, kind="judge", text=text, note="緩める")


def publish(prompt: JudgePrompt) -> JudgePrompt:
    return publish_prompt(principal=ME, prompt_id=prompt.pk)


def lenient(asked: dict[str, Any]) -> str:
    """A model that sees the vague sentence unless its prompt tells it to look away."""
    return (PASS if WEAK in json.dumps(asked, ensure_ascii=False) else FAIL)(asked)


def test_a_prompt_that_does_worse_is_refused_with_the_case_and_the_comparison_is_not_made_twice(
    guarded,
    configured,  # noqa: F811
    server,  # noqa: F811
    gate_mode,
) -> None:
    server.answer = lenient
    gate_mode("refuse")
    prompt = draft()
    with pytest.raises(Conflict, match=r"復旧手順 \(fail: fail -> pass\)") as refused:
        publish(prompt)
    assert refused.value.error_code == "evaluation_regression"
    prompt.refresh_from_db()
    assert prompt.status == "draft"
    told = AuditEvent.objects.filter(action="EVALUATION_GATE").latest("pk")
    assert told.details["candidate"] == f"prompt:judge@{prompt.number}"
    assert told.details["found"] == {"prompts": "worse"}

    runs, asked = EvaluationRun.objects.count(), len(server.requests)
    with pytest.raises(Conflict):
        publish(prompt)
    assert (EvaluationRun.objects.count(), len(server.requests)) == (runs, asked)

    other = draft("根拠を引用せよ。")
    assert publish(other).status == "published"


def test_without_a_model_nobody_can_tell_and_the_gate_says_what_to_do(guarded, gate_mode) -> None:
    gate_mode("refuse")
    prompt = draft()
    with pytest.raises(Conflict, match=r"needs_llm .*LLM_PROVIDER") as refused:
        publish(prompt)
    assert refused.value.error_code == "evaluation_unknown"
    gate_mode("warn")
    assert publish(prompt).status == "published"
    assert AuditEvent.objects.filter(action="EVALUATION_GATE").latest("pk").details["found"] == {"prompts": "unknown"}


def test_without_a_model_what_was_answered_before_is_replayed(
    guarded,
    document,  # noqa: F811
    configured,  # noqa: F811
    server,  # noqa: F811
    gate_mode,
    settings,
) -> None:
    server.answer = lenient
    run(document)  # names the model whose recordings can be read
    prompt = draft()
    name = f"prompt:judge@{prompt.number}"
    assert gate.compare(principal=ME, name=name).comparisons[0].standing is Standing.WORSE
    gate_mode("refuse", llm_provider="none")
    asked = len(server.requests)
    EvaluationRun.objects.all().delete()
    with pytest.raises(Conflict) as refused:
        publish(prompt)
    assert (refused.value.error_code, len(server.requests)) == ("evaluation_regression", asked)
    RecordedAnswer.objects.all().delete()
    EvaluationRun.objects.all().delete()
    with pytest.raises(Conflict, match="llm_replay_miss") as refused:
        publish(prompt)
    assert refused.value.error_code == "evaluation_unknown"


def test_cases_that_no_model_judges_tell_nothing_of_a_prompt(document, configured, gate_mode) -> None:  # noqa: F811
    case = {"document_id": document.public_id, "rule_id": "traceability.numbering_gap", "expected_verdict": "pass"}
    guard("rules", ["prompt"], [case])
    gate_mode("refuse")
    with pytest.raises(Conflict, match="No case of this dataset is judged by a language model"):
        publish(draft())


def test_a_changed_case_makes_the_stored_comparison_void(guarded, configured, server, gate_mode) -> None:  # noqa: F811
    server.answer = lenient
    prompt = draft("根拠を引用せよ。")
    name = f"prompt:judge@{prompt.number}"
    assert gate.look_at(ME, name).comparisons[0].standing is Standing.NOT_MEASURED
    assert gate.compare(principal=ME, name=name).comparisons[0].standing is Standing.SAME
    assert gate.look_at(ME, name).comparisons[0].standing is Standing.SAME
    case = guarded.cases.get()
    case.weight = 2.0
    case.save()
    assert gate.look_at(ME, name).comparisons[0].standing is Standing.NOT_MEASURED
    case.weight = 1.0
    case.save()
    JudgePrompt.objects.filter(pk=prompt.pk).update(text="別の指示")
    assert gate.look_at(ME, name).comparisons[0].standing is Standing.NOT_MEASURED


def test_who_may_not_read_the_dataset_learns_the_end_and_no_case(guarded, document, configured, server) -> None:  # noqa: F811
    server.answer = lenient
    curator = hub_curator()
    report = gate.compare(principal=curator, name=f"prompt:judge@{draft().number}")
    assert report.comparisons[0].standing is Standing.WORSE
    assert report.flips_of(report.comparisons[0]) == []


def test_command_rest_and_page_show_the_same_difference(guarded, configured, server, gate_mode, capsys) -> None:  # noqa: F811
    server.answer = lenient
    gate_mode("refuse")
    prompt = draft()
    name = f"prompt:judge@{prompt.number}"
    with pytest.raises(SystemExit) as ended:
        call_command("publish", name, "--json")
    told = json.loads(capsys.readouterr().out)
    assert (ended.value.code, told["published"], told["guards"][0]["standing"]) == (1, False, "worse")
    assert [flip["after"] for flip in told["guards"][0]["comparison"]["flips"]] == ["pass"]

    client = client_of(make_user("品質", is_superuser=True))
    page = client.get(reverse("admin:evaluation_gate"), {"candidate": name}).content.decode()
    assert "復旧手順" in page
    assert "disabled" in page
    client.post(reverse("admin:evaluation_gate_publish"), {"candidate": name})
    prompt.refresh_from_db()
    assert prompt.status == "draft"

    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", "prompts", "--candidate", name)
    assert ended.value.code == 1
    told = capsys.readouterr().out
    assert "regression True" in told
    assert "by a language model (strong): 1 cases" in told
    assert prompt_of(server.requests[-1])
