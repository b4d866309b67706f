"""Curating what comes in versions: saving drafts and publishing them, for every kind of it alike."""

from __future__ import annotations

from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.second_person import note_writer, require_second_person
from hub.access.services import record_event
from hub.core.errors import Conflict
from hub.core.publication import CuratedVersion, PublicationStatus, next_number, put_in_force

Version = TypeVar("Version", bound=CuratedVersion)


def save_draft(*, principal: Principal, version: CuratedVersion) -> None:
    """Store a draft, a new one under the next number; whoever saves it is its author.

    Who may is for the caller to check. Raises Conflict: it is no draft (any more), or its thing has one already.
    """
    try:
        with transaction.atomic():
            stored = lock_versions(version)
            if not version.is_draft or stored.get(version.pk, PublicationStatus.DRAFT) != PublicationStatus.DRAFT:
                raise _no_draft(version)
            version.author_id = principal.user_id
            note_writer(version, principal)
            if version._state.adding:
                version.number = next_number(version.versions())
            version.save()
            record_event(principal=principal, action="CONFIG_CHANGE", resource=_audited(version))
    except IntegrityError as error:
        raise Conflict(
            _('There is a draft of "{thing}" already; edit that one.'), code="draft_exists", thing=version.thing
        ) from error


def draft_beside(version: Version) -> Version | None:
    """The draft of the same thing, if there is one."""
    return version.versions().filter(status=PublicationStatus.DRAFT).first()


def take_draft(version: CuratedVersion) -> None:
    """Lock all versions of a thing, and read the draft among them again that is to be published.

    Call in a transaction. Raises Conflict when it is no draft (any more).
    """
    lock_versions(version)
    version.refresh_from_db()
    if not version.is_draft:
        raise _no_draft(version)


def publish(*, principal: Principal, version: CuratedVersion, **facts: str) -> None:
    """Put a version in force, with a line in the audit trail that holds ``facts``. Call in a transaction.

    Raises Conflict when the caller wrote it, and somebody else has to publish it.
    """
    people = require_second_person(principal, [version])
    put_in_force(version)
    record_event(principal=principal, action="MASTER_PUBLISH", resource=_audited(version), **people, **facts)


def lock_versions(version: CuratedVersion) -> dict[int, str]:
    """Lock all stored versions of a thing until the transaction ends; gives their states by key."""
    return dict(version.versions().order_by("pk").select_for_update().values_list("pk", "status"))


def _audited(version: CuratedVersion) -> str:
    return f"{version.AUDITED_AS}:{version}"


def _no_draft(version: CuratedVersion) -> Conflict:
    return Conflict(_("{version} is no draft; make a new version of it."), code="not_a_draft", version=str(version))
