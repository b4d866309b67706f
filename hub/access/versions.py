"""Curating what comes in versions: drafts, their publication, and the second person that it takes.

Publishing what everybody shares takes two people: who wrote a draft is not who puts it in force. People are compared by
user id. Administrators of the hub and the local operator may publish alone, since they could switch HUB_SECOND_PERSON
off as well; the audit trail says that they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, models, transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from hub.access.names import name_with_login
from hub.access.permissions import hub_roles_with
from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict


class PublicationStatus(models.TextChoices):
    """A version is edited as a draft, then in force and unchangeable, then kept for what points at it."""

    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    RETIRED = "retired", _("retired")


class Written(models.Model):
    """A draft that people write before somebody publishes it; ``writer_ids`` are the users who did, in order of id.

    Subclasses name in ``RIGHT`` the right of the hub that publishing asks for.
    """

    RIGHT: ClassVar[HubRight]

    writer_ids = ArrayField(models.IntegerField(), default=list, blank=True, editable=False)

    class Meta:
        abstract = True


class Version(Written):
    """One version of a thing; of all versions of one thing at most one is published.

    Once published it is never changed: a new version is made of it. Subclasses name in ``THING`` the field that their
    versions of one thing have in common, in ``AUDITED_AS`` what the audit trail calls such a thing, and in ``ACTIONS``
    what its actions begin with.
    """

    THING: ClassVar[str]
    AUDITED_AS: ClassVar[str]
    ACTIONS: ClassVar[str]

    number = models.PositiveIntegerField(_("version"), default=1, editable=False)
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT, editable=False
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    published_at = models.DateTimeField(_("published"), null=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.thing} v{self.number}"

    @property
    def thing(self) -> str:
        """What this is a version of, by its code."""
        return str(getattr(self, self.THING))

    @property
    def is_draft(self) -> bool:
        return self.status == PublicationStatus.DRAFT

    def versions(self) -> QuerySet[Self]:
        """All stored versions of the same thing, this one among them once it is stored."""
        return type(self)._default_manager.filter(**{self.THING: getattr(self, self.THING)})

    @property
    def audited(self) -> str:
        """What the audit trail names as changed."""
        return f"{self.AUDITED_AS}:{self}"

    def change_status(self, status: PublicationStatus, *, by: str) -> None:
        """Store a state, with its time and who did it where the model has fields for that."""
        changes = _columns(type(self), status, by=by)
        for name, value in changes.items():
            setattr(self, name, value)
        self.save(update_fields=None if self._state.adding else changes)


class CuratedVersion(Version):
    """A version with an author, whose publication the audit trail keeps as that of a master."""

    ACTIONS = "MASTER"

    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("author"),
    )

    class Meta:
        abstract = True


def next_number(versions: QuerySet[Any]) -> int:
    """The number for a new version beside the given ones, counted from 1. One query; a unique constraint decides."""
    newest: int | None = versions.aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + 1


def put_in_force(version: Version, *, by: str = "hub") -> None:
    """Store a version as the published one of its thing; the one before is retired. Call in a transaction."""
    retired = _columns(type(version), PublicationStatus.RETIRED, by=by)
    version.versions().filter(status=PublicationStatus.PUBLISHED).update(**retired)
    version.change_status(PublicationStatus.PUBLISHED, by=by)


def _columns(model: type[Version], status: PublicationStatus, *, by: str) -> dict[str, Any]:
    fields = {field.name for field in model._meta.concrete_fields}
    values = {"status": status, f"{status}_at": timezone.now(), f"{status}_by": by[:_LONGEST_NAME]}
    return {name: value for name, value in values.items() if name in fields}


_LONGEST_NAME = 150
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


def may_publish_own(principal: Principal) -> bool:
    """Whether the caller may publish what they wrote themselves."""
    return principal.is_superuser or not settings.CONFIG.hub_second_person


def may_publish(principal: Principal, draft: Written) -> bool:
    """Whether the caller may publish a draft: what others wrote, and their own where one person may."""
    return may_publish_own(principal) or principal.user_id not in draft.writer_ids


def require_second_person(principal: Principal, drafts: Iterable[Written]) -> dict[str, object]:
    """Raise Conflict when the caller wrote one of the drafts that they publish, and somebody else has to.

    Gives what the audit trail keeps: ``written_by`` (user ids), and whether it was ``published_alone``.
    """
    published = list(drafts)
    if refusal := refusal_of_publisher(principal, published):
        raise refusal
    writers = _writers(published)
    return {"written_by": writers, "published_alone": principal.user_id is None or principal.user_id in writers}


def refusal_of_publisher(principal: Principal, drafts: Sequence[Written]) -> Conflict | None:
    """Why the caller may not publish drafts together: they wrote one of them. It names who may; None where they may."""
    own = [draft for draft in drafts if not may_publish(principal, draft)]
    if not own:
        return None
    return Conflict(
        _("Somebody else must publish what you wrote: {drafts}. It stays a draft. {people} can publish it."),
        code="second_person_needed",
        drafts=", ".join(str(draft) for draft in own[:DRAFTS_NAMED]),
        people=_people(own[0].RIGHT, _writers(drafts)),
    )


def _writers(drafts: Sequence[Written]) -> list[int]:
    return sorted({writer for draft in drafts for writer in draft.writer_ids})


def require_withdrawal(principal: Principal, what: object) -> None:
    """Raise Conflict unless the caller may take out of force what nothing replaces: an administrator, of two people.

    All offices would be without it, and putting something in its place takes two people again.
    """
    if refusal := refusal_of_withdrawal(principal, what):
        raise refusal


def refusal_of_withdrawal(principal: Principal, what: object) -> Conflict | None:
    """Why the caller may not take something out of force that nothing replaces; None where they may."""
    if principal.is_superuser or not settings.CONFIG.hub_second_person:
        return None
    return Conflict(
        _(
            "Only an administrator of the hub takes {what} out of force without anything in its place. A new "
            "version that is published replaces it."
        ),
        code="second_person_needed",
        what=what,
    )


def _people(right: HubRight, writers: Sequence[int]) -> str:
    """Name some who may publish: holders of the right who are not among the writers, and administrators."""
    roles = hub_roles_with(right)
    holds = Q(hub_role_grants__role__in=roles) | Q(groups__hub_role_grants__role__in=roles)
    found = User.objects.filter(holds | Q(is_superuser=True), is_active=True).exclude(pk__in=writers)
    people = found.order_by("username").distinct()[:PEOPLE_NAMED]
    return ", ".join(map(name_with_login, people)) or _now("An administrator of the hub")


Curated = TypeVar("Curated", bound=CuratedVersion)
_NO_FACTS: Mapping[str, object] = {}


def save_draft(*, principal: Principal, version: CuratedVersion) -> None:
    """Store a draft, a new one under the next number; the caller becomes its author.

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
            record_event(principal, "MASTER_CHANGE", version.audited)
    except IntegrityError as error:
        raise Conflict(
            _('There is a draft of "{thing}" already; edit that one.'), code="draft_exists", thing=version.thing
        ) from error


def find_draft(version: Curated) -> Curated | None:
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


def publish(*, principal: Principal, version: Version, facts: Mapping[str, object] = _NO_FACTS) -> None:
    """Put a version in force, with a line in the audit trail that holds ``facts``. Call in a transaction.

    Raises Conflict when the caller wrote it, and somebody else has to publish it.
    """
    people = require_second_person(principal, [version])
    put_in_force(version, by=principal.name)
    record_event(principal, f"{version.ACTIONS}_PUBLISH", version.audited, **people, **facts)


def retire(*, principal: Principal, version: Version, facts: Mapping[str, object] = _NO_FACTS) -> None:
    """Take a version out of use for good, with a line in the audit trail. Call in a transaction.

    Raises Conflict when it is in force and the caller may not withdraw it.
    """
    if refusal := refusal_to_retire(principal, version):
        raise refusal
    version.change_status(PublicationStatus.RETIRED, by=principal.name)
    record_event(principal, f"{version.ACTIONS}_RETIRE", version.audited, **facts)


def refusal_to_retire(principal: Principal, version: Version) -> Conflict | None:
    """Why the caller may not retire a version: it is in force, and not theirs to withdraw; None where they may."""
    return refusal_of_withdrawal(principal, version) if version.status == PublicationStatus.PUBLISHED else None


def refusals(principal: Principal, version: Version) -> dict[str, Any]:
    """What pages of a version say in place of its buttons: the Conflict by which publishing or retiring it would be
    refused, or None.
    """
    return {
        "publisher_refused": refusal_of_publisher(principal, [version]) if version.is_draft else None,
        "retirement_refused": refusal_to_retire(principal, version),
    }


def lock_versions(version: CuratedVersion) -> dict[int, str]:
    """Lock all stored versions of a thing until the transaction ends; gives their states by key."""
    return dict(version.versions().order_by("pk").select_for_update().values_list("pk", "status"))


def _no_draft(version: CuratedVersion) -> Conflict:
    return Conflict(_("{version} is no draft; make a new version of it."), code="not_a_draft", version=str(version))
