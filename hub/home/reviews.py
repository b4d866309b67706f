"""Reviews: the list, what a review found and its report as a file; for reviewers, starting one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.timezone import localdate
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import principal_of
from hub.core.errors import Conflict, Forbidden, HubError
from hub.core.languages import in_language
from hub.home.addresses import passage_address
from hub.home.pages import home_action, home_page, render_home
from hub.home.refused import Refused
from hub.home.uploading import may_upload
from hub.rest.pagination import cursor_scope, paginate_keyset
from knowledge.admin.document_picker import titles_of
from knowledge.documents.documents import get_document
from knowledge.documents.reading import list_documents
from knowledge.models import Collection, Document
from knowledge.models.documents import TypeGuess
from review.admin.desk import desk_context
from review.masters.listing import list_checklists
from review.models import SEVERITIES, UNFINISHED, FindingEvent, Review, Triage
from review.report import FORMAT_NAMES, build_report
from review.report.conditions import differing_conditions
from review.report.facts import judge_label, label, place_of, remarks_on, verdict_label
from review.report.grounds import grounds_of
from review.report.quotes import quoted_documents, quotes_of
from review.runs.estimates import estimate_review
from review.runs.finding_schemas import FindingOut, certainty_label, sure_first
from review.runs.related import MAX_RELATED, related_before
from review.runs.reviews import ReviewOptions, find_subject, get_review, list_reviews, show_review, start_review
from review.runs.schemas import ReviewOut
from review.triage.asked import MOST_TOGETHER, verdict_buttons
from review.triage.assigning import due_in_words, people_to_assign
from review.triage.carry_over import carry_offer
from review.triage.comments import comments_in
from review.triage.signing import sign_off_labels, with_signatures_noted
from review.triage.verdicts import UNDECIDED, may_decide

PER_PAGE = 50
MOST_QUOTES = 3
LONGEST_CODE = 100
LONGEST_RELATED = 2000
KEYS = (  # those of the reviewer's desk
    *(("j k", _("next and previous finding or check")), ("a", _("accept")), ("r", _("reject")), ("f", _("fixed"))),
    *(("w", _("waive, with reason and end")), ("c", _("comment")), ("o", _("open again"))),
    *(("1 2 3 4", _("check: pass, warning, fail, not applicable")), ("x", _("choose for a change of several"))),
    *(("d", _("assign, with the day when it is due")), ("u", _("take the last decision back"))),
    ("s", _("sign off, or what stands in its way")),
)


@home_page
def reviews(request: HttpRequest) -> HttpResponseBase:
    """List the reviews that the reader may read, the latest first."""
    principal = principal_of(request)
    found = with_signatures_noted(list_reviews(principal)).select_related("version__document")
    page = paginate_keyset(
        found, limit=PER_PAGE, cursor=request.GET.get("cursor") or None, scope=cursor_scope("home-reviews")
    )
    labels = sign_off_labels(page.items)
    return render_home(
        request,
        "home/reviews.html",
        title=_("Reviews"),
        reviews=[(one, labels[one.pk]) for one in page.items],
        next_cursor=page.next_cursor,
        may_review=Collection.objects.visible_to(principal, Scope.REVIEW).exists(),
    )


@home_page
def review(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Show what a review found, the gravest first, and what became of each check."""
    return render_review(request, review_id)


def render_review(request: HttpRequest, review_id: str, *, refused: Refused | None = None) -> HttpResponseBase:
    """Render the page of a review, for those who decide in it with forms at findings, checks and the sign-off.

    What was refused stands at its form, and on top where the page has none any more. Raises NotFound.
    """
    principal = principal_of(request)
    row = get_review(principal, review_id)
    facts = show_review(principal, row, everything=True)
    is_in_work = row.status in UNFINISHED
    decides = not is_in_work and may_decide(principal, row)
    offer = carry_offer(principal, row) if decides else None
    desk = desk_context(row, facts, principal=principal, may_act=decides)
    names = desk["names"]
    refused = refused.in_words(facts, names) if refused else None
    is_in_place = refused is not None and refused.at in _forms(facts, desk)
    return render_home(
        request,
        "home/review.html",
        title=row.version.document.title if row.version else row.document_id_text,
        status=refused.status if refused else 200,
        offer=offer,
        conditions=differing_conditions(principal, offer.base, row) if offer else [],
        refused=refused if is_in_place else None,
        refused_on_top=None if is_in_place else refused,
        keys=KEYS,
        signed=sign_off_labels([row])[row.pk],
        people=people_to_assign(principal, row) if decides else {},
        most_together=MOST_TOGETHER,
        groups=_groups(row, facts, comments_in(principal, row)),
        checks=_checks(row, facts, names),
        verdict_buttons=verdict_buttons(),
        is_in_work=is_in_work,
        report_formats=[] if is_in_work else [(code, name) for code, name in FORMAT_NAMES.items() if code != "json"],
        **desk,
    )


def _forms(facts: ReviewOut, desk: Mapping[str, Any]) -> set[str]:
    """What the page has forms for, as ``Refused.at`` names it."""
    forms = {"verdicts", *(one.id for one in facts.findings)} if desk["may_act"] else set()
    forms |= {"findings"} if desk["may_act"] and facts.findings else set()
    return forms | {"sign-off"} if desk["may_sign"] else forms


@home_page
def review_choose(request: HttpRequest) -> HttpResponseBase:
    """List the documents with a text that the reader may have reviewed, the newest first, narrowed down by words."""
    principal, query = principal_of(request), request.GET.get("q", "").strip()
    found = list_documents(principal, query=query).live().readable()
    page = paginate_keyset(
        found.filter(pk__in=Document.objects.visible_to(principal, Scope.REVIEW).values("pk")),
        limit=PER_PAGE,
        cursor=request.GET.get("cursor") or None,
        scope=cursor_scope("home-review-choose", q=query),
    )
    return render_home(
        request,
        "home/review_choose.html",
        title=_("Start a review: which document?"),
        query=query,
        documents=page.items,
        next=f"?{urlencode({'q': query, 'cursor': page.next_cursor})}" if page.next_cursor else "",
        may_upload=may_upload(principal),
        may_review=bool(page.items) or Collection.objects.visible_to(principal, Scope.REVIEW).exists(),
    )


@home_page
def review_start(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show the check list that is proposed for a document, or ``checklist``, and what a review by it would take.

    Without ``related`` it proposes the related documents of the document's last review.

    :raises NotFound: the reader may not see such a document; Forbidden: they may not review it.
    """
    checklist, options = _asked(request.GET)
    if "related" not in request.GET:
        options = replace(options, related_documents=related_before(principal_of(request), public_id))
    return _offer_review(request, public_id, checklist, options)


def _document_to_review(principal: Principal, public_id: str) -> Document:
    document = get_document(principal, public_id)
    if not Document.objects.visible_to(principal, Scope.REVIEW).filter(pk=document.pk).exists():
        raise Forbidden(
            _("Reviews of this document are for those with the role of reviewer in the collection “{collection}”."),
            code="role_needed",
            collection=document.collection,
        )
    return document


def _asked(given: QueryDict) -> tuple[str, ReviewOptions]:
    """The check list, and what the document is compared with."""
    related = tuple(given.get("related", "")[:LONGEST_RELATED].split())
    return given.get("checklist", "")[:LONGEST_CODE], ReviewOptions(related_documents=related)


def _offer_review(
    request: HttpRequest, public_id: str, checklist: str, options: ReviewOptions, *, refused: HubError | None = None
) -> HttpResponseBase:
    principal = principal_of(request)
    document = _document_to_review(principal, public_id)
    asked: dict[str, Any] = {
        "principal": principal,
        "document_id": public_id,
        "checklist": checklist,
        "options": options,
    }
    context: dict[str, Any] = {"chosen": checklist}
    try:
        subject = find_subject(**asked)
        context |= {"chosen": subject.master.checklist.code, "master": subject.master}
        context["estimate"] = estimate_review(**asked)
    except HubError as error:
        refused = refused or error
    if refused and refused.error_code == "checklist_needed" and document.type_guess == TypeGuess.WANTED:
        refused = _not_read_yet()
    return render_home(
        request,
        "home/review_start.html",
        title=_("Review {title}").format(title=document.title),
        status=refused.status if refused and request.method == "POST" else 200,
        document=document,
        checklists=list_checklists(principal),
        reason=refused,
        is_readable=refused is None or refused.error_code != "document_failed",
        related=" ".join(options.related_documents),
        most_related=MAX_RELATED,
        names=titles_of(principal, options.related_documents),
        **context,
    )


def _not_read_yet() -> Conflict:
    return Conflict(
        _("It is still being read. Once its type is known a check list is proposed: load the page again in a moment.")
    )


@home_action
def begin_review(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Start a review, and lead to it; with ``estimate``, back to what it would take. What was refused is offered again.

    :raises NotFound: the reader may not see such a document; Forbidden: they may not review it.
    """
    checklist, options = _asked(request.POST)
    if "estimate" in request.POST:
        asked = urlencode({"checklist": checklist, "related": " ".join(options.related_documents)})
        return HttpResponseRedirect(f"{reverse('review-start', args=[public_id])}?{asked}")
    try:
        begun = start_review(
            principal=principal_of(request), document_id=public_id, checklist=checklist, options=options
        )
    except HubError as error:
        return _offer_review(request, public_id, checklist, options, refused=error)
    return HttpResponseRedirect(reverse("review", args=[begun.public_id]))


@home_page
def report(request: HttpRequest, review_id: str, report_format: str) -> HttpResponseBase:
    """Send a report as a file. :raises NotFound, InvalidInput: no such review, or no such format."""
    built = build_report(principal=principal_of(request), review_id=review_id, report_format=report_format)
    response = HttpResponse(built.content, content_type=built.content_type)
    response["Content-Disposition"] = content_disposition_header(True, built.filename) or "attachment"
    return response


def _groups(
    review: Review, facts: ReviewOut, comments: Mapping[str, Sequence[FindingEvent]]
) -> list[tuple[str, Any, list[dict[str, Any]]]]:
    suggestions = facts.suggestions_by_finding()
    documents = quoted_documents(review, facts)
    found = [
        _shown(one, facts)
        | {
            "quotes": quotes_of(one.evidence[:MOST_QUOTES], documents, address=passage_address),
            "suggestions": suggestions.get(one.id, ()),
            "comments": comments.get(one.id, ()),
        }
        for one in sure_first(facts.findings)
    ]
    groups = [(code, name, [one for one in found if one["finding"].severity == code]) for code, name in SEVERITIES]
    return [group for group in groups if group[2]]


def _checks(review: Review, facts: ReviewOut, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The checks with what they ask for and what was said of them, those that nobody could decide first."""
    items = {one.item_version.item.code: one.item_version for one in review.results.all()}
    grounds = grounds_of(review, facts, address=passage_address)
    checks = [
        {
            "result": one,
            "box": f"{one.check_item_id}:{one.revision}",
            "verdict": verdict_label(one),
            "judge": judge_label(one),
            "remarks": remarks_on(one, names),
            "asks": in_language(items[one.check_item_id].description_ja, items[one.check_item_id].description_en),
            "grounds": grounds.get(one.check_item_id, ()),
        }
        for one in facts.results
    ]
    return sorted(checks, key=lambda one: one["result"].verdict not in UNDECIDED)


def _shown(finding: FindingOut, facts: ReviewOut) -> dict[str, Any]:
    start, end = finding.location.start_offset, finding.location.end_offset
    has_place = start is not None and end is not None
    return {
        "finding": finding,
        "box": f"{finding.id}:{finding.revision}",
        "severity": label(SEVERITIES, finding.severity),
        "state": label(Triage.choices, finding.triage),
        "due": due_in_words(finding, today=localdate()),
        "certainty": certainty_label(finding.certainty),
        "place": place_of(finding, below=" › ", until="–"),
        "link": passage_address(facts.document_id, facts.version, start or 0, end or 0) if has_place else "",
    }
