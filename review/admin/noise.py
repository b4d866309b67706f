"""The page about rules and check items whose findings people reject."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hub.admin_site.pages import admin_page, render_page
from review.admin.desk import with_document
from review.admin.workbench import curator_of
from review.triage.noise import LEAST_DECIDED, Rejections, newest_versions, noise_list, rejected_findings


@admin_page("noise/", name="review_noise")
@require_GET
@never_cache
def page(request: HttpRequest) -> HttpResponseBase:
    """List rules and check items by how often they were rejected; with ``rule`` or ``item`` what was rejected of it."""
    principal = curator_of(request)
    found = noise_list(principal)
    versions = newest_versions(row.name for row in found.items)
    rule, item = request.GET.get("rule", ""), request.GET.get("item", "")
    rejected = rejected_findings(principal, rule=rule, item=item) if rule or item else ()
    return render_page(
        request,
        "admin/review/noise.html",
        title=_("Rules that people reject"),
        rules=[(row, _share(row), [versions[code] for code in row.partners]) for row in found.rules],
        items=[(row, _share(row), versions[row.name]) for row in found.items],
        least=LEAST_DECIDED,
        chosen=rule or item,
        rejected=[with_document(one) for one in rejected],
    )


def _share(row: Rejections) -> str:
    return str(_("too few decisions")) if row.share is None else f"{row.share:.0%}"
