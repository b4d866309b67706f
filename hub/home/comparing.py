"""Two versions of a document side by side, and taking over what was decided in the review of the earlier one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from hub.admin_site.pages import errors_as_messages, principal_of
from hub.core.errors import Conflict
from hub.home.pages import home_action, home_page, render_home
from review.admin.compare_page import TITLE, compared_versions
from review.runs.reviews import get_review
from review.triage.carry_over import carried_in_words, carry_triage

TEMPLATE = "home/compare.html"


@home_page
def compare(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show what changed from version ``from`` to version ``to``, with what the newest review of each has found.

    :raises NotFound: the reader may not read the document, or there is no text of such a version.
    """
    try:
        shown = compared_versions(request, public_id)
    except Conflict as error:
        return render_home(request, TEMPLATE, title=TITLE, reason=error, document_id=public_id)
    return render_home(request, TEMPLATE, title=TITLE, **shown)


@home_action
def carry(request: HttpRequest, review_id: str) -> HttpResponseBase:
    """Carry over what people decided in the earlier review ``base``, and say what that was. Raises NotFound."""
    principal = principal_of(request)
    get_review(principal, review_id)
    with errors_as_messages(request):
        done = carry_triage(principal=principal, review_id=review_id, base_id=request.POST.get("base", "")[:100])
        messages.success(request, carried_in_words(done))
    return HttpResponseRedirect(reverse("review", args=[review_id]))
