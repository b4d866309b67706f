"""Two versions of a document side by side, in the administration."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import admin_page, principal_of, render_page
from hub.core.errors import Conflict, NotFound
from review.report.conditions import differing_conditions
from review.triage.side_by_side import versions_side_by_side

TEMPLATE = "admin/review/compare.html"
TITLE = _("Versions side by side")
ROWS_PER_PAGE = 300


@admin_page("versions/<str:public_id>/compare/", name="review_compare_versions")
@require_safe
@never_cache
def page(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Show what changed from version ``from`` to version ``to``, with what the newest review of each has found."""
    try:
        shown = compared_versions(request, public_id)
    except NotFound as error:
        raise Http404(str(error)) from error
    except Conflict as error:
        return render_page(request, TEMPLATE, title=TITLE, reason=str(error), document_id=public_id)
    query = f"from={shown['compared'].before}&to={shown['compared'].after}&"
    return render_page(request, TEMPLATE, title=TITLE, query=query, **shown)


def compared_versions(request: HttpRequest, public_id: str) -> dict[str, Any]:
    """Compare the versions ``from`` and ``to`` for a template: both, how many lines changed how, a page of rows, in
    which conditions the reviews of both differ, and which versions have none.

    Raises as `versions_side_by_side`.
    """
    before, after = (whole_number(request.GET.get(name), digits=9) for name in ("from", "to"))
    principal = principal_of(request)
    found = versions_side_by_side(principal, public_id, before=before, after=after)
    page = Paginator(found.rows, ROWS_PER_PAGE).get_page(request.GET.get("page", "1")[:9])
    old, new = found.reviews
    conditions = differing_conditions(principal, old, new) if old and new else []
    return {
        "compared": found.versions,
        "counts": found.counts,
        "page": page,
        "conditions": conditions,
        "not_reviewed": found.not_reviewed,
    }
