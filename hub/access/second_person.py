"""Publishing what everybody shares takes two people: who wrote a draft is not who puts it in force.

People are compared by user id. Administrators of the hub and the local operator may publish alone, since they could
switch HUB_SECOND_PERSON off as well; the audit trail says that they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRole, Principal
from hub.core.errors import Conflict
from hub.core.publication import Written

PEOPLE_NAMED = 5
DRAFTS_NAMED = 10


def note_writer(draft: Written, principal: Principal) -> None:
    """Count the caller among those who wrote a draft; who calls this saves it, in the same transaction.

    Those who are stored count, too, whatever the row in memory says. Nobody is noted for a caller who is no person.
    """
    stored: Sequence[int] = ()
    if not draft._state.adding:
        rows = type(draft)._default_manager.select_for_update(of=("self",)).filter(pk=draft.pk)
        stored = rows.values_list("writer_ids", flat=True).get()
    draft.writer_ids = sorted({*stored, *writers_of(principal)})


def writers_of(principal: Principal) -> list[int]:
    """Who writes when this caller does: one person, or nobody who is known."""
    return [] if principal.user_id is None else [principal.user_id]


def require_second_person(principal: Principal, drafts: Iterable[Written]) -> dict[str, object]:
    """Raise Conflict when the caller wrote one of the drafts that they publish, and somebody else has to.

    Gives what the audit trail keeps: ``written_by`` (user ids), and whether it was ``published_alone``.
    """
    published = list(drafts)
    writers = sorted({writer for draft in published for writer in draft.writer_ids})
    own = [draft for draft in published if principal.user_id in draft.writer_ids]
    if own and not principal.is_superuser and settings.CONFIG.hub_second_person:
        raise Conflict(
            _("Somebody else must publish what you wrote: {drafts}. It stays a draft. {people} can publish it."),
            code="second_person_needed",
            drafts=", ".join(str(draft) for draft in own[:DRAFTS_NAMED]),
            people=_people(writers),
        )
    return {"written_by": writers, "published_alone": principal.user_id is None or principal.user_id in writers}


def require_withdrawal(principal: Principal, what: object) -> None:
    """Raise Conflict unless the caller may take out of force what nothing replaces: an administrator, of two people.

    All offices would be without it, and putting something in its place takes two people again.
    """
    if not principal.is_superuser and settings.CONFIG.hub_second_person:
        raise Conflict(
            _(
                "Only an administrator of the hub takes {what} out of force without anything in its place. A new "
                "version that is published replaces it."
            ),
            code="second_person_needed",
            what=what,
        )


def _people(writers: Sequence[int]) -> str:
    """Name some who may publish: curators of the hub who are not among the writers, and administrators."""
    curates = Q(hub_role_grants__role=HubRole.CURATOR) | Q(groups__hub_role_grants__role=HubRole.CURATOR)
    found = User.objects.filter(curates | Q(is_superuser=True), is_active=True).exclude(pk__in=writers)
    names = list(found.order_by("username").values_list("username", flat=True).distinct()[:PEOPLE_NAMED])
    return ", ".join(names) or _now("An administrator of the hub")
