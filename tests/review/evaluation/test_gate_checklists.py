"""The gate before a version of a check list is approved: real documents and real rules, no model."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.evaluation.models import EvaluationDataset
from review.curation.master_versions import approve_checklist_version
from review.evaluation import cases, datasets, gate
from review.evaluation.candidates import checklist_candidate
from review.models import CheckItemVersion, CheckListEntry, CheckListVersion, Finding
from review.runs import execution
from review.runs.reviews import start_review

pytestmark = pytest.mark.django_db
ME = local_operator()


def weakened(code: str = "BD-B01") -> CheckListVersion:
    """A draft of the shipped list in which one item looks for nothing any more."""
    old = CheckListVersion.objects.get(checklist__code="basic-design", status="approved")
    draft = CheckListVersion.objects.create(checklist=old.checklist, number=old.number + 1)
    for entry in old.entries.select_related("item_version__item"):
        item = entry.item_version
        if item.item.code == code:
            item = CheckItemVersion.objects.create(
                item=item.item, number=item.number + 1, name_ja="弱", name_en="weak", check_type=item.check_type,
                strategy=item.strategy, criteria={"prompt": "?"},
            )  # fmt: skip
        CheckListEntry.objects.create(checklist_version=draft, item_version=item, position=entry.position)
    return draft


@pytest.fixture
def guarded(document) -> EvaluationDataset:
    review = start_review(principal=ME, document_id=document.public_id)
    execution.execute(review.pk)
    made = datasets.create_dataset(principal=ME, code="guard")
    found = Finding.objects.filter(result__item_version__item__code="BD-B01")
    assert found.exists()
    for finding in found:
        cases.case_from_finding(principal=ME, finding_id=finding.public_id, expected_verdict="fail", dataset="guard")
    datasets.change_dataset(principal=ME, code="guard", guards=["checklist:basic-design"])
    return made


def test_the_gate_refuses_a_version_that_finds_less_and_names_the_flips(guarded, document, gate_mode) -> None:
    gate_mode("refuse")
    draft = weakened()
    with pytest.raises(Conflict) as refused:
        approve_checklist_version(principal=ME, version=draft)
    draft.refresh_from_db()
    assert draft.status == "draft"
    assert refused.value.error_code == "evaluation_regression"
    assert document.public_id in str(refused.value)
    assert "fail: fail -> undecided" in str(refused.value)


def test_the_gate_lets_an_equal_version_through_warns_or_does_not_look(guarded, gate_mode) -> None:
    gate_mode("refuse")
    assert gate.let_through(ME, checklist_candidate(weakened("BD-C02"))).regressions == ()
    CheckListVersion.objects.filter(status="draft").delete()
    CheckItemVersion.objects.filter(name_en="weak").delete()
    draft = weakened()
    gate_mode("warn")
    let_through = gate.let_through(ME, checklist_candidate(draft))
    assert [run.dataset.code for run in let_through.regressions] == ["guard"]
    gate_mode("off")
    assert gate.let_through(ME, checklist_candidate(draft)).runs == ()
