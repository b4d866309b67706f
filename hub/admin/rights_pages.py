"""Who may what, and why: the table of rights as the code has it, one person's rights, and what that person sees."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from hub.access.names import called_like
from hub.access.permissions import HUB_ROLES, ROLE_SCOPES, HubRight, Role, Scope
from hub.admin_site.pages import admin_page, principal_of, render_page
from hub.people.matrix import groups_shown_to, roles_of_groups, roles_of_people
from hub.people.rights import collections_named_to, find_person, people_shown_to, rights_of_person
from hub.people.sight import MOST_SHOWN, seen_by
from hub.people.unseen import unseen_collections, whom_to_ask
from knowledge.models import Collection

PEOPLE_LISTED = 50
GROUPS_LISTED = 50
COLUMNS = 20
COLLECTIONS_LISTED = 100


@admin_page("rights/", name="hub_rights")
@require_safe
def rights_page(request: HttpRequest) -> HttpResponseBase:
    """Show people and groups by collections, and the table of rights.

    ``q`` and ``c`` are parts of the names of people and groups, as they are shown, and of collections; ``page`` and
    ``columns`` count on.
    """
    principal = principal_of(request)
    asked, wanted = (request.GET.get(name, "").strip()[:150] for name in ("q", "c"))
    people = _page(request, "page", called_like(people_shown_to(principal), asked), PEOPLE_LISTED)
    named = collections_named_to(principal).filter(Q(slug__icontains=wanted) | Q(name__icontains=wanted))
    columns = _page(request, "columns", named.order_by("slug"), COLUMNS)
    collections = list(columns)
    groups = list(groups_shown_to(principal).filter(name__icontains=asked)[: GROUPS_LISTED + 1])
    given = Collection.objects.visible_to(principal, Scope.ADMIN).filter(pk__in=[one.pk for one in collections])
    gives_hub_roles = principal.may(HubRight.PEOPLE)
    administered = set(given.values_list("pk", flat=True))
    return render_page(
        request,
        "admin/hub/rights.html",
        title=_("Who may what, and why"),
        asked=asked,
        wanted=wanted,
        people=people,
        columns=columns,
        query_of_people=_query(request, "page"),
        query_of_columns=_query(request, "columns"),
        collections=[(one, one.pk in administered) for one in collections],
        rows=roles_of_people(principal, list(people), collections),
        group_rows=roles_of_groups(principal, groups[:GROUPS_LISTED], collections),
        has_more_groups=len(groups) > GROUPS_LISTED,
        may_give_hub_roles=gives_hub_roles,
        width=len(collections) + (2 if gives_hub_roles else 1),
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


def _page(request: HttpRequest, name: str, rows: QuerySet[Any], size: int) -> Page[Any]:
    return Paginator(rows, size).get_page(request.GET.get(name, "1")[:9])


def _query(request: HttpRequest, counted: str) -> str:
    """The query of the page without the part that counts on, to be put before that."""
    rest = request.GET.copy()
    rest.pop(counted, None)
    return f"{rest.urlencode()}&" if rest else ""


@admin_page("rights/<int:user_id>/", name="hub_rights_of")
@require_safe
def rights_of_page(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Show what one person may do now, each right with its reasons."""
    principal = principal_of(request)
    person = find_person(principal, pk=user_id)
    found = rights_of_person(principal, person)
    unseen = unseen_collections(principal, person)
    return render_page(
        request,
        "admin/hub/rights_of.html",
        title=_("What {name} may do").format(name=person),
        found=found,
        may_give_hub_roles=principal.may(HubRight.PEOPLE),
        page=Paginator(found.collections, COLLECTIONS_LISTED).get_page(request.GET.get("page", "1")[:9]),
        unseen=whom_to_ask(person, list(unseen[:COLLECTIONS_LISTED])),
        unseen_count=unseen.count(),
    )


@admin_page("rights/<int:user_id>/sees/", name="hub_seen_by")
@require_safe
def seen_by_page(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Show the documents and reviews that both the person and the caller may read. Nothing can be done here."""
    principal = principal_of(request)
    person = find_person(principal, pk=user_id)
    return render_page(
        request,
        "admin/hub/seen_by.html",
        title=_("What {name} sees").format(name=person),
        person=person,
        seen=seen_by(principal, person),
        most_shown=MOST_SHOWN,
    )
