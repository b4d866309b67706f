"""The guards that the tries have to notice when they are gone, each with how it is taken out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hub.access import services
from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Principal, local_operator
from hub.admin import access as people_pages
from hub.admin_site import visible as visible_rows_module
from hub.admin_site.base import HubModelAdmin
from hub.audit import events
from hub.evaluation.models import EvaluationDatasetQuerySet
from knowledge import grants
from knowledge.models import Collection
from knowledge.models.collections import CollectionQuerySet
from knowledge.models.documents import DocumentQuerySet
from knowledge.models.graph import GraphNodeQuerySet
from review.models.reviews import FindingQuerySet, ReviewQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A guard by what it keeps, and what puts something that lets everybody through in its place."""

    name: str
    take_out: Callable[[pytest.MonkeyPatch], None]


def _out(name: str, owner: Any, attribute: str, instead: Any) -> Guard:
    return Guard(name=name, take_out=lambda patch: patch.setattr(owner, attribute, instead))


def _everything(rows: Any, *_who: object, **_more: object) -> Any:
    return rows.all()


def _nothing(*_given: object, **_more: object) -> None:
    """Check nothing."""


def _yes(*_given: object, **_more: object) -> bool:
    return True


def _any_collection(_principal: Principal, slug: str, **_scope: object) -> Collection:
    return Collection.objects.get(slug=slug)


GUARDS = (
    _out("rows of collections", CollectionQuerySet, "visible_to", _everything),
    _out("rows of documents", DocumentQuerySet, "visible_to", _everything),
    _out("rows of reviews", ReviewQuerySet, "visible_to", _everything),
    _out("rows of findings", FindingQuerySet, "visible_to", _everything),
    _out("rows of the graph", GraphNodeQuerySet, "visible_to", _everything),
    _out("rows of evaluation datasets", EvaluationDatasetQuerySet, "visible_to", _everything),
    _out("lines of the audit trail", events, "visible_events", lambda _principal: AuditEvent.objects.all()),
    _out(
        "rows beside those of a page",
        visible_rows_module,
        "visible_rows",
        lambda _request, model: model._default_manager.all(),
    ),
    _out("rights of the hub", Principal, "may", _yes),
    _out("rights of the hub, where one is needed", Principal, "require_hub", _nothing),
    _out("pages of the admin", HubModelAdmin, "_ask", staticmethod(lambda _request, _question: True)),
    _out("who may change an account", people_pages, "may_change_account", _yes),
    _out("who may set a password", people_pages, "may_set_password", _yes),
    _out("who gives a role of the hub", people_pages, "save_hub_role", lambda *, principal, grant: grant.save()),
    _out("who sets a ceiling", people_pages, "save_ceiling", lambda *, principal, clearance: clearance.save()),
    _out("what a list is looked up by", HubModelAdmin, "lookup_allowed", _yes),
    _out("scopes that roles can use", people_pages, "usable_scopes", lambda _principal: ALL_SCOPES),
    _out("the last administrator of a collection", grants, "_check_not_last", _nothing),
    _out("who gives roles in a collection", grants, "get_collection", _any_collection),
    _out("whose a token is", services, "bearer_of", lambda _row, *, now: local_operator()),
)
