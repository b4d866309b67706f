"""The triage page and what is around it, as a browser without scripts sees it."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any
from urllib.parse import quote

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.timezone import localdate

from hub.access.principals import Role, local_operator
from review.models import Finding, Review
from review.triage.decisions import TriageChange, triage_findings
from review.triage.verdicts import decide_result
from tests.hub.admin.support import client_of, grant, make_user
from tests.review.conftest import DESIGN, review_text
from tests.review.report.test_annotated import design_in_word, review_file
from tests.review.triage.deciding import settle_everything

pytestmark = pytest.mark.django_db
FETCHED = {"X-Requested-With": "fetch"}


@pytest.fixture
def client() -> Any:
    return client_of(make_user("佐藤", is_superuser=True))


def page(client: Any, review: Review, name: str = "triage", *arguments: object, **query: str) -> str:
    address = reverse(f"admin:review_review_{name}", args=[review.pk, *arguments])
    response = client.get(address, query, headers=FETCHED if arguments else {})
    assert response.status_code == 200
    return response.content.decode()


def findings_of(review: Review) -> list[Finding]:
    return list(Finding.objects.filter(result__review=review))


def save(client: Any, review: Review, findings: list[Finding], **change: object) -> Any:
    seen = {} if "revision" in change else {"revisions": [one.revision for one in findings]}
    body = {"finding_ids": [one.public_id for one in findings], **seen, **change}
    address = reverse("admin:review_review_triage_save", args=[review.pk])
    return client.post(address, json.dumps(body), content_type="application/json")


def send(client: Any, review: Review, name: str, **body: object) -> Any:
    address = reverse(f"admin:review_review_{name}", args=[review.pk])
    return client.post(address, json.dumps(body), content_type="application/json")


def test_the_page_lists_findings_and_filters_them(client, review):
    shown = page(client, review)
    assert all(one.public_id in shown for one in findings_of(review))
    filtered = page(client, review, item=findings_of(review)[0].result.item_version.item.code)
    for one in findings_of(review):
        listed = f'data-finding-id="{one.public_id}"' in filtered
        assert listed == (one.result_id == findings_of(review)[0].result_id)
    assert f'data-finding-id="{findings_of(review)[0].public_id}"' not in page(client, review, q="そのような語はない")


def test_the_passage_stands_beside_the_finding_with_the_quote_marked(client, review):
    finding = Finding.objects.get(result__review=review, rule_id="traceability.undefined_reference")
    shown = page(client, review, "triage_finding", finding.public_id)
    assert "<mark>FR-006</mark>" in shown
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


def test_quotes_in_one_passage_show_it_once(client, review):
    finding = Finding.objects.get(result__review=review, rule_id="traceability.undefined_reference")
    quote = finding.evidence[0]
    finding.evidence = [quote, {**quote, "start_offset": quote["start_offset"] + 1}]
    finding.save()
    assert page(client, review, "triage_finding", finding.public_id).count('class="hub-passage hub-rendered"') == 1


def test_the_part_about_a_finding_or_a_check_opens_as_the_page_in_a_tab_of_its_own(client, review):
    finding = findings_of(review)[0]
    item = finding.result.item_version.item.code
    desk = reverse("admin:review_review_triage", args=[review.pk])
    for name, named, row in (("finding", finding.public_id, finding.public_id), ("check", item, f"check-{item}")):
        answer = client.get(reverse(f"admin:review_review_triage_{name}", args=[review.pk, named]))
        assert answer.headers["Location"] == f"{desk}#{row}"
        assert f'id="{row}"' in page(client, review)


def test_findings_are_changed_and_the_row_comes_back(client, review):
    one, other = findings_of(review)[:2]
    answer = save(client, review, [one, other], triage="accepted").json()
    assert [row["state"] for row in answer["findings"]] == ["accepted", "accepted"]
    assert f"<strong>{len(findings_of(review)) - 2}</strong>" in answer["desk"]["left"]
    one.refresh_from_db()
    assert save(client, review, [one], comment="設計担当に確認した").status_code == 200
    shown = page(client, review, "triage_finding", one.public_id)
    assert "設計担当に確認した" in shown
    assert "佐藤" in shown


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"triage": "waived", "reason": "次期"}, 422, "invalid_input"),
        ({"triage": "waived", "reason": "次期", "expires_at": "そのうち"}, 422, "invalid_input"),
        ({"triage": "fixed", "revisions": [7]}, 409, "changed_meanwhile"),
        ({"triage": "fixed", "revisions": [0, 0]}, 422, "invalid_input"),
        ({"triage": "fixed", "revisions": 0}, 422, "invalid_input"),
        ({"triage": "fixed", "revisions": ["x"]}, 422, "invalid_input"),
        ({"triage": "fixed", "revision": 7}, 409, "changed_meanwhile"),
        ({"triage": "fixed", "revision": None}, 422, "invalid_input"),
        ({"triage": []}, 422, "invalid_input"),
        ({"triage": "nonsense"}, 422, "invalid_input"),
    ],
)
def test_a_refusal_says_why(client, review, change, status, code):
    response = save(client, review, findings_of(review)[:1], **change)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["error"]


def test_of_several_rows_those_are_changed_that_nobody_else_changed_meanwhile(client, review):
    one, other, third = findings_of(review)[:3]
    seen = [finding.revision for finding in (one, other, third)]
    change = TriageChange(triage="rejected", reason="対象外の章")
    triage_findings(principal=local_operator(), finding_ids=[other.public_id], change=change)
    response = save(client, review, [one, other, third], triage="accepted", revisions=seen)
    answer = response.json()
    assert response.status_code == 200
    assert {row["id"]: row["state"] for row in answer["findings"]} == {
        one.public_id: "accepted",
        other.public_id: "rejected",
        third.public_id: "accepted",
    }
    assert answer["overtaken"]["rows"] == [other.public_id]
    assert re.search(r"operator が先に指摘 \d+ を変更し、今は「対応しない」です。", answer["overtaken"]["text"])
    other.refresh_from_db()
    assert (other.triage, other.revision) == ("rejected", 1)
    assert {row["id"]: row["revision"] for row in answer["findings"]}[other.public_id] == 1
    refused = save(client, review, [other], triage="accepted", revisions=[0])
    assert (refused.status_code, refused.json()["overtaken"]["rows"]) == (409, [other.public_id])
    assert (
        save(client, review, [one], triage="fixed", revisions=[1], checks=5).status_code == 200
    )  # what nobody asked for counts nothing


def test_a_page_of_before_that_says_what_it_showed_of_one_finding_changes_it_and_no_other_page_does(client, review):
    one, other = findings_of(review)[:2]
    assert save(client, review, [one], triage="accepted", revision=0).status_code == 200
    refused = save(client, review, [one, other], triage="fixed", revision=0)
    assert (refused.status_code, "読み込み直して" in refused.json()["error"]) == (422, True)
    assert {finding.triage for finding in findings_of(review)} == {"accepted", "open"}


def test_the_row_of_a_check_follows_from_its_findings(client, review):
    result = review.results.filter(verdict="fail").order_by("position").first()
    answer = save(client, review, list(result.findings.all()), triage="rejected").json()
    result.refresh_from_db()
    assert [(row["id"], row["state"], row["revision"]) for row in answer["checks"]] == [
        (result.item_version.item.code, "pass", result.revision)
    ]
    assert result.revision == 1


@pytest.mark.parametrize("body", ["", "[]", "{", '{"finding_ids": "x"}', '{"finding_ids": [{}]}'])
def test_a_request_that_makes_no_sense_is_refused(client, review, body):
    address = reverse("admin:review_review_triage_save", args=[review.pk])
    assert client.post(address, body, content_type="application/json").status_code == 422


def test_findings_of_another_review_are_not_changed_from_this_page(client, review, tmp_path):
    other = review_text(tmp_path, DESIGN, name="別.md")
    assert save(client, review, findings_of(other)[:1], triage="fixed").status_code == 422


def test_a_person_s_verdict_and_the_sign_off_go_through_the_page(client, review):
    item = review.results.first().item_version.item.code
    checks = [{"id": item, "revision": 0}]
    answer = send(client, review, "verdict", checks=checks, verdict="not_applicable", reason="現物で確認した").json()
    assert answer["checks"] == [
        {"id": item, "state": "not_applicable", "label": "対象外", "kind": "plain", "revision": 1}
    ]
    assert "現物で確認した" in page(client, review)
    refused = send(client, review, "verdict", checks=checks, verdict="pass", reason="別の人の目で")
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    refused = send(client, review, "sign_off", comment="承認")
    assert (refused.status_code, refused.json()["code"]) == (409, "sign_off_blocked")
    settle_everything(review)
    shown = page(client, review)
    assert "data-sign-off" in shown
    assert "対象外 1" in shown  # what the confirmation says is frozen
    answer = send(client, review, "sign_off", comment="承認").json()
    assert not answer["desk"]["may_act"]
    assert "data-sign-off" not in answer["desk"]["sign_off"]
    review.refresh_from_db()
    assert review.signed_at is not None


def test_a_desk_signs_what_it_showed(client, review):
    settle_everything(review)
    form = r'name="revision" value="(\d+)"'
    seen = re.findall(form, page(client, review))[0]
    triage_findings(
        principal=local_operator(),
        finding_ids=[findings_of(review)[0].public_id],
        change=TriageChange(triage="rejected"),
    )
    refused = send(client, review, "sign_off", comment="承認", revision=seen)
    assert (refused.status_code, refused.json()["code"]) == (409, "changed_meanwhile")
    assert "対応しない 1" in refused.json()["error"]
    now = re.findall(form, refused.json()["desk"]["sign_off"])[0]
    assert send(client, review, "sign_off", comment="承認", revision="x").status_code == 422
    assert send(client, review, "sign_off", comment="承認", revision=now).status_code == 200


def test_notices_on_a_check_are_in_the_language_of_the_reader(client, review):
    result = review.results.first()
    result.notices = [{"code": "partial", "ja": "一部だけを見ました。", "en": "Only a part was looked at."}]
    result.save()
    item = result.item_version.item.code
    reader = client_of(User.objects.get(username="佐藤"), language="en")
    for browser, shown, other in ((client, "ja", "en"), (reader, "en", "ja")):
        part = page(browser, review, "triage_check", item)
        assert result.notices[0][shown] in part
        assert result.notices[0][other] not in part


def test_a_notice_in_one_language_alone_says_so_to_readers_of_the_other(client, review):
    result = review.results.first()
    result.notices = [{"code": "partial", "en": "Only a part was looked at."}]
    result.save()
    item = result.item_version.item.code
    assert "Only a part was looked at.（英語のみ）" in page(client, review, "triage_check", item)
    reader = client_of(User.objects.get(username="佐藤"), language="en")
    assert "<p>Only a part was looked at.</p>" in page(reader, review, "triage_check", item)


def test_a_verdict_is_taken_back_on_the_page_and_the_check_blocks_again(client, review):
    undecided = review.results.filter(verdict="skipped").first().item_version.item.code
    before = page(client, review)
    checks = [{"id": undecided, "revision": 0}]
    answer = send(client, review, "verdict", checks=checks, verdict="pass", reason="確認した").json()
    left = answer["desk"]["blocking"]
    checks = [{"id": undecided, "revision": 1}]
    answer = send(client, review, "take_back", checks=checks).json()
    assert answer["desk"]["blocking"] == left + 1
    assert answer["checks"][0]["state"] == "skipped"
    assert before.count("data-triage-open=") == answer["desk"]["sign_off"].count("data-triage-open=")
    part = page(client, review, "triage_check", undecided)
    assert "確認した" in part
    assert "佐藤 が取り消し" in part
    assert send(client, review, "take_back", checks=[{"id": undecided, "revision": 2}]).status_code == 409


@pytest.mark.parametrize("body", [{}, {"checks": "x"}, {"checks": [1]}, {"checks": [{"id": "x"}]}, {"checks": []}])
def test_checks_that_are_no_list_of_checks_are_refused(client, review, body):
    assert send(client, review, "verdict", verdict="pass", reason="確認した", **body).status_code == 422


def test_a_check_that_is_not_there_is_told(client, review):
    for code, status in (("XX-99", 404), ("\0", 422), ("[" * 200_000, 404)):
        checks = [{"id": code, "revision": 0}]
        assert send(client, review, "verdict", verdict="pass", reason="確認した", checks=checks).status_code == status


def test_a_body_that_is_nested_too_deeply_or_can_not_be_stored_is_refused(client, review):
    address = reverse("admin:review_review_verdict", args=[review.pk])
    for body in ("[" * 200_000, '{"reason": "\\u0000"}', '{"reason": "\\ud800"}', "\xff"):
        answer = client.post(address, body.encode("latin-1"), content_type="application/json")
        assert answer.status_code == 422, answer.content


def test_the_sign_off_shows_on_the_review_and_in_both_lists(client, review):
    settle_everything(review)
    addresses = [
        reverse("admin:review_review_changelist"),
        reverse("admin:review_review_change", args=[review.pk]),
        reverse("reviews"),
        reverse("review", args=[review.public_id]),
    ]
    assert not any("承認済み" in client.get(one).content.decode() for one in addresses)
    send(client, review, "sign_off", comment="")
    for one in addresses:
        assert f"承認済み（{localdate()}）" in client.get(one).content.decode()


def test_a_review_that_waits_for_a_second_signature_says_so_in_the_lists(client, review, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    settle_everything(review)
    send(client, review, "sign_off", comment="")
    for name in ("admin:review_review_changelist", "reviews"):
        assert "二人目の署名待ち" in client.get(reverse(name)).content.decode()


def test_the_page_says_what_blocks_signing_and_who_still_has_to_sign(client, review, settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": True})
    critical = findings_of(review)[0]
    Finding.objects.filter(pk=critical.pk).update(severity="critical")
    shown = page(client, review)
    assert f'data-triage-open="{critical.public_id}"' in shown
    undecided = review.results.filter(verdict="skipped").first().item_version.item.code
    assert f'href="#check-{undecided}"' in shown
    assert f'id="check-{undecided}"' in shown
    triage_findings(
        principal=local_operator(),
        finding_ids=[one.public_id for one in findings_of(review)],
        change=TriageChange(triage="accepted"),
    )
    for result in review.results.filter(verdict__in=["skipped", "error"]).select_related("item_version__item"):
        decide_result(
            principal=local_operator(),
            review_id=review.public_id,
            check_item_id=result.item_version.item.code,
            verdict="pass",
            reason="現物で確認した",
        )
    door = reverse("admin:review_review_sign_off", args=[review.pk])
    assert f'action="{door}"' in page(client, review)
    send(client, review, "sign_off", comment="一人目")
    shown = page(client, review)
    assert "一人目" in shown
    assert "data-sign-off" not in shown  # the same person can't sign twice
    assert door in page(client_of(make_user("田中", is_superuser=True)), review)


def test_a_reader_sees_the_page_without_buttons_and_a_stranger_nothing(review):
    reader, stranger = make_user("鈴木"), make_user("高橋")
    grant(reader, Role.READER, review.version.document.collection)
    shown = page(client_of(reader), review)
    assert "data-may-act" not in shown
    assert save(client_of(reader), review, findings_of(review)[:1], triage="fixed").status_code == 404
    for name in ("triage", "answers", "diff"):
        address = reverse(f"admin:review_review_{name}", args=[review.pk])
        assert client_of(stranger).get(address).status_code == 404


def test_answers_are_previewed_and_read_in(client, review):
    report = client.get(reverse("admin:review_review_report", args=[review.pk, "xlsx"]))
    book = openpyxl.load_workbook(BytesIO(report.content))
    book.worksheets[0].cell(5, 9, "次版で直す")
    book.worksheets[0].cell(6, 12, "???")
    target = BytesIO()
    book.save(target)
    address = reverse("admin:review_review_answers", args=[review.pk])
    shown = client.post(address, {"file": SimpleUploadedFile("表.xlsx", target.getvalue())})
    text = shown.content.decode()
    assert "次版で直す" in text
    assert "???" in text
    assert client.post(address, {"content": shown.context["content"]}).status_code == 302
    assert Finding.objects.filter(result__review=review, answer__text="次版で直す").count() == 1
    refused = client.post(address, {"file": SimpleUploadedFile("表.xlsx", b"no table")})
    assert "xlsx" in refused.content.decode()
    assert client.post(address, {"content": "!!"}).status_code == 200


def test_an_annotated_copy_is_previewed_and_may_become_the_next_version(client, tmp_path):
    review = review_file(design_in_word(tmp_path / "設計.docx"))
    copy = client.get(reverse("admin:review_review_report", args=[review.pk, "annotated"]))
    assert f"utf-8''{quote('指摘付き文書_')}" in copy["Content-Disposition"]
    address = reverse("admin:review_review_answers", args=[review.pk])
    shown = client.post(address, {"file": SimpleUploadedFile("設計.docx", copy.content)})
    assert 'name="next_version"' in shown.content.decode()
    answered = client.post(address, {"content": shown.context["content"], "next_version": "1"})
    assert answered.status_code == 302
    following = Review.objects.latest("pk")
    assert (following.version.document, following.version.number) == (review.version.document, 2)


def test_the_changes_page_compares_with_an_earlier_review(client, review, tmp_path):
    second = review_text(tmp_path, DESIGN.replace("版数: 1.2", "版数: 1.1"))
    shown = page(client, second, "diff")
    assert 'id="diff-fixed"' in shown
    assert 'id="diff-open"' in shown
    assert 'id="diff-new"' not in shown
    for part, which in (("fixed", review), ("open", second)):
        rows = shown.split(f'id="diff-{part}"')[1].split("</table>")[0]
        found = re.search(r'href="([^"#]+)#(fnd_[^"]+)"', rows)
        assert found is not None
        assert found[1] == reverse("admin:review_review_triage", args=[which.pk])
        assert Finding.objects.get(public_id=found[2]).result.review_id == which.pk
    assert "rev_x" in page(client, second, "diff", base="rev_x")


def test_the_list_costs_the_same_queries_however_many_findings(client, review, django_assert_max_num_queries):
    page(client, review)
    with django_assert_max_num_queries(32):
        page(client, review)


def test_a_decision_costs_the_same_queries_however_many_rows_the_page_has(
    client, review, django_assert_max_num_queries
):
    check = review.results.filter(verdict="skipped").first().item_version.item.code
    with django_assert_max_num_queries(34):
        send(client, review, "verdict", checks=[{"id": check, "revision": 0}], verdict="pass", reason="確認した")
    with django_assert_max_num_queries(20):
        page(client, review, "triage_check", check)
