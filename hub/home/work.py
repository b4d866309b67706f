"""What waits for the person who is signed in: findings, waivers that end, signatures."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from hub.admin_site.pages import principal_of
from hub.home.pages import home_page, render_home
from review.models import Finding, Review
from review.triage.assigning import due_in_words
from review.triage.own_work import SOON, own_work


@home_page
def work(request: HttpRequest) -> HttpResponseBase:
    """Show findings, waivers and reviews that wait for the person, each with the way to its place."""
    now = timezone.now()
    found = own_work(principal_of(request), now=now, cursor=request.GET.get("cursor") or None)
    return render_home(
        request,
        "home/work.html",
        title=_("My work"),
        found=found,
        assigned=[_shown(one) for one in found.assigned.items],
        ending=[_shown(one) for one in found.ending],
        to_sign=[(one, _title(one)) for one in found.to_sign],
        unsigned=[(one, _title(one)) for one in found.unsigned],
        days=SOON.days,
    )


def _shown(finding: Finding) -> dict[str, Any]:
    review, today = finding.result.review, timezone.localdate()
    link = f"{reverse('review', args=[review.public_id])}#{finding.public_id}"
    return {
        "finding": finding,
        "review": review,
        "title": _title(review),
        "link": link,
        "due": due_in_words(finding, today=today),
    }


def _title(review: Review) -> str:
    return review.version.document.title if review.version else _("deleted document")
