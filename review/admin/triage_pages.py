"""The reviewer's desk: findings and checks in one list, the passage beside them, decisions on findings by keyboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import HubRight, Principal
from hub.admin_site.marked_markdown import Spans, render_marked
from hub.admin_site.pages import is_fetched, principal_of, render_page
from hub.evaluation.models import READING_SCOPES, EvaluationDataset
from knowledge.ingest.content import blocks_of
from knowledge.models import VersionContent
from knowledge.originals import is_shown
from knowledge.types.documents import Block, BlockKind
from review.admin.desk import desk_address, desk_context, due_badge
from review.admin.desk_changes import change_on_desk
from review.admin.review_pages import find_listed, passage_link
from review.evaluation.cases import OWN_DATASET
from review.models import SEVERITIES, VERDICTS, CarryMark, EventKind, Finding, Review, Triage
from review.report import FORMAT_NAMES
from review.report.conditions import differing_conditions
from review.report.facts import label, place_of
from review.report.quotes import quoted_documents, quotes_of
from review.runs.finding_schemas import FindingOut, sure_first
from review.runs.reviews import get_review, review_facts, show_review
from review.runs.schemas import ReviewOut
from review.triage.asked import read_change, read_seen_findings, verdict_buttons
from review.triage.assigning import people_to_assign
from review.triage.carry_over import carry_offer
from review.triage.decisions import finding_history, triage_seen_findings
from review.triage.overtaken import Changed
from review.triage.people import names_in
from review.triage.verdicts import may_decide

AROUND = 700
"""Characters shown before and after the place, at least; whole blocks are shown."""
MOST = 6000
"""Characters of one block that are shown; of longer ones the part around the place."""
FILTERS = ("severity", "triage", "item", "assignee", "q")
MAX_PASSAGES = 5
CHOSEN_DATASET = "hub_case_dataset"


def render_passage(text: str, blocks: Sequence[Block], spans: Spans, *, at: int) -> SafeString:
    """Render the blocks around the offset ``at``; raw HTML is shown as text, links and pictures lead nowhere.

    ``spans`` are ``[start, end)`` of the whole text; what lies inside the passage is in ``<mark>``.
    """
    start, end, head = _window(text, blocks, at)
    shift = len(head) - start
    inside = [(max(first, start) + shift, min(last, end) + shift) for first, last in spans]
    return render_marked(head + text[start:end], inside)


def shown_around(text: str, blocks: Sequence[Block], *, at: int) -> tuple[int, int]:
    """The stretch ``[start, end)`` of the text that :func:`render_passage` shows."""
    start, end, _head = _window(text, blocks, at)
    return start, end


def _window(text: str, blocks: Sequence[Block], at: int) -> tuple[int, int, str]:
    """Start and end of what is shown, and the head of a table of which only a part is shown."""
    index = max((number for number, block in enumerate(blocks) if block.start <= at), default=0)
    if not blocks:
        return max(0, at - AROUND), min(len(text), at + AROUND), ""
    block = blocks[index]
    if block.end - block.start > MOST:
        return _part_of(text, block, at)
    first = last = index
    while first > 0 and block.start - blocks[first].start < AROUND and _fits(blocks[first - 1]):
        first -= 1
    while last + 1 < len(blocks) and blocks[last].end - block.end < AROUND and _fits(blocks[last + 1]):
        last += 1
    return blocks[first].start, blocks[last].end, ""


def _fits(block: Block) -> bool:
    return block.end - block.start <= MOST


def _part_of(text: str, block: Block, at: int) -> tuple[int, int, str]:
    """Whole lines of a long block around a place."""
    start = text.rfind("\n", block.start, max(block.start, at - AROUND)) + 1 or block.start
    end = text.find("\n", min(block.end, at + AROUND), block.end)
    lines = text[block.start : start].split("\n", 2)
    has_head = block.kind is BlockKind.TABLE and len(lines) > 2
    head = "\n".join(lines[:2]) + "\n" if has_head else ""
    return start, end if end > 0 else block.end, head


def find_review(request: HttpRequest, pk: int) -> Review:
    """Find a review that the person may read, with all that is shown of it; else 404."""
    return get_review(principal_of(request), find_listed(request, pk).public_id)


@require_GET
@never_cache
def triage(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the findings that the filters leave, a place for the passage, the checks, and how to sign off."""
    principal = principal_of(request)
    review = find_review(request, pk)
    facts = show_review(principal, review, everything=True)
    may_act = may_decide(principal, review)
    offer = carry_offer(principal, review) if may_act else None
    asked = {name: request.GET.get(name, "").strip() for name in FILTERS}
    rows = [_row(one) for one in sure_first(facts.findings) if _is_wanted(one, asked)]
    desk = desk_context(review, facts, principal=principal, may_act=may_act)
    assigned = {one.assignee: desk["names"].get(one.assignee, one.assignee) for one in facts.findings if one.assignee}
    return render_page(
        request,
        "admin/review/review/triage.html",
        title=_("Triage"),
        rows=rows,
        asked=asked,
        is_filtered=any(asked.values()),
        checks=_checks(facts),
        severities=SEVERITIES,
        states=Triage.choices,
        verdicts=dict(VERDICTS),
        verdict_buttons=verdict_buttons(),
        items=sorted({one.check_item_id for one in facts.findings}),
        assignees=dict(sorted({**people_to_assign(principal, review), **assigned}.items())),
        offer=offer,
        conditions=differing_conditions(principal, offer.base, review) if offer else [],
        marks=dict(CarryMark.choices),
        datasets=datasets_for(request) if may_act else [],
        report_formats=FORMAT_NAMES.items(),
        **desk,
    )


def _row(finding: FindingOut) -> dict[str, Any]:
    """A finding in the list."""
    severity, state = label(SEVERITIES, finding.severity), label(Triage.choices, finding.triage)
    return {
        "finding": finding,
        "place": place_of(finding),
        "severity": severity,
        "state": state,
        "due": due_badge(finding),
    }


def _is_wanted(finding: FindingOut, asked: Mapping[str, str]) -> bool:
    fields = {
        "severity": finding.severity,
        "triage": finding.triage,
        "item": finding.check_item_id,
        "assignee": finding.assignee or "",
    }
    if any(asked[name] not in ("", value) for name, value in fields.items()):
        return False
    words = f"{finding.message} {finding.rule_id} {place_of(finding)}".casefold()
    return all(word in words for word in asked["q"].casefold().split())


def _checks(facts: ReviewOut) -> list[tuple[Any, str]]:
    """The checks with their remarks, those that nobody could decide first."""
    undecided = ("error", "skipped")
    return sorted(
        ((result, label(VERDICTS, result.original_verdict or "")) for result in facts.results),
        key=lambda pair: pair[0].verdict not in undecided,
    )


@require_GET
@never_cache
def finding(request: HttpRequest, pk: int, finding_id: str) -> HttpResponse:
    """Show one finding with its passage and history, as a part of the page; a browser is led there."""
    principal = principal_of(request)
    review = find_review(request, pk)
    facts = review_facts(review, everything=True)
    found = next((one for one in facts.findings if one.id == finding_id), None)
    if found is None:
        raise Http404
    if not is_fetched(request):
        return redirect(desk_address(review, finding_id))
    others = [item for item in found.evidence if item.document_id != review.document_id_text]
    context = {
        "row": _row(found),
        "names": names_in(review),
        "finding": found,
        "suggestions": facts.suggestions_by_finding().get(finding_id, []),
        "passages": _passages(review, found),
        "quotes_of_others": quotes_of(others, quoted_documents(review, facts), address=passage_link),
        "history": [
            (event, _event_text(event.kind, event.before), _event_text(event.kind, event.after))
            for event in finding_history(principal, finding_id)
        ],
        "states": Triage.choices,
        "people": people_to_assign(principal, review),
        "carried_state": label(Triage.choices, found.carried.triage) if found.carried else "",
        "may_keep": may_keep_cases(principal),
        "original": _original(found, review),
        "may_act": may_decide(principal, review),
    }
    return render(request, "admin/review/review/triage_finding.html", context)


def _original(found: FindingOut, review: Review) -> str:
    """The address of the original around the finding's first quote; empty where originals of its format don't show."""
    place = next((one for one in found.evidence if one.verified and one.document_id == review.document_id_text), None)
    if place is None or review.version is None or not is_shown(review.version):
        return ""
    span = {"version": review.version_number, "start": place.start_offset, "end": place.end_offset}
    return f"{reverse('passage', args=[review.document_id_text])}?{urlencode({**span, 'part': 'original'})}"


def _event_text(kind: str, value: str) -> str:
    return label(Triage.choices, value) if kind in (EventKind.TRIAGE, EventKind.REOPEN, EventKind.CARRY) else value


def _passages(review: Review, found: FindingOut) -> list[str]:
    """The place as HTML for each quote of this document that is in another passage."""
    own = [item for item in found.evidence if item.document_id == review.document_id_text]
    content = VersionContent.objects.filter(pk=review.version_id).first() if review.version_id else None
    if content is None or not own:
        return []
    spans = [(item.start_offset, item.end_offset) for item in own if item.verified]
    blocks = blocks_of(content)
    windows: list[tuple[int, int]] = []
    shown: list[str] = []
    for start, end in spans:
        if any(first <= start and end <= last for first, last in windows) or len(shown) == MAX_PASSAGES:
            continue
        windows.append(shown_around(content.markdown, blocks, at=start))
        shown.append(render_passage(content.markdown, blocks, spans, at=start))
    return shown


@require_POST
def save(request: HttpRequest, pk: int) -> JsonResponse:
    """Change findings as the JSON body says: {finding_ids, revisions, triage, reason, comment, expires_at, assignee,
    due_on}; the answer is that of ``change_on_desk``.
    """
    review = find_review(request, pk)

    def change(asked: Mapping[str, Any]) -> Changed[Finding]:
        seen = read_seen_findings(review, asked)
        return triage_seen_findings(principal=principal_of(request), seen=seen, change=read_change(asked))

    return change_on_desk(request, review, change)


def may_keep_cases(principal: Principal) -> bool:
    """Return whether the person has a dataset to keep cases in, or may make one."""
    if not any(principal.allows(scope) for scope in READING_SCOPES):
        return False
    return principal.may(HubRight.EVALUATION) or EvaluationDataset.objects.visible_to(principal).exists()


def datasets_for(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """Code and name of the datasets that the person may keep cases in, and which was used last.

    Who curates and has none is offered one of their own, which is made with the first case.
    """
    principal = principal_of(request)
    if not may_keep_cases(principal):
        return []
    found = list(EvaluationDataset.objects.visible_to(principal).order_by("code").values_list("code", "name"))
    if not found:
        code = f"{OWN_DATASET}-{principal.user_id}"
        found = [(code, str(_("new dataset “{code}”").format(code=code)))]
    chosen = request.session.get(CHOSEN_DATASET) or (found[0][0] if found else "")
    return [(code, name, code == chosen) for code, name in found]
