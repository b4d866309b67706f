"""What scripts of the reviewer's desk ask to change, and what they are answered to show it without loading the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.template.loader import render_to_string
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from hub.admin_site.pages import KINDS, badge, principal_of
from hub.core.bounds import check_strings
from hub.core.errors import Conflict, HubError, InvalidInput
from hub.core.strict_json import read_json
from review.admin.desk import desk_context, due_badge
from review.models import VERDICTS, CheckResult, Finding, Review, Triage
from review.report.facts import label
from review.report.overtaken import ids_on_page, overtaken_in_words, row_of
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import get_review, review_facts
from review.runs.schemas import ResultOut, ReviewOut
from review.triage.overtaken import CHANGED_MEANWHILE, Changed, Overtaken
from review.triage.verdicts import may_decide


def desk_after(request: HttpRequest, review_id: str) -> dict[str, Any]:
    """The parts of the page that a decision changes, rendered, for the page's script to put in their places."""
    return _parts(request, _context_now(request, review_id))


def change_on_desk(
    request: HttpRequest, review: Review, change: Callable[[Mapping[str, Any]], Changed[Any]]
) -> JsonResponse:
    """Change what the JSON body asks for, and answer {findings, checks, desk}: the rows as they are now, also those of
    checks whose findings were changed, and the parts of the page.

    Where somebody else was faster with some rows, ``overtaken`` is {rows, text}: their ids on the page, and what is
    said. A refusal is {error, code} with the status that REST gives, too; where somebody else was faster with all rows,
    it has these, too.
    """
    changed: Changed[Any] = Changed(rows=())
    try:
        changed = change(body_of(request))
    except Overtaken as error:
        changed = Changed(rows=(), overtaken=error.each)
    except HubError as error:
        return JsonResponse({"error": str(error), "code": error.error_code}, status=error.status)
    context = _context_now(request, review.public_id)
    facts, names = context["facts"], context["names"]
    answer = _rows_now(facts, names, changed) | {"desk": _parts(request, context)}
    if not changed.overtaken:
        return JsonResponse(answer)
    text = overtaken_in_words(changed.overtaken, facts, names, saved=len(changed.rows))
    answer["overtaken"] = {"rows": ids_on_page(changed.overtaken), "text": text}
    if changed.rows:
        return JsonResponse(answer)
    return JsonResponse({**answer, "error": text, "code": CHANGED_MEANWHILE}, status=Conflict.status)


def body_of(request: HttpRequest) -> dict[str, Any]:
    """Read the JSON object that the page's script sent. Raises InvalidInput."""
    try:
        asked = read_json(request.body.decode())
    except ValueError as error:
        raise InvalidInput(_("The request is no JSON object.")) from error
    if not isinstance(asked, dict):
        raise InvalidInput(_("The request is no JSON object."))
    check_strings(asked)
    return asked


def _context_now(request: HttpRequest, review_id: str) -> dict[str, Any]:
    principal = principal_of(request)
    review = get_review(principal, review_id)
    facts = review_facts(review, everything=True)
    return desk_context(review, facts, principal=principal, may_act=may_decide(principal, review))


def _parts(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    review: Review = context["review"]
    return {
        "counts": render_to_string("admin/review/review/desk_counts.html", context, request),
        "left": render_to_string("review/desk_left.html", context, request),
        "sign_off": render_to_string("admin/review/review/sign_off.html", context, request),
        "verdict": badge(review.verdict, label(VERDICTS, review.verdict)) if review.verdict else "",
        "blocking": len(context["sign_off"].blocking),
        "may_act": context["may_act"],
    }


def _rows_now(facts: ReviewOut, names: Mapping[str, str], changed: Changed[Any]) -> dict[str, Any]:
    """The findings and checks that were asked for, and the checks whose verdicts follow from those findings."""
    asked = {*map(_name_of, changed.rows), *map(row_of, changed.overtaken)}
    findings = [one for one in facts.findings if one.id in asked]
    codes = asked.union(one.check_item_id for one in findings)
    return {
        "findings": [_finding_now(one, names) for one in findings],
        "checks": [_check_now(one) for one in facts.results if one.check_item_id in codes],
    }


def _name_of(row: Finding | CheckResult) -> str:
    return row.public_id if isinstance(row, Finding) else row.item_version.item.code


def _finding_now(finding: FindingOut, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": finding.id,
        "state": finding.triage,
        "label": label(Triage.choices, finding.triage),
        "kind": KINDS.get(finding.triage, "plain"),
        "revision": finding.revision,
        "assignee": names.get(finding.assignee or "", finding.assignee or ""),
        "due": due_badge(finding),
        "reason": finding.triage_reason or "",
        "expires_at": f"{localtime(finding.expires_at):%Y-%m-%d}" if finding.expires_at else "",
    }


def _check_now(result: ResultOut) -> dict[str, Any]:
    return {
        "id": result.check_item_id,
        "state": result.verdict,
        "label": str(label(VERDICTS, result.verdict)),
        "kind": KINDS.get(result.verdict, "plain"),
        "revision": result.revision,
    }
