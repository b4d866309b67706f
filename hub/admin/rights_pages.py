"""Who may what, and why: the table of rights as the code has it, one person's rights, and what that person sees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from hub.access.permissions import HUB_ROLES, ROLE_SCOPES, HubRight, Role, Scope
from hub.admin_site.pages import admin_page, principal_of, render_page
from hub.core.errors import Forbidden, NotFound
from hub.people.rights import find_person, people_shown_to, rights_of_person
from hub.people.sight import MOST_SHOWN, seen_by
from knowledge.models import Collection

PEOPLE_LISTED = 50
COLLECTIONS_LISTED = 100


@contextmanager
def _refused_as_pages() -> Iterator[None]:
    """Answer a person who may not look with 403, and a question for nobody with 404."""
    try:
        yield
    except Forbidden as error:
        raise PermissionDenied(str(error)) from error
    except NotFound as error:
        raise Http404(str(error)) from error


@admin_page("rights/", name="hub_rights")
@require_safe
def rights_page(request: HttpRequest) -> HttpResponseBase:
    """Show the table of rights, and find people by a part of their names (``?q=``)."""
    principal, asked = principal_of(request), request.GET.get("q", "").strip()[:150]
    with _refused_as_pages():
        people = people_shown_to(principal)
    collections = Collection.objects.visible_to(principal, Scope.ADMIN).order_by("slug")
    found = list(people.filter(username__icontains=asked)[: PEOPLE_LISTED + 1])
    return render_page(
        request,
        "admin/hub/rights.html",
        title=_("Who may what, and why"),
        asked=asked,
        collections=Paginator(collections, COLLECTIONS_LISTED).get_page(request.GET.get("page", "1")[:9]),
        may_give_hub_roles=principal.may(HubRight.PEOPLE),
        people=found[:PEOPLE_LISTED],
        is_cut=len(found) > PEOPLE_LISTED,
        roles=[Role(role).label for role in ROLE_SCOPES],
        operations=[
            (one.label, [(Role(role).label, one in carried) for role, carried in ROLE_SCOPES.items()]) for one in Scope
        ],
        hub_roles=[role.label for role in HUB_ROLES],
        hub_operations=[
            (one.label, [(role.label, one in carried.rights) for role, carried in HUB_ROLES.items()])
            for one in HubRight
        ],
    )


@admin_page("rights/<int:user_id>/", name="hub_rights_of")
@require_safe
def rights_of_page(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Show what one person may do now, each right with its reasons."""
    principal = principal_of(request)
    with _refused_as_pages():
        person = find_person(principal, pk=user_id)
    found = rights_of_person(principal, person)
    return render_page(
        request,
        "admin/hub/rights_of.html",
        title=_("What {name} may do").format(name=person),
        found=found,
        may_give_hub_roles=principal.may(HubRight.PEOPLE),
        page=Paginator(found.collections, COLLECTIONS_LISTED).get_page(request.GET.get("page", "1")[:9]),
    )


@admin_page("rights/<int:user_id>/sees/", name="hub_seen_by")
@require_safe
def seen_by_page(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Show the documents and reviews that both the person and the caller may read. Nothing can be done here."""
    principal = principal_of(request)
    with _refused_as_pages():
        person = find_person(principal, pk=user_id)
    return render_page(
        request,
        "admin/hub/seen_by.html",
        title=_("What {name} sees").format(name=person),
        person=person,
        seen=seen_by(principal, person),
        most_shown=MOST_SHOWN,
    )
