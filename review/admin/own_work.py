"""The page about what waits for the person who is signed in."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hub.admin_site.pages import admin_page, principal_of, render_page
from review.admin.desk import due_badge, with_document
from review.triage.own_work import SOON, own_work


@admin_page("own-work/", name="review_own_work")
@require_GET
@never_cache
def page(request: HttpRequest) -> HttpResponseBase:
    """Show findings, waivers and signatures that wait for the person, each with the way to its desk."""
    now = timezone.now()
    work = own_work(principal_of(request), now=now, cursor=request.GET.get("cursor") or None)
    return render_page(
        request,
        "admin/review/own_work.html",
        title=_("My work"),
        work=work,
        assigned=[(*with_document(one), due_badge(one)) for one in work.assigned.items],
        ending=[(*with_document(one), (one.expires_at - now).days if one.expires_at else 0) for one in work.ending],
        days=SOON.days,
    )
