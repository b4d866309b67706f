"""What datasets, cases and runs refuse, and that nothing has changed then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from hub.evaluation.cases import MOST_ROWS
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from review.evaluation import candidates, cases, datasets, gold_list, runs
from tests.review.evaluation.sample_cases import CASES

pytestmark = pytest.mark.django_db

ME = local_operator()


@pytest.fixture
def dataset() -> EvaluationDataset:
    made = datasets.create_dataset(principal=ME, code="gold")
    cases.import_cases(principal=ME, dataset="gold", rows=cases.rows_of(CASES[:1]))
    return made


def a_run(dataset: EvaluationDataset, **fields: Any) -> EvaluationRun:
    return EvaluationRun.objects.create(**{"dataset": dataset, "kind": "review", "principal": ME.name, **fields})


def test_a_dataset_has_a_code_of_its_own_a_name_that_fits_and_guards_that_exist(dataset: EvaluationDataset) -> None:
    with pytest.raises(Conflict) as taken:
        datasets.create_dataset(principal=ME, code="gold", name="別の正解データ")
    assert taken.value.error_code == "dataset_exists"
    for name in ("名" * (datasets.LONGEST_NAME + 1), "名\0前"):
        with pytest.raises(InvalidInput, match="200"):
            datasets.create_dataset(principal=ME, code="other", name=name)
        with pytest.raises(InvalidInput, match="200"):
            datasets.change_dataset(principal=ME, code="gold", name=name)
    with pytest.raises(InvalidInput, match=r"checklist:no-such.*checklist:basic-design"):
        datasets.change_dataset(principal=ME, code="gold", guards=["checklist:no-such"])
    assert EvaluationDataset.objects.filter(name__in=["gold"], guards=[]).count() == 1
    assert datasets.change_dataset(principal=ME, code="gold", name="  ").name == "gold"


def test_a_case_is_taken_out_once(dataset: EvaluationDataset) -> None:
    (case,) = datasets.list_cases(ME, "gold")
    datasets.delete_case(principal=ME, code="gold", case_id=case.pk)
    with pytest.raises(NotFound, match=str(case.pk)):
        datasets.delete_case(principal=ME, code="gold", case_id=case.pk)


def test_cases_come_in_a_known_format_and_in_bounds(
    dataset: EvaluationDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = cases.rows_of(CASES)
    with pytest.raises(InvalidInput, match="gold_list"):
        cases.preview_cases(principal=ME, dataset="gold", rows=rows, row_format="excel")
    with pytest.raises(InvalidInput, match=", ".join(gold_list.FIELDS)):
        cases.preview_cases(principal=ME, dataset="gold", rows=rows, row_format="gold_list")
    with pytest.raises(InvalidInput, match=str(MOST_ROWS)):
        cases.preview_cases(principal=ME, dataset="gold", rows=rows[:1] * (MOST_ROWS + 1))
    monkeypatch.setattr(cases, "MAX_FILE_BYTES", 3)
    path = tmp_path / "cases.jsonl"
    path.write_text("[{}]", encoding="utf-8")
    with pytest.raises(LimitExceeded):
        cases.rows_in_file(path, path.name)
    assert dataset.cases.count() == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("basic-design", InvalidInput),
        ("list:basic-design@1", InvalidInput),
        ("checklist:basic-design", InvalidInput),
        ("checklist:basic-design@１", InvalidInput),
        ("checklist:basic-design@" + "9" * 40, InvalidInput),
        ("checklist:basic-design@999", NotFound),
        ("checklist:no-such@1", NotFound),
        ("prompt:judge@999", NotFound),
        ("embedding_set:no-such", NotFound),
    ],
)
def test_a_candidate_is_named_by_its_kind_and_number(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        candidates.find_candidate(ME, name)


def test_a_run_is_of_a_known_kind_with_rounds_in_bounds(dataset: EvaluationDataset) -> None:
    for asked, named in (({"kind": "lint"}, "kind: "), ({"rounds": 0}, "rounds: 1"), ({"rounds": 10**6}, "rounds: 1")):
        with pytest.raises(InvalidInput, match=named):
            runs.start_run(principal=ME, dataset="gold", **asked)
    assert not dataset.runs.exists()


def test_only_completed_runs_of_one_kind_are_compared_and_become_the_baseline(dataset: EvaluationDataset) -> None:
    done, other_kind, open_run = a_run(dataset), a_run(dataset, kind="retrieval"), a_run(dataset, status="running")
    for base in (done, other_kind):
        with pytest.raises(InvalidInput, match=base.public_id):
            runs.compare_runs(ME, done.public_id, base_id=base.public_id)
    for pair in ((done, open_run), (open_run, done)):
        with pytest.raises(Conflict) as refused:
            runs.compare_runs(ME, pair[0].public_id, base_id=pair[1].public_id)
        assert refused.value.error_code == "run_not_completed"
    with pytest.raises(NotFound):
        runs.compare_runs(ME, done.public_id, base_id="run_no_such")
    runs.mark_baseline(principal=ME, run_id=done.public_id)
    with pytest.raises(Conflict):
        runs.mark_baseline(principal=ME, run_id=open_run.public_id)
    assert list(dataset.runs.filter(is_baseline=True)) == [done]
    assert list(runs.comparable_runs(ME, done)) == []
