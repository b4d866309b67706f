"""What rests on a related document that one may not read is withheld whole, at every door; the rest is shown.

Two ways to be hidden: the related document's collection (the review itself stays visible), and its classification
(the review is classified as high, and is hidden with it).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from hub.core.errors import HubError, NotFound
from hub.evaluation.models import EvaluationCase
from knowledge.models import Document
from mcp_bridge.servers import core, resources
from mcp_bridge.servers.resources import _page
from review.models import CheckResult, Finding, Review
from review.report import RENDERERS, build_report
from tests.review.hidden.support import (
    CANARIES,
    Person,
    as_mcp,
    hidden_finding,
    names_nothing,
    open_finding,
    reviewed,
)
from tests.review.report.test_reports import words

pytestmark = pytest.mark.django_db

DOORS: dict[str, Callable[[Person, Review], str]] = {
    "rest": lambda person, review: person.get(f"/reviews/{review.public_id}").content.decode(),
    "rest_sign_off": lambda person, review: person.get(f"/reviews/{review.public_id}/sign-off").content.decode(),
    "tool": lambda person, review: as_mcp(person, lambda: core.get_review(review.public_id).model_dump_json()),
    "resource": lambda person, review: as_mcp(
        person, lambda: json.dumps(resources.read_result(review.public_id), ensure_ascii=False)
    ),
    "page": lambda person, review: person.page("change", review.pk).content.decode(),
    "triage_page": lambda person, review: person.page("triage", review.pk).content.decode(),
    "triage_search": lambda person, review: (
        person.page("triage", review.pk, q="FR-901").content.decode().replace('value="FR-901"', "")
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_finding_that_rests_on_a_hidden_document_is_withheld_at_every_door(
    door, design, requirements, heidi, alice, queue
):
    review = reviewed(alice, design, requirements)
    hidden, shown = hidden_finding(review), open_finding(review)

    seen = DOORS[door](heidi, review)

    assert names_nothing(seen, requirements)
    assert hidden.public_id not in seen
    if door not in ("rest_sign_off", "triage_search"):
        assert shown.public_id in seen or shown.message_en in seen
        assert CANARIES[0] in DOORS[door](alice, review)


@pytest.mark.parametrize("name", ["change", "triage"])
def test_the_pages_say_how_many_findings_are_withheld(name, design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)
    told = "documents you may not read are withheld: 1"

    assert told in heidi.page(name, review.pk).content.decode()
    assert told not in alice.page(name, review.pk).content.decode()


@pytest.mark.parametrize("report_format", RENDERERS)
def test_reports_in_every_form_withhold_it_and_say_how_many(report_format, design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)

    answer = heidi.get(f"/reviews/{review.public_id}/report?format={report_format}&language=en")
    told = words(answer.content, report_format)

    assert answer.status_code == 200
    assert names_nothing(answer.content.decode(errors="replace"), requirements)
    assert names_nothing(told, requirements)
    assert open_finding(review).message_en in told.replace("\\", "")
    assert "documents you may not read are withheld: 1" in told
    kept = words(alice.get(f"/reviews/{review.public_id}/report?format={report_format}").content, report_format)
    assert CANARIES[0] in kept.replace("\\", "")


def test_the_tool_that_writes_reports_withholds_it(design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)
    made = as_mcp(heidi, lambda: core.create_report(review.public_id, "markdown"))

    assert names_nothing(made.model_dump_json(), requirements)


def test_the_review_says_how_many_findings_are_withheld_and_keeps_its_verdicts(design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)

    mine, theirs = (one.get(f"/reviews/{review.public_id}").json() for one in (alice, heidi))

    assert theirs["total_findings"] == mine["total_findings"] - 1 == len(theirs["findings"])
    assert [one["code"] for one in theirs["notices"]] == ["findings_withheld"]
    assert [one["number"] for one in theirs["findings"]] == list(range(1, len(theirs["findings"]) + 1))
    assert [one["verdict"] for one in theirs["results"]] == [one["verdict"] for one in mine["results"]]
    assert not {one["finding_id"] for one in theirs["suggestions"]} & {hidden_finding(review).public_id}
    assert mine["notices"] == []


def test_a_withheld_finding_is_unknown_to_whoever_would_decide_it(design, requirements, bob, alice):
    review = reviewed(alice, design, requirements)
    hidden, shown = hidden_finding(review).public_id, open_finding(review).public_id

    answers = [
        bob.send("patch", f"/findings/{hidden}", {"triage": "rejected", "reason": "x"}),
        bob.send("patch", "/findings", {"finding_ids": [shown, hidden], "triage": "accepted"}),
        bob.get(f"/findings/{hidden}/history"),
        bob.page("triage_finding", review.pk, hidden),
    ]

    assert [answer.status_code for answer in answers] == [404] * 4
    assert not any(names_nothing(answer.content.decode(), requirements) is False for answer in answers)
    saved = bob.browser.post(
        reverse("admin:review_review_triage_save", args=[review.pk]),
        json.dumps({"finding_ids": [hidden], "triage": "accepted"}),
        content_type="application/json",
    )
    assert saved.status_code == 422
    assert set(Finding.objects.filter(result__review=review).values_list("triage", flat=True)) == {"open"}
    assert bob.send("patch", f"/findings/{shown}", {"triage": "accepted"}).status_code == 200


def test_no_case_is_made_from_a_withheld_finding(design, requirements, bob, alice, dataset):
    review = reviewed(alice, design, requirements)
    body = {"finding_id": hidden_finding(review).public_id, "expected_verdict": "fail"}

    refused = bob.send("post", "/evaluation/datasets/gold/cases/from-finding", body)
    absent = bob.send("post", "/evaluation/datasets/gold/cases/from-finding", {**body, "finding_id": "fnd_x"})

    assert (refused.status_code, refused.json()["code"]) == (404, "finding_not_found")
    assert absent.status_code == 404
    assert not EvaluationCase.objects.exists()
    assert alice.send("post", "/evaluation/datasets/gold/cases/from-finding", body).status_code == 201


def test_a_case_from_a_finding_names_no_hidden_related_document(design, requirements, bob, alice, dataset):
    review = reviewed(alice, design, requirements)
    body = {"finding_id": open_finding(review).public_id, "expected_verdict": "fail"}

    made = bob.send("post", "/evaluation/datasets/gold/cases/from-finding", body)

    assert made.status_code == 201
    assert names_nothing(made.content.decode(), requirements)


def test_a_check_with_withheld_findings_is_decided_and_signed_by_those_who_see_all(
    design, requirements, bob, alice, dataset
):
    review = reviewed(alice, design, requirements)
    path = f"/reviews/{review.public_id}"
    item = hidden_finding(review).result.item_version.item.code
    verdict = {"verdict": "pass", "reason": "FR-901 は対象外"}

    refused = bob.send("patch", f"{path}/results/{item}", verdict)
    signing = bob.send("post", f"{path}/sign-off", {})

    assert (refused.status_code, refused.json()["code"]) == (409, "findings_withheld")
    assert (signing.status_code, signing.json()["code"]) == (409, "sign_off_blocked")
    assert "withheld" in {one["code"] for one in bob.get(f"{path}/sign-off").json()["blocking"]}
    assert alice.send("patch", f"{path}/results/{item}", verdict).status_code == 200
    case = bob.send(
        "post", "/evaluation/datasets/gold/cases/from-result", {"review_id": review.public_id, "check_item_id": item}
    )
    assert (case.status_code, case.json()["code"]) == (409, "findings_withheld")


def test_reasons_and_signatures_of_a_review_with_hidden_documents_are_withheld(design, requirements, heidi, alice):
    review = reviewed(alice, design, requirements)
    path = f"/reviews/{review.public_id}"
    for result in CheckResult.objects.filter(review=review).select_related("item_version__item"):
        code = result.item_version.item.code
        alice.send("patch", f"{path}/results/{code}", {"verdict": "pass", "reason": "FR-902 は別冊"})
    Finding.objects.filter(result__review=review).update(triage="accepted")
    signed = alice.send("post", f"{path}/sign-off", {"comment": "FR-901 を除く"})
    assert signed.status_code == 200, signed.content

    for seen in (heidi.get(path), heidi.get(f"{path}/sign-off"), heidi.get(f"{path}/report?format=markdown")):
        assert seen.status_code == 200
        assert names_nothing(seen.content.decode(), requirements)
    assert "FR-901 を除く" in alice.get(path).content.decode()


def test_a_diff_matches_all_findings_and_shows_those_that_may_be_read(design, requirements, heidi, alice):
    before = reviewed(alice, design, requirements)
    after = reviewed(alice, design, requirements)
    alone = reviewed(alice, design)

    same = heidi.get(f"/reviews/{after.public_id}/diff?base={before.public_id}")
    later = heidi.get(f"/reviews/{alone.public_id}/diff?base={before.public_id}")
    page = heidi.page("diff", after.pk, base=before.public_id)

    for answer in (same, later, page):
        assert answer.status_code == 200
        assert names_nothing(answer.content.decode(), requirements)
    told = same.json()
    assert [len(told[kind]) for kind in ("fixed", "new", "open", "moved", "undecided")] == [0, 0, 1, 0, 0]
    assert [len(later.json()[kind]) for kind in ("fixed", "undecided")] == [0, 0]
    whole = alice.get(f"/reviews/{alone.public_id}/diff?base={before.public_id}").json()
    assert [one["data"]["identifiers"] for one in whole["undecided"]] == [list(CANARIES)]
    assert whole["fixed"] == []


def test_what_was_said_of_a_withheld_finding_is_carried_over_for_those_who_may_read_it(
    design, requirements, heidi, bob, alice
):
    before = reviewed(alice, design, requirements)
    shown = open_finding(before)
    Finding.objects.filter(pk=shown.pk).update(rests_on=[requirements.public_id])
    alice.send("patch", f"/findings/{shown.public_id}", {"triage": "accepted", "comment": "FR-901 のため"})
    later = reviewed(alice, design)

    nothing = bob.send("post", f"/reviews/{later.public_id}/carry-triage", {"base": before.public_id})
    assert (nothing.status_code, nothing.json()["carried"]) == (200, 0)
    carried = alice.send("post", f"/reviews/{later.public_id}/carry-triage", {"base": before.public_id})

    assert carried.json()["carried"] == 1
    assert open_finding(later).rests_on == [requirements.public_id]
    assert names_nothing(heidi.get(f"/reviews/{later.public_id}").content.decode(), requirements)
    assert heidi.get(f"/findings/{open_finding(later).public_id}/history").status_code == 404


def test_a_withheld_finding_is_assigned_to_nobody_who_may_not_read_it(design, requirements, bob, alice):
    review = reviewed(alice, design, requirements)
    path = f"/findings/{hidden_finding(review).public_id}"

    refused = alice.send("patch", path, {"assignee": "bob"})

    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_assignee")
    assert alice.send("patch", path, {"assignee": "alice"}).status_code == 200


def test_an_answer_file_changes_no_withheld_finding(design, requirements, bob, alice):
    review = reviewed(alice, design, requirements)
    made = build_report(
        principal=alice.principal, review_id=review.public_id, report_format="xlsx", language="ja"
    ).content
    file = SimpleUploadedFile("answers.xlsx", BytesIO(made).read())

    answer = bob.rest.post(f"/api/v1/reviews/{review.public_id}/answers", {"file": file})

    assert answer.status_code == 200
    assert names_nothing(answer.content.decode(), requirements)
    assert len(answer.json()["errors"]) == 1


HIDDEN_DOORS: dict[str, Callable[[Person, Review], int]] = {
    "review": lambda person, review: person.get(f"/reviews/{review.public_id}").status_code,
    "report": lambda person, review: person.get(f"/reviews/{review.public_id}/report").status_code,
    "events": lambda person, review: person.get(f"/reviews/{review.public_id}/events").status_code,
    "sign_off": lambda person, review: person.get(f"/reviews/{review.public_id}/sign-off").status_code,
    "replay": lambda person, review: person.send("post", f"/reviews/{review.public_id}/replay", {}).status_code,
    "cancel": lambda person, review: person.send("post", f"/reviews/{review.public_id}/cancel", {}).status_code,
    "carry": lambda person, review: person.send("post", f"/reviews/{review.public_id}/carry-triage", {}).status_code,
    "finding": lambda person, review: (
        person.send("patch", f"/findings/{open_finding(review).public_id}", {"triage": "accepted"}).status_code
    ),
    "history": lambda person, review: person.get(f"/findings/{open_finding(review).public_id}/history").status_code,
    "case": lambda person, review: (
        person.send(
            "post",
            "/evaluation/datasets/gold/cases/from-finding",
            {"finding_id": open_finding(review).public_id, "expected_verdict": "fail"},
        ).status_code
    ),
    "triage_page": lambda person, review: person.page("triage", review.pk).status_code,
    "report_page": lambda person, review: person.page("report", review.pk, "html").status_code,
}


@pytest.mark.parametrize("door", HIDDEN_DOORS)
def test_a_review_is_hidden_from_those_who_may_not_see_its_highest_document(
    door, design, secret, bob, alice, dataset, queue
):
    review = reviewed(alice, design, secret)

    assert HIDDEN_DOORS[door](bob, review) == 404


def test_a_review_with_a_confidential_related_document_is_in_no_list_of_those_below(design, secret, bob, alice, queue):
    review = reviewed(alice, design, secret)

    for person, is_listed in ((bob, False), (alice, True)):
        listed = person.get("/reviews").content.decode()
        page = person.page("changelist").content.decode()
        offered = " ".join(str(item.uri) for item in _page(person.principal, None).items)
        assert [review.public_id in text for text in (listed, offered)] == [is_listed] * 2
        assert (f"/review/review/{review.pk}/" in page) is is_listed
    with pytest.raises(HubError):
        as_mcp(bob, lambda: core.get_review(review.public_id))
    with pytest.raises(NotFound):
        as_mcp(bob, lambda: resources.read_result(review.public_id))


def test_a_related_document_that_is_raised_hides_the_review_at_once(design, requirements, open_shelf, bob, alice):
    Document.objects.filter(pk=requirements.pk).update(collection=open_shelf)
    review = reviewed(bob, design, requirements)
    path = f"/reviews/{review.public_id}"
    assert CANARIES[0] in bob.get(path).content.decode()

    raised = alice.send("patch", f"/documents/{requirements.public_id}", {"classification": "c3"})

    assert raised.status_code == 200, raised.content
    assert bob.get(path).status_code == 404
    assert bob.get(f"/findings/{hidden_finding(review).public_id}/history").status_code == 404
    assert alice.get(path).status_code == 200


def test_starting_a_review_says_that_it_is_classified_as_its_related_document(design, secret, alice, queue):
    body = {"document_id": design.public_id, "options": {"related_documents": [secret.public_id]}}

    started = alice.send("post", "/reviews", body)
    alone = alice.send("post", "/reviews", {"document_id": design.public_id})

    (notice,) = started.json()["notices"]
    assert notice["code"] == "classified_as_related"
    assert "c3" in notice["en"]
    assert alone.json()["notices"] == []
