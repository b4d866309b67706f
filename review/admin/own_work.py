"""The page about what waits for the person who is signed in."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hub.admin_site.pages import admin_page, principal_of, render_page
from review.admin.desk import due_badge
from review.models import Finding
from review.triage.own_work import SOON, own_work


@admin_page("own-work/", name="review_own_work")
@require_GET
@never_cache
def page(request: HttpRequest) -> HttpResponseBase:
    """Show findings, waivers and signatures that wait for the person, each with the way to its desk."""
    now = timezone.now()
    work = own_work(principal_of(request), now=now)
    return render_page(
        request,
        "admin/review/own_work.html",
        title=_("My work"),
        work=work,
        assigned=[(*_shown(one), due_badge(one)) for one in work.assigned],
        ending=[(*_shown(one), (one.expires_at - now).days if one.expires_at else 0) for one in work.ending],
        days=SOON.days,
    )


def _shown(finding: Finding) -> tuple[Finding, Any, str]:
    """A finding with its review and the title of its document."""
    review = finding.result.review
    return finding, review, review.version.document.title if review.version else review.document_id_text
