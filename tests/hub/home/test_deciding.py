"""Findings are decided on at home, by those whose role allows it, with the desk's own service."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from knowledge.models import Collection
from review.models import CheckResult, Finding, FindingEvent, ResultDecision, Review, Signature
from review.runs import execution
from review.runs.reviews import get_review, start_review
from review.triage.asked import MOST_TOGETHER
from review.triage.carry_over import carry_triage
from review.triage.decisions import TriageChange, triage_finding
from review.triage.signing import sign_off
from tests.factories import new_user
from tests.hub.admin.support import client_of, grant
from tests.review.conftest import DESIGN, review_text, reviewed_once  # noqa: F401 (a fixture)
from tests.review.triage.deciding import settle_everything

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(reviewed_once: str, db: None, queue: None) -> Review:  # noqa: F811
    return get_review(local_operator(), reviewed_once)


def person(role: Role, name: str = "点検者") -> Client:
    user = new_user(username=name)
    grant(user, role, Collection.objects.get(slug="default"))
    return client_of(user)


def first(review: Review) -> Finding:
    found = Finding.objects.filter(result__review=review).first()
    assert found is not None
    return found


def address(review: Review, finding: Finding) -> str:
    return reverse("finding-decide", args=[review.public_id, finding.public_id])


def shown(client: Client, review: Review) -> str:
    return str(client.get(reverse("review", args=[review.public_id])).content.decode())


def send(client: Client, review: Review, finding: Finding, *, fetched: bool = False, **given: Any) -> Any:
    more = {"X-Requested-With": "fetch"} if fetched else {}
    return client.post(address(review, finding), given, headers=more)


def test_a_reviewer_without_rights_as_staff_decides_and_is_led_back_to_the_finding(review: Review) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    assert f'action="{address(review, finding)}"' in shown(client, review)
    answer = send(client, review, finding, triage="accepted", revision=finding.revision)
    assert answer.headers["Location"] == f"/reviews/{review.public_id}/#{finding.public_id}"
    finding.refresh_from_db()
    assert (finding.triage, finding.triaged_by) == ("accepted", "点検者")
    assert AuditEvent.objects.get(action="FINDING_TRIAGE").resource == f"review:{review.public_id}"


@pytest.mark.parametrize("revision", ["-1", "0x1", "99999999999", ""])
def test_a_revision_that_is_none_decides_nothing(review: Review, revision: str) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    assert send(client, review, finding, triage="accepted", revision=revision).status_code == 422
    finding.refresh_from_db()
    assert finding.triage == "open"


def test_a_script_is_sent_the_page_as_it_is_now_with_the_finding_and_the_verdict(review: Review) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    ends = timezone.localdate() + timedelta(days=30)
    waiver: dict[str, Any] = {"triage": "waived", "reason": "次期で対応", "expires_at": ends.isoformat()}
    answer = send(client, review, finding, fetched=True, revision=finding.revision, **waiver)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "<html" not in page
    state = f'data-state="waived" data-reason="次期で対応" data-ends="{ends}"'
    assert f'id="{finding.public_id}" tabindex="-1" {state}' in page
    assert 'id="review-state"' in page


def test_checks_are_shown_with_the_name_of_their_verdict_and_why_it_is_so(review: Review) -> None:
    result = review.results.order_by("pk")[0]
    result.verdict, result.notices = "skipped", [{"code": "none", "ja": "対象の章がない。", "en": "No such chapter."}]
    result.save(update_fields=["verdict", "notices"])
    page = shown(person(Role.READER), review)
    assert '<span class="tag skipped">未判定</span>' in page
    assert "対象の章がない。" in page


def test_a_comment_stands_at_its_finding_for_everybody_who_reads_it(review: Review) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    send(client, review, finding, comment="<b>担当課</b>に確認中", revision=finding.revision)
    assert FindingEvent.objects.get(finding=finding).text == "<b>担当課</b>に確認中"
    read = shown(person(Role.READER, "読者"), review)
    assert "&lt;b&gt;担当課&lt;/b&gt;に確認中" in read
    assert "data-decide" not in read


def test_what_is_refused_comes_back_with_the_reason_and_what_was_typed(review: Review) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    seen = finding.revision
    send(client, review, finding, triage="rejected", revision=seen)
    waiver: dict[str, Any] = {"triage": "waived", "reason": "書きかけの理由", "expires_at": "2999-01-01"}
    answer = send(client, review, finding, revision=seen, **waiver)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "書きかけの理由" in page
    assert 'value="2999-01-01"' in page
    assert f'name="revision" value="{seen + 1}"' in page
    assert send(client, review, finding, triage="waived", reason="理由", expires_at="2026-02-31").status_code == 422
    finding.refresh_from_db()
    assert finding.triage == "rejected"


def test_nobody_decides_whose_role_does_not_allow_it_nor_after_the_sign_off(review: Review, tmp_path: Path) -> None:
    finding = first(review)
    reader, stranger = person(Role.READER, "読者"), client_of(new_user())
    assert address(review, finding) not in shown(reader, review)
    assert [send(one, review, finding, triage="fixed").status_code for one in (reader, stranger)] == [404, 404]
    client = person(Role.REVIEWER)
    (tmp_path / "other").mkdir()
    other = review_text(tmp_path / "other", DESIGN.replace("予約", "蔵書"), name="別.md")
    assert send(client, other, finding, triage="fixed").status_code == 422
    assert client.get(address(review, finding)).status_code == 405
    settle_everything(review)
    chief = new_user(username="課長")
    grant(chief, Role.CURATOR, Collection.objects.get(slug="default"))
    sign_off(principal=principal_for_user(chief), review_id=review.public_id)
    finding.refresh_from_db()
    before = finding.triage
    assert address(review, finding) not in shown(client, review)
    assert send(client, review, finding, triage="fixed").status_code == 409
    finding.refresh_from_db()
    assert finding.triage == before


def checks_of(review: Review, number: int) -> list[CheckResult]:
    return list(review.results.filter(verdict="skipped").select_related("item_version__item")[:number])


def marked(check: CheckResult) -> str:
    """The value of a check's box."""
    return f"{check.item_version.item.code}:{check.revision}"


def ask(client: Client, name: str, review: Review, **given: Any) -> Any:
    return client.post(reverse(name, args=[review.public_id]), given)


def test_checks_are_decided_together_and_taken_back_without_a_script(review: Review) -> None:
    client, checks = person(Role.REVIEWER), checks_of(review, 2)
    assert 'id="verdicts"' in shown(client, review)
    answer = ask(client, "checks-decide", review, check=list(map(marked, checks)), verdict="not_applicable")
    assert answer.headers["Location"] == f"/reviews/{review.public_id}/#verdicts"
    decided = list(review.results.filter(verdict="not_applicable").order_by("pk"))
    assert [one.pk for one in decided] == sorted(one.pk for one in checks)
    decisions = ResultDecision.objects.filter(result__in=decided)
    assert {one.reason for one in decisions} == {"この文書には当てはまらない項目である。"}
    assert AuditEvent.objects.filter(action="RESULT_DECIDE", resource=f"review:{review.public_id}").count() == 2
    assert "この文書には当てはまらない項目である。" in shown(client, review)
    ask(client, "checks-take-back", review, check=list(map(marked, decided)))
    assert not review.results.filter(verdict="not_applicable").exists()
    assert AuditEvent.objects.filter(action="RESULT_TAKE_BACK").count() == 2


def test_a_verdict_that_is_refused_comes_back_with_the_reason_that_was_typed(review: Review) -> None:
    client, (check,) = person(Role.REVIEWER), checks_of(review, 1)
    seen = marked(check)
    ask(client, "checks-decide", review, check=seen, verdict="pass", reason="確認した")
    answer = ask(client, "checks-decide", review, check=seen, verdict="fail", reason="書きかけの理由")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert 'role="alert"' in page
    assert 'value="書きかけの理由"' in page
    for wrong in ("BD-A03", "BD-A03:x", "BD-A03:-1", ":"):
        assert ask(client, "checks-decide", review, check=wrong, verdict="pass").status_code == 422
    assert ask(client, "checks-decide", review, verdict="pass").status_code == 422
    assert ask(client, "checks-decide", review, check="NO-01:0", verdict="pass").status_code == 404
    check.refresh_from_db()
    assert check.verdict == "pass"


def test_a_review_is_signed_off_once_nothing_is_in_the_way(review: Review) -> None:
    client, (check, *_others) = person(Role.REVIEWER), checks_of(review, 1)
    code = check.item_version.item.code
    before = shown(client, review)
    assert f'href="#check-{code}"' in before
    assert "data-signs" not in before
    refused = ask(client, "review-sign", review, comment="確認済み")
    assert refused.status_code == 409
    assert 'role="alert"' in refused.content.decode()
    settle_everything(review)
    ready = shown(client, review)
    assert "承認すると、このレビューは固定されます" in ready
    answer = ask(client, "review-sign", review, comment="確認済み")
    assert answer.headers["Location"] == f"/reviews/{review.public_id}/#sign-off"
    review.refresh_from_db()
    assert review.signed_at
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF", resource=f"review:{review.public_id}").count() == 1
    after = shown(client, review)
    assert "確認済み" in after
    assert "data-decide" not in after


def shown_revision(page: str) -> str:
    """The revision that the form of the sign-off carries."""
    form = page[page.index("data-signs") :]
    return re.findall(r'name="revision" value="(\d+)"', form)[0]


def test_a_page_signs_what_it_showed_and_says_what_signing_would_freeze_by_now(review: Review) -> None:
    settle_everything(review)
    client, check = person(Role.REVIEWER), review.results.filter(verdict="pass").select_related("item_version__item")[0]
    seen = shown_revision(shown(client, review))
    ask(
        person(Role.REVIEWER, "別の点検者"), "checks-decide", review, check=marked(check), verdict="fail", reason="不備"
    )
    refused = ask(client, "review-sign", review, comment="32件合格を確認", revision=seen)
    assert refused.status_code == 409
    page = refused.content.decode()
    assert re.search(r'role="alert">[^<]*チェック: [^<]*不合格 \d', page)
    assert '<details id="sign-off-ask" open>' in page
    assert "32件合格を確認</textarea>" in page
    review.refresh_from_db()
    assert review.signed_at is None
    ask(client, "review-sign", review, comment="不合格を確認", revision=shown_revision(page))
    review.refresh_from_db()
    assert (review.signed_at is not None, review.verdict) == (True, "fail")


def test_what_a_signed_review_refuses_is_said_on_top_with_what_was_typed(review: Review) -> None:
    settle_everything(review)
    client, finding, check = (
        person(Role.REVIEWER),
        first(review),
        review.results.select_related("item_version__item")[0],
    )
    ask(person(Role.REVIEWER, "課長"), "review-sign", review)
    answers = [
        ask(client, "checks-decide", review, check=marked(check), verdict="fail", reason="書きかけの理由"),
        send(client, review, finding, comment="書きかけの意見", revision=finding.revision),
        ask(client, "review-sign", review, comment="書きかけの承認"),
    ]
    for answer, words in zip(answers, ("書きかけの理由", "書きかけの意見", "書きかけの承認"), strict=True):
        page = answer.content.decode()
        assert answer.status_code == 409
        assert page.count('role="alert"') == 1
        state = page[page.index('id="review-state"') : page.index('aria-labelledby="findings"')]
        assert re.search(r'role="alert">[^<]*承認', state)
        assert words in state


def test_the_page_says_whose_signature_does_not_count_any_more(review: Review, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    ask(person(Role.REVIEWER, "佐藤"), "review-sign", review)
    second = person(Role.REVIEWER, "課長")
    assert "署名 1 / 2" in shown(second, review)
    User.objects.filter(username="佐藤").update(is_active=False)
    for _once_more in range(2):
        page = shown(second, review)
        assert "佐藤 の署名" in page
        assert "数えません" in page
        ask(second, "review-sign", review)
    review.refresh_from_db()
    assert review.signed_at is None


def test_a_second_person_signs_at_home_too(review: Review, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    client, second = person(Role.REVIEWER), person(Role.REVIEWER, "課長")
    assert "もう一人の署名が必要です" in shown(client, review)
    ask(client, "review-sign", review)
    assert "data-signs" not in shown(client, review)
    assert ask(client, "review-sign", review).status_code == 409
    assert "data-signs" in shown(second, review)
    ask(second, "review-sign", review)
    review.refresh_from_db()
    assert review.signed_at
    assert review.signatures.count() == 2


def test_who_may_not_sign_is_told_before_they_try(review: Review, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    requester, signer, other = person(Role.REVIEWER, "依頼者"), person(Role.REVIEWER), person(Role.REVIEWER, "課長")
    Review.objects.filter(pk=review.pk).update(requested_by=User.objects.get(username="依頼者"))
    told = "あなたはこの文書を登録したか"
    assert told in shown(requester, review)  # while there is still something to decide
    assert told not in shown(signer, review)
    settle_everything(review)
    page = shown(requester, review)
    assert told in page
    assert "data-signs" not in page
    assert ("承認できます</span>" in page, "ほかの二人の署名待ち" in page) == (False, True)
    assert "承認できます</span>" in shown(signer, review)
    ask(signer, "review-sign", review)
    for one, is_ready in ((requester, False), (signer, False), (other, True)):
        page = shown(one, review)
        assert ("承認できます</span>" in page, "data-signs" in page) == (is_ready, is_ready)
        assert ('hub-badge tag">二人目の署名待ち' in page) is not is_ready


@pytest.mark.parametrize("name", ["checks-decide", "checks-take-back", "review-sign"])
def test_checks_and_the_sign_off_are_for_those_who_decide(review: Review, name: str) -> None:
    settle_everything(review)
    check = review.results.select_related("item_version__item")[0]
    given = {"check": marked(check), "verdict": "fail"}
    reader, stranger = person(Role.READER, "読者"), client_of(new_user())
    assert [ask(one, name, review, **given).status_code for one in (reader, stranger)] == [404, 404]
    assert person(Role.REVIEWER).get(reverse(name, args=[review.public_id])).status_code == 405
    review.refresh_from_db()
    assert review.signed_at is None
    page = shown(reader, review)
    assert "data-decide" not in page
    assert 'name="check"' not in page


def test_the_page_costs_the_same_statements_for_few_findings_and_for_many(
    review: Review, django_assert_max_num_queries: Any
) -> None:
    client = person(Role.REVIEWER)
    shown(client, review)
    with django_assert_max_num_queries(16):
        shown(client, review)


def test_what_somebody_was_faster_with_is_told_by_the_names_of_the_page(review: Review) -> None:
    first_one, second = person(Role.REVIEWER), person(Role.REVIEWER, "課長")
    finding, (check,) = first(review), checks_of(review, 1)
    seen, box = finding.revision, marked(check)
    send(second, review, finding, triage="rejected", revision=seen)
    ask(second, "checks-decide", review, check=box, verdict="pass")
    answer = send(first_one, review, finding, triage="accepted", revision=seen)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert re.search(r"課長 が先に指摘 \d+ を変更し、今は「対応しない」です。", page)
    assert "指定は" not in page
    page = ask(first_one, "checks-decide", review, check=box, verdict="fail").content.decode()
    assert f"課長 が先に {check.item_version.item.code} を変更し、今は「合格」です。" in page
    assert "指定は" not in page


def test_a_verdict_on_nothing_says_where_checks_are_chosen(review: Review) -> None:
    for name in ("checks-decide", "checks-take-back"):
        refused = ask(person(Role.REVIEWER, name), name, review, verdict="pass")
        assert refused.status_code == 422
        assert "チェックが選ばれていません。" in refused.content.decode()


def boxes(*findings: Finding) -> list[str]:
    """The values of the findings' boxes as a page shows them now."""
    for one in findings:
        one.refresh_from_db()
    return [f"{one.public_id}:{one.revision}" for one in findings]


def test_several_findings_are_decided_together_without_a_script(review: Review) -> None:
    client, (one, other, third) = person(Role.REVIEWER), Finding.objects.filter(result__review=review)[:3]
    assert f'value="{one.public_id}:{one.revision}"' in shown(client, review)
    given = {"finding": boxes(one, other), "triage": "rejected", "reason": "対象外の章", "expires_at": "2999-01-01"}
    answer = ask(client, "findings-decide", review, **given)
    assert answer.headers["Location"] == f"/reviews/{review.public_id}/#findings"
    for finding in (one, other, third):
        finding.refresh_from_db()
    assert [finding.triage for finding in (one, other, third)] == ["rejected", "rejected", "open"]
    assert {one.triage_reason, other.triage_reason} == {"対象外の章"}
    (line,) = AuditEvent.objects.filter(action="FINDING_TRIAGE", resource=f"review:{review.public_id}")
    assert sorted(line.details["findings"]) == sorted([one.public_id, other.public_id])


def test_findings_are_assigned_at_home_one_by_one_and_together(review: Review) -> None:
    client, (one, other) = person(Role.REVIEWER), Finding.objects.filter(result__review=review)[:2]
    User.objects.filter(username="点検者").update(last_name="佐藤", first_name="花子")
    page = shown(client, review)
    assert '<option value="点検者">佐藤 花子 (点検者)</option>' in page
    due = timezone.localdate() + timedelta(days=7)
    ask(client, "findings-decide", review, finding=boxes(one, other), assignee="点検者", due_on=due.isoformat())
    ask(client, "findings-decide", review, finding=boxes(other), assignee="", due_on=(due + timedelta(1)).isoformat())
    for finding in (one, other):
        finding.refresh_from_db()
    assert [(f.assignee and f.assignee.username, f.due_on, f.triage) for f in (one, other)] == [
        ("点検者", due, "open"),
        ("点検者", due + timedelta(1), "open"),
    ]
    assert shown(client, review).count('<option value="点検者" selected>佐藤 花子 (点検者)</option>') == 2
    page = shown(person(Role.READER, "読者"), review)
    assert "担当者: 佐藤 花子 (点検者)" in page
    assert str(due) in page
    send(client, review, one, assignee="", due_on="", revision=one.revision)
    one.refresh_from_db()
    assert (one.assignee, one.due_on) == (None, None)
    page = send(client, review, one, assignee="いない人", due_on="", revision=one.revision).content.decode()
    assert "いない人" in page
    assert 'role="alert"' in page


def test_several_findings_are_waived_with_reason_and_day_that_stand_together(review: Review) -> None:
    client, (one, other) = person(Role.REVIEWER), Finding.objects.filter(result__review=review)[:2]
    day = (timezone.localdate() + timedelta(days=30)).isoformat()
    given = {"finding": boxes(one, other), "triage": "waived", "reason": ""}
    page = ask(client, "findings-decide", review, **given, waiver_reason="", expires_at="").content.decode()
    assert "理由と期限が必要です" in page  # both at once
    page = ask(client, "findings-decide", review, **given, waiver_reason="次期で対応", expires_at="").content.decode()
    assert 'name="waiver_reason" maxlength="10000" value="次期で対応"' in page
    answer = ask(client, "findings-decide", review, **given, waiver_reason="次期で対応", expires_at=day)
    assert answer.status_code == 302
    for finding in (one, other):
        finding.refresh_from_db()
    assert {(f.triage, f.triage_reason) for f in (one, other)} == {("waived", "次期で対応")}


def test_what_chooses_all_open_findings_and_all_undecided_checks_are_two_words(review: Review) -> None:
    page = shown(person(Role.REVIEWER), review)
    assert 'data-choose="finding">未対応の指摘をすべて選ぶ<' in page
    assert 'data-choose="check">未判定をすべて選ぶ ' in page
    assert '<details class="hint scripted" data-keys open><summary>キー操作' in page


def test_of_several_findings_those_are_decided_that_nobody_changed_meanwhile_and_the_rest_is_said(
    review: Review,
) -> None:
    client, (one, other, third) = person(Role.REVIEWER), Finding.objects.filter(result__review=review)[:3]
    chief = person(Role.REVIEWER, "課長")
    User.objects.filter(username="課長").update(last_name="鈴木", first_name="一郎")
    marked = boxes(one, other, third)
    send(chief, review, other, triage="rejected", revision=other.revision)
    answer = ask(client, "findings-decide", review, finding=marked, triage="accepted", reason="書きかけの理由")
    assert answer.status_code == 200
    page = answer.content.decode()
    told = r"保存: 2 件、未保存: 1 件。鈴木 一郎 \(課長\) が先に指摘 \d+ を変更し、今は「対応しない」です。"
    assert re.search(told, page)
    assert f'role="alert" data-overtaken="{other.public_id}"' in page
    assert 'name="reason" maxlength="10000" value="書きかけの理由"' in page  # for those that are left
    assert not re.search(rf'value="{other.public_id}:\d+" checked', page)  # to be looked at first
    for finding in (one, other, third):
        finding.refresh_from_db()
    assert [finding.triage for finding in (one, other, third)] == ["accepted", "rejected", "accepted"]
    assert AuditEvent.objects.filter(action="FINDING_TRIAGE", details__findings__contains=other.public_id).count() == 1
    again = ask(client, "findings-decide", review, finding=marked, triage="accepted", reason="書きかけの理由")
    assert again.status_code == 409
    assert "保存: " not in again.content.decode()
    assert ask(client, "findings-decide", review, triage="accepted").status_code == 422
    assert "担当者か対応期限" in ask(client, "findings-decide", review, finding=boxes(one)).content.decode()
    assert ask(client, "findings-decide", review, finding=one.public_id, triage="accepted").status_code == 422


def test_of_several_checks_those_are_decided_that_nobody_changed_meanwhile_and_the_rest_is_said(
    review: Review,
) -> None:
    client, chief = person(Role.REVIEWER), person(Role.REVIEWER, "課長")
    one, other = checks_of(review, 2)
    seen, code = list(map(marked, (one, other))), other.item_version.item.code
    ask(chief, "checks-decide", review, check=seen[1], verdict="pass")
    answer = ask(client, "checks-decide", review, check=seen, verdict="not_applicable")
    assert answer.status_code == 200
    assert f"保存: 1 件、未保存: 1 件。課長 が先に {code} を変更し、今は「合格」です。" in answer.content.decode()
    for check in (one, other):
        check.refresh_from_db()
    assert [check.verdict for check in (one, other)] == ["not_applicable", "pass"]
    answer = ask(client, "checks-take-back", review, check=[marked(one), seen[1]])
    assert "保存: 1 件、未保存: 1 件。" in answer.content.decode()
    for check in (one, other):
        check.refresh_from_db()
    assert [check.verdict == "not_applicable" for check in (one, other)] == [False, False]
    assert other.verdict == "pass"


def test_signatures_stay_when_somebody_was_faster_with_all_that_was_to_be_changed(
    review: Review, settings: Any
) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    client, finding = person(Role.REVIEWER), first(review)
    seen = boxes(finding)
    send(person(Role.REVIEWER, "課長"), review, finding, triage="rejected", revision=finding.revision)
    settle_everything(review)
    ask(client, "review-sign", review)
    assert Signature.objects.filter(review=review).count() == 1
    assert ask(client, "findings-decide", review, finding=seen, triage="fixed").status_code == 409
    assert Signature.objects.filter(review=review).count() == 1


def test_who_took_a_verdict_back_is_not_called_by_the_name_of_who_has_their_login_now(review: Review) -> None:
    sato, reader = person(Role.REVIEWER, "hsato"), person(Role.REVIEWER)
    User.objects.filter(username="hsato").update(last_name="佐藤", first_name="花子")
    (check,) = checks_of(review, 1)
    ask(reader, "checks-decide", review, check=marked(check), verdict="pass")
    check.refresh_from_db()
    seen = marked(check)
    ask(sato, "checks-take-back", review, check=seen)
    page = ask(reader, "checks-decide", review, check=seen, verdict="fail").content.decode()
    assert "佐藤 花子 (hsato) が先に" in page
    User.objects.filter(username="hsato").update(username="h.sato")
    newcomer = person(Role.REVIEWER, "hsato")
    User.objects.filter(username="hsato").update(last_name="鈴木", first_name="一郎")
    send(newcomer, review, first(review), comment="拝見しました", revision=first(review).revision)
    page = ask(reader, "checks-decide", review, check=seen, verdict="fail").content.decode()
    assert "hsato が先に" in page
    assert "鈴木 一郎 (hsato) が先に" not in page
    ResultDecision.objects.update(taken_back_actor=None)  # taken back before the account was kept
    page = ask(reader, "checks-decide", review, check=seen, verdict="fail").content.decode()
    assert "鈴木 一郎 (hsato) が先に" not in page


def test_as_many_are_taken_at_once_as_the_page_says_and_of_more_the_limit_is_named(
    review: Review, settings: Any
) -> None:
    client, given = person(Role.REVIEWER), {"triage": "accepted", "reason": "", "expires_at": "", "due_on": ""}
    assert f'data-most="{MOST_TOGETHER}"' in shown(client, review)
    marked = boxes(first(review))
    assert ask(client, "findings-decide", review, finding=marked * MOST_TOGETHER, **given).status_code == 302
    too_many = marked * settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    refused = ask(client, "findings-decide", review, finding=too_many, **given)
    assert refused.status_code == 413
    assert f"フィールドは {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} 個" in refused.content.decode()


def test_several_findings_are_decided_by_those_who_decide(review: Review) -> None:
    finding = first(review)
    given = {"finding": boxes(finding), "triage": "fixed"}
    for one in (person(Role.READER, "読者"), client_of(new_user())):
        assert ask(one, "findings-decide", review, **given).status_code == 404
    page = shown(person(Role.READER, "別の読者"), review)
    assert 'id="together"' not in page
    assert 'name="finding"' not in page
    finding.refresh_from_db()
    assert finding.triage == "open"


def test_findings_have_no_number_while_more_may_come_before_them(review: Review) -> None:
    client = person(Role.READER)
    assert re.search(r"<h4>1\. ", shown(client, review))
    Review.objects.filter(pk=review.pk).update(status="running")
    page = shown(client, review)
    assert "<h4>" in page
    assert not re.search(r"<h4>\d+\. ", page)


def test_people_are_called_by_their_names_where_they_decided_and_signed(review: Review) -> None:
    client, finding = person(Role.REVIEWER, "sato"), first(review)
    User.objects.filter(username="sato").update(last_name="佐藤", first_name="花子")
    send(client, review, finding, triage="rejected", reason="対象外の章", revision=finding.revision)
    finding.refresh_from_db()
    send(client, review, finding, comment="確認済み", revision=finding.revision)
    settle_everything(review)
    ask(client, "review-sign", review)
    page = shown(client, review)
    assert "佐藤 花子 (sato): 対象外の章" in page
    assert page.count("sato") == page.count("佐藤 花子 (sato)") + page.count('value="sato"')
    assert "<strong>佐藤 花子 (sato)</strong>" in page


def test_what_somebody_decided_and_signed_is_not_shown_under_the_name_of_who_has_their_login_now(
    review: Review,
) -> None:
    client, finding = person(Role.REVIEWER, "hsato"), first(review)
    sato = User.objects.get(username="hsato")
    User.objects.filter(pk=sato.pk).update(last_name="佐藤", first_name="花子")
    send(client, review, finding, triage="rejected", reason="対象外の章", revision=finding.revision)
    settle_everything(review)
    User.objects.filter(pk=sato.pk).update(username="h.sato")
    assert "hsato: 対象外の章" in shown(client, review)
    newcomer = person(Role.REVIEWER, "hsato")
    User.objects.filter(username="hsato").update(last_name="鈴木", first_name="一郎")
    finding.refresh_from_db()
    send(newcomer, review, finding, comment="拝見しました", revision=finding.revision)
    page = shown(newcomer, review)
    assert "hsato: 対象外の章" in page
    assert "鈴木 一郎 (hsato): 対象外の章" not in page
    ask(newcomer, "review-sign", review)
    assert "<strong>hsato</strong>" in shown(newcomer, review)


def test_a_carried_decision_is_not_shown_under_the_name_of_who_has_the_login_now(review: Review) -> None:
    person(Role.REVIEWER, "hsato")
    sato, finding = User.objects.get(username="hsato"), first(review)
    triage_finding(
        principal=principal_for_user(sato),
        finding_id=finding.public_id,
        change=TriageChange(triage="rejected", reason="対象外の章"),
    )
    later = start_review(principal=local_operator(), document_id=review.document_id_text)
    execution.execute(later.pk)
    carry_triage(principal=local_operator(), review_id=later.public_id)
    User.objects.filter(pk=sato.pk).update(username="h.sato")
    newcomer = person(Role.REVIEWER, "hsato")
    User.objects.filter(username="hsato").update(last_name="鈴木", first_name="一郎")
    send(newcomer, later, first(later), comment="拝見しました", revision=first(later).revision)
    page = shown(newcomer, later)
    assert "hsato: 対象外の章" in page
    assert "鈴木 一郎 (hsato): 対象外の章" not in page


def test_administrators_without_a_role_are_not_told_to_who_assigns(review: Review) -> None:
    client, finding = person(Role.REVIEWER), first(review)
    chief = new_user(username="chief-admin", is_superuser=True)
    assert "chief-admin" not in shown(client, review)
    assert 'value="chief-admin"' in shown(client_of(chief), review)
    send(client, review, finding, assignee="chief-admin", due_on="", revision=finding.revision)
    assert '<option value="chief-admin" selected>' in shown(client, review)


def test_a_review_whose_only_signature_does_not_count_waits_for_no_second_one(review: Review, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    ask(person(Role.REVIEWER, "佐藤"), "review-sign", review)
    second = person(Role.REVIEWER, "課長")
    assert "二人目の署名待ち" in second.get(reverse("reviews")).content.decode()
    assert f"/reviews/{review.public_id}/" in second.get(reverse("work")).content.decode()
    User.objects.filter(username="佐藤").update(is_active=False)
    assert "二人目の署名待ち" not in second.get(reverse("reviews")).content.decode()
    assert f"/reviews/{review.public_id}/" not in second.get(reverse("work")).content.decode()
