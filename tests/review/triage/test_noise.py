"""The noise list: shares over what people decided, no share of a handful, nothing of reviews that one may not read."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Forbidden
from knowledge.models import Collection
from review.models import CarryMark, CheckResult, Finding, Review
from review.triage.noise import LEAST_DECIDED, noise_list, rejected_findings
from tests.factories import make_hub_curator
from tests.hub.admin.support import client_of, grant, make_user
from tests.review.triage.deciding import decide

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()
RULE = "style.made_up"


def add_findings(result: CheckResult, *states: str, rule: str = RULE) -> list[Finding]:
    """Findings of a rule, each decided as named."""
    began = Finding.objects.filter(result=result).count() + 100
    found = [
        Finding(
            result=result,
            rule_id=rule,
            ordinal=began + number,
            fingerprint=f"{rule}-{began + number}",
            severity="minor",
            message_ja=f"指摘 {began + number}",
            message_en=f"finding {began + number}",
            triage=state,
            triage_reason="表記は発注者の指定による" if state == "rejected" else "",
            triaged_at=timezone.now() if state != "open" else None,
        )
        for number, state in enumerate(states)
    ]
    return Finding.objects.bulk_create(found)


def curator(name: str, review: Review | None = None) -> Any:
    user = make_hub_curator(make_user(name))
    if review is not None and review.version is not None:
        grant(user, Role.CURATOR, review.version.document.collection)
    return user


def test_the_share_is_of_what_was_decided_and_open_findings_do_not_count(review: Review) -> None:
    first, second = review.results.all()[:2]
    add_findings(first, "rejected", "rejected", "rejected", "accepted", "open", "open")
    add_findings(second, "rejected", "fixed", "waived")
    found = noise_list(OPERATOR)
    (rule,) = found.rules
    assert (rule.name, rule.decided, rule.rejected, rule.share) == (RULE, 7, 4, 4 / 7)
    codes = sorted((first.item_version.item.code, second.item_version.item.code))
    assert list(rule.partners) == codes
    items = {row.name: (row.decided, row.rejected, row.share) for row in found.items}
    assert items == {first.item_version.item.code: (4, 3, None), second.item_version.item.code: (3, 1, None)}


def test_below_a_handful_of_decisions_there_is_no_share_and_such_rules_come_last(review: Review) -> None:
    result = review.results.first()
    add_findings(result, *["rejected"] * (LEAST_DECIDED - 1), rule="style.few")
    add_findings(result, "rejected", *["accepted"] * (LEAST_DECIDED - 1), rule="style.many")
    assert [(row.name, row.share) for row in noise_list(OPERATOR).rules] == [("style.many", 0.2), ("style.few", None)]


def test_a_decision_that_was_carried_over_counts_where_it_was_made(review: Review) -> None:
    same, decided_anew = add_findings(review.results.first(), "rejected", "rejected")
    carried = {"review_id": "rev_x", "finding_id": "fnd_x", "version": 1, "mark": CarryMark.SAME}
    Finding.objects.filter(pk=same.pk).update(carried=carried | {"triage": "rejected"})
    Finding.objects.filter(pk=decided_anew.pk).update(carried=carried | {"triage": "accepted"})
    assert [(row.decided, row.rejected) for row in noise_list(OPERATOR).rules] == [(1, 1)]
    assert rejected_findings(OPERATOR, rule=RULE) == [decided_anew]


def test_what_people_decide_on_the_desk_is_in_the_list(review: Review) -> None:
    finding = Finding.objects.filter(result__review=review).first()
    assert noise_list(OPERATOR).rules == []
    decide(finding, triage="rejected", reason="対象外の章")
    assert [(row.name, row.rejected) for row in noise_list(OPERATOR).rules] == [(finding.rule_id, 1)]


def test_only_reviews_that_the_curator_may_read_count_and_only_curators_may_ask(review: Review) -> None:
    add_findings(review.results.first(), *["rejected"] * LEAST_DECIDED)
    stranger, reader = curator("よそ"), make_user("読者")
    grant(reader, Role.REVIEWER, review.version.document.collection)
    assert noise_list(principal_for_user(curator("担当", review))).rules != []
    assert noise_list(principal_for_user(stranger)).rules == []
    assert rejected_findings(principal_for_user(stranger), rule=RULE) == []
    for ask in (noise_list, rejected_findings):
        with pytest.raises(Forbidden):
            ask(principal_for_user(reader))
    assert client_of(reader).get(reverse("admin:review_noise")).status_code == 403


def test_one_statement_counts_however_many_rules_there_are(review: Review, django_assert_num_queries: Any) -> None:
    for number, result in enumerate(review.results.all()):
        add_findings(result, "rejected", "accepted", rule=f"style.rule_{number}")
    with django_assert_num_queries(1):
        noise_list(OPERATOR)


def test_the_page_leads_to_the_workbench_and_to_what_was_rejected(review: Review) -> None:
    result = review.results.first()
    rejected, *_others = add_findings(result, *["rejected"] * 4, "accepted")
    user = curator("担当", review)
    client, address = client_of(user), reverse("admin:review_noise")
    page = client.get(address).content.decode()
    assert f"{reverse('admin:review_workbench')}?item={result.item_version.item_id}" in page
    assert "80%" in page
    assert "判断が少なすぎます" not in page
    assert rejected.message_ja not in page
    page = client.get(address, {"rule": RULE}).content.decode()
    assert f"{reverse('admin:review_review_triage', args=[review.pk])}#{rejected.public_id}" in page
    assert "表記は発注者の指定による" in page
    seen = AuditEvent.objects.filter(action="RESULT_VIEW", user=user, details__part="noise")
    assert seen.get().resource == f"review:{review.public_id}"


def test_a_curator_without_a_decided_finding_reads_what_the_page_is_for(db: None) -> None:
    grant(user := curator("担当"), Role.CURATOR, Collection.objects.get(slug="default"))
    assert "まだ指摘への対応が決められていません" in client_of(user).get(reverse("admin:review_noise")).content.decode()
