"""Datasets, imports and runs: with real documents and the real rules."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from hub.access.models import AuditEvent
from hub.access.principals import HubRole, Principal, Role, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.evaluation.datasets import name_readers, own_dataset
from hub.evaluation.execution import store_scores, take_stuck
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from knowledge.models import Collection
from review.evaluation import cases, datasets, execution, runs
from review.evaluation.runs import KNOWN_METRICS, get_run, start_run
from review.evaluation.schemas import evaluation_out
from review.models import Finding
from review.runs.execution import execute as execute_review
from review.runs.reviews import start_review
from tests.conftest import REPOSITORY
from tests.factories import (
    hub_curator,
    make_holder,
    new_collection,
    new_user,
    principal_with,
    upload_file,
    work_through,
)
from tests.review.evaluation.sample_cases import CASES, SAMPLE

pytestmark = pytest.mark.django_db

ME = local_operator()


@pytest.fixture
def dataset(document) -> EvaluationDataset:
    made = datasets.create_dataset(principal=ME, code="gold", name="正解データ")
    load(CASES)
    return made


def load(rows, code: str = "gold"):
    return cases.import_cases(principal=ME, dataset=code, rows=cases.rows_of(rows))


def finished(**asked) -> EvaluationRun:
    run = start_run(principal=ME, dataset="gold", **asked)
    assert execution.execute(run.pk)
    return get_run(ME, run.public_id)


def test_an_import_is_previewed_and_repeated_changes_nothing(dataset) -> None:
    assert load(CASES).unchanged == len(CASES)
    rows = cases.rows_of([CASES[0] | {"expected_verdict": "pass"}, {"path": "x"}, CASES[4]])
    preview = cases.preview_cases(principal=ME, dataset="gold", rows=rows)
    assert (preview.created, preview.replaced, preview.unchanged) == (0, 1, 1)
    assert [(row.row, row.reason.split(":")[0]) for row in preview.bad] == [(2, "name what decides")]
    assert preview.unknown_documents == ("無い文書.md",)
    with pytest.raises(InvalidInput, match="2: name what decides"):
        cases.import_cases(principal=ME, dataset="gold", rows=rows)
    assert dataset.cases.count() == len(CASES)


def test_a_run_tells_figures_counts_groups_and_what_was_missing(dataset) -> None:
    facts = evaluation_out(finished(), KNOWN_METRICS)
    assert facts.status == "completed"
    assert facts.details.model_dump() == {
        "true_positives": 1,
        "false_positives": 1,
        "false_negatives": 0,
        "true_negatives": 2,
        "undecided": 1,
        "samples_evaluated": 5,
    }
    assert facts.metrics["precision"] == 0.5
    assert facts.metrics["recall"] == 1.0
    assert facts.metrics["agreement"] == 0.6
    assert facts.metrics["reproducibility"] == 1.0
    assert facts.intervals["agreement"].low < 0.6 < facts.intervals["agreement"].high
    assert facts.by_check_type["traceability"]["metrics"]["agreement"]["value"] == 1.0
    assert facts.by_document["無い文書.md"]["metrics"]["agreement"]["value"] == 0.0
    assert facts.by_document["無い文書.md"]["without"]["metrics"]["agreement"]["value"] == 0.75
    assert {"code": "document_missing", "text": "無い文書.md"} in facts.notices
    assert AuditEvent.objects.filter(action="EVALUATION_COMPLETE").exists()


def test_the_same_twice_has_no_flips_and_a_chosen_baseline_stays(dataset) -> None:
    first = finished()
    second = finished(compare_baseline=True)
    assert second.baseline == first
    assert (second.metrics["regression"], second.metrics["improved"], second.flips) == (False, False, [])
    runs.mark_baseline(principal=ME, run_id=first.public_id)
    finished()
    assert finished(compare_baseline=True).baseline == first


def test_killed_in_the_middle_a_run_goes_on_with_what_is_left(dataset, monkeypatch) -> None:
    undisturbed = finished()
    run = start_run(principal=ME, dataset="gold")
    real = store_scores

    def store_then_die(*args):
        real(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(execution, "store_scores", store_then_die)
        with pytest.raises(KeyboardInterrupt):
            execution.execute(run.pk)
    assert execution.execute(run.pk) is False
    EvaluationRun.objects.filter(pk=run.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert take_stuck() == [run.pk]
    assert execution.execute(run.pk)
    assert get_run(ME, run.public_id).scores == undisturbed.scores


def test_only_named_readers_see_a_dataset_and_its_runs(dataset) -> None:
    collection = new_collection()
    curator = hub_curator()
    run = finished()
    assert list(datasets.list_datasets(curator)) == []
    for look in (
        lambda: datasets.read_dataset(curator, "gold"),
        lambda: datasets.list_cases(curator, "gold"),
        lambda: get_run(curator, run.public_id),
        lambda: start_run(principal=curator, dataset="gold"),
    ):
        with pytest.raises(NotFound):
            look()
    datasets.change_dataset(principal=ME, code="gold", readers=[curator.name])
    counted: Any = datasets.read_dataset(curator, "gold")
    assert counted.review_cases == len(CASES)
    with pytest.raises(Forbidden):
        datasets.create_dataset(principal=principal_with(Role.CURATOR, collection), code="other")


def an_evaluator() -> Principal:
    return principal_for_user(make_holder(new_user(), HubRole.EVALUATOR))


def test_who_may_name_readers_names_them_and_each_naming_is_a_line(dataset) -> None:
    evaluator, curator = an_evaluator(), hub_curator()
    datasets.change_dataset(principal=ME, code="gold", readers=[evaluator.name])
    for readers in ([evaluator.name, curator.name], []):  # a reader, but not one who names others, or takes a name out
        with pytest.raises(Forbidden):
            datasets.change_dataset(principal=evaluator, code="gold", readers=readers, name="新")
    with pytest.raises(Forbidden):
        name_readers(principal=evaluator, code="gold", readers=[evaluator.name])
    with pytest.raises(InvalidInput, match="いない人"):
        name_readers(principal=curator, code="gold", readers=["いない人"])
    assert datasets.read_dataset(evaluator, "gold").name == "正解データ"

    User.objects.filter(pk=evaluator.user_id).update(is_active=False)  # one who stays named reads nothing
    name_readers(principal=curator, code="gold", readers=[evaluator.name, curator.name])
    name_readers(principal=curator, code="gold", readers=[curator.name, evaluator.name])
    name_readers(principal=curator, code="gold", readers=[curator.name])
    lines = AuditEvent.objects.filter(action="EVALUATION_READERS", resource="dataset:gold").order_by("pk")
    assert [(line.principal, line.details["named"], line.details["withdrawn"]) for line in lines] == [
        (ME.name, [evaluator.name], []),
        (curator.name, [curator.name], []),
        (curator.name, [], [evaluator.name]),
    ]
    assert {line.kind for line in lines} == {"access"}
    with pytest.raises(InvalidInput):
        name_readers(principal=curator, code="gold", readers=[evaluator.name])


def test_the_maker_of_a_dataset_is_its_first_reader_and_the_trail_says_so() -> None:
    evaluator = an_evaluator()
    datasets.create_dataset(principal=evaluator, code="mine")
    own_dataset(evaluator, "asked")
    lines = AuditEvent.objects.filter(action="EVALUATION_CREATE").order_by("pk")
    assert [(line.resource, line.details["named"]) for line in lines] == [
        ("dataset:mine", [evaluator.name]),
        ("dataset:asked", [evaluator.name]),
    ]


def test_a_run_judges_only_documents_that_its_starter_may_read(dataset) -> None:
    curator = hub_curator()
    datasets.change_dataset(principal=ME, code="gold", readers=[curator.name])
    with pytest.raises(Conflict, match=r"無い文書\.md") as refused:
        start_run(principal=curator, dataset="gold")
    assert SAMPLE.name not in str(refused.value)


def test_lists_cost_the_same_for_one_and_for_many(dataset, django_assert_num_queries) -> None:
    for number in range(4):
        datasets.create_dataset(principal=ME, code=f"set-{number}")
    with django_assert_num_queries(2):
        assert [[user.pk for user in row.readers.all()] for row in datasets.list_datasets(ME)] == [[]] * 5


def test_a_finding_becomes_a_case_and_the_next_run_agrees(dataset, document) -> None:
    review = start_review(principal=ME, document_id=document.public_id)
    execute_review(review.pk)
    datasets.create_dataset(principal=ME, code="triage")
    for finding in Finding.objects.all():
        _case, is_new = cases.case_from_finding(
            principal=ME, finding_id=finding.public_id, expected_verdict="fail", dataset="triage"
        )
        assert is_new
        _case, again = cases.case_from_finding(
            principal=ME, finding_id=finding.public_id, expected_verdict="fail", dataset="triage"
        )
        assert not again
    run = start_run(principal=ME, dataset="triage")
    execution.execute(run.pk)
    run.refresh_from_db()
    assert run.details["counts"]["true_positives"] == Finding.objects.count() > 5
    with pytest.raises(NotFound):
        cases.case_from_finding(principal=ME, finding_id="fnd_x", expected_verdict="fail", dataset="triage")
    other = principal_with(Role.CURATOR, Collection.objects.get(slug="default"))
    with pytest.raises(NotFound):
        cases.case_from_finding(
            principal=other, finding_id=finding.public_id, expected_verdict="fail", dataset="triage"
        )


def test_the_command_exits_with_one_on_a_regression_only(dataset, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", "gold", "--json", "--metrics", "f1")
    assert ended.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    assert list(facts["metrics"]) == ["f1_score"]
    before = EvaluationRun.objects.get()
    before.scores = {name: {**score, "said": score["expected"]} for name, score in before.scores.items()}
    before.save()
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", "gold", "--compare-baseline")
    assert ended.value.code == 1
    assert "regression True" in capsys.readouterr().out


def test_retrieval_questions_come_in_by_the_same_door_and_are_measured(dataset) -> None:
    load([{"query": "予約の取消はいつまでできるか", "relevant": [SAMPLE.name]}])
    run = finished(kind="retrieval")
    assert run.metrics["ndcg@10"]["value"] == 1.0
    again = finished(kind="retrieval", compare_baseline=True)
    assert again.metrics["regression"] is False
    assert evaluation_out(again, ("mrr@10",)).comparison.delta["mrr@10"] == 0.0
    with pytest.raises(InvalidInput, match="bleu"):
        runs.chosen_metrics(["bleu"])


@pytest.mark.long
@pytest.mark.timeout(240)
def test_the_developers_gold_list_is_a_dataset_with_figures_for_every_row(capsys) -> None:
    folder = REPOSITORY / "tests" / "gold" / "review"
    for path in sorted((folder / "documents").glob("D[123]_*.md")):
        kinds = {"設計書": "basic_design", "要件": "requirements", "テスト計画": "test_plan"}
        kind = next(kind for word, kind in kinds.items() if word in path.name)
        work_through(upload_file(ME, path, document_type=kind).document)
    with pytest.raises(SystemExit):
        call_command("evaluate", "dev-gold", "--import", str(folder / "gold.jsonl"), "--rounds", "1", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["details"]["samples_evaluated"] == 104
    shown = {name: group["metrics"]["agreement"]["value"] for name, group in facts["by_check_type"].items()}
    print(facts["metrics"], shown)  # noqa: T201
    assert shown["required_section"] == 1.0
    assert shown["terminology"] >= 0.85
    assert facts["metrics"]["agreement"] >= 0.90
    assert facts["metrics"]["false_positive_rate"] <= 0.10
    assert facts["metrics"]["false_negative_rate"] <= 0.05


def test_the_run_list_reads_no_scores(dataset, django_assert_num_queries) -> None:
    finished(), finished(compare_baseline=True)
    with django_assert_num_queries(1) as seen:
        assert len(list(runs.list_runs(ME))) == 2
    assert isinstance(seen, CaptureQueriesContext)
    assert '"scores"' not in seen.captured_queries[0]["sql"]
