"""Deciding on findings, on the page of their review."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from hub.admin_site.pages import principal_of
from hub.core.errors import HubError, NotFound
from hub.home.pages import home_action, is_fetched
from hub.home.reviews import Refused, render_review
from review.runs.reviews import get_review
from review.triage.asked import read_change, read_finding_ids
from review.triage.decisions import triage_findings


@home_action
def decide(request: HttpRequest, review_id: str, finding_id: str) -> HttpResponseBase:
    """Decide on a finding or comment on it, and lead back to it; a script is sent the page as it is now.

    What is refused is shown at the finding, with what was typed. Raises NotFound: no such review, or the
    person does not decide in it; InvalidInput: no such finding in it.
    """
    principal = principal_of(request)
    asked = read_finding_ids(get_review(principal, review_id), {"finding_ids": [finding_id]})
    try:
        triage_findings(principal=principal, finding_ids=asked, change=read_change(request.POST))
    except NotFound:
        raise
    except HubError as error:
        return render_review(
            request, review_id, refused=Refused(finding_id=finding_id, typed=request.POST.dict(), error=error)
        )
    if is_fetched(request):
        return render_review(request, review_id)
    return HttpResponseRedirect(f"{reverse('review', args=[review_id])}#{finding_id}")
