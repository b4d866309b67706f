"""Tokens, ceilings, audit: what every door needs before it may ask the apps for anything."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.factor_models import (  # noqa: F401 (Django looks for models here)
    Authenticator,
    HubSession,
    RecoveryCode,
)
from hub.access.principals import Classification, HubRole, Principal, Scope
from hub.access.provider_models import (  # noqa: F401 (Django looks for models here)
    ProviderAccount,
    ProviderCredential,
    ProviderGroup,
    ProviderState,
)
from hub.core.bounds import check_row

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class Clearance(models.Model):
    """The highest classification a person may see; without a row it is c2."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, verbose_name=_("user"))
    ceiling = models.PositiveSmallIntegerField(_("ceiling"), choices=Classification.choices, default=Classification.C2)

    class Meta:
        verbose_name = _("clearance")
        verbose_name_plural = _("clearances")

    def __str__(self) -> str:
        return f"{self.user}: {self.get_ceiling_display()}"


class GrantQuerySet(models.QuerySet[Any]):
    """Grants of roles; what counts is what is in force by the database's clock."""

    def in_force(self) -> Self:
        """Keep the grants that have not ended, and of those handed on the ones whose giver still has the role."""
        same = {name: models.OuterRef(models.OuterRef(name)) for name in self.model.SAME}
        own = self.model._base_manager.filter(NOT_ENDED, delegator__isnull=True, **same)
        holds = models.Q(pk__in=own.values("user_id")) | models.Q(groups__in=own.values("group_id"))
        # not Exists: its constant would be a second parameter of the statement that finds a token
        holders = User.objects.filter(holds, is_active=True).order_by().values("pk")
        return self.filter(NOT_ENDED, models.Q(delegator__isnull=True) | models.Q(delegator__in=holders))

    def held_by(self, principal: Principal) -> Self:
        """Keep the grants in force of a person, or of a group of theirs. None for a caller who is no person."""
        if principal.user_id is None:
            return self.none()
        own = models.Q(user_id=principal.user_id) | models.Q(group_id__in=list(principal.group_ids))
        return self.in_force().filter(own)

    def holders(self) -> models.QuerySet[User]:
        """The people who have one of these grants, themselves or by a group, those who may not sign in among them."""
        holds = models.Q(pk__in=self.values("user_id")) | models.Q(groups__in=self.values("group_id"))
        return User.objects.filter(pk__in=User.objects.order_by().filter(holds).values("pk"))

    def limited(self) -> Self:
        """Keep the grants that end, or have ended: those until a moment, and those handed on."""
        return self.filter(until__isnull=False)

    def own_of(self, principal: Principal) -> Self:
        """Keep of those the grants that nobody handed on to the person."""
        return self.held_by(principal).filter(delegator__isnull=True)


NOT_ENDED = models.Q(until__isnull=True) | models.Q(until__gt=Now())


def _person(verbose_name: StrPromise) -> models.ForeignKey[User | None, User | None]:
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=verbose_name,
    )


class Grant(models.Model):
    """A role of a person or of a group. ``SAME`` names the fields that say which role it is, and where.

    It ends at ``until``, if that is set. With a ``delegator`` it was handed on by a person, and counts only as long as
    they have the role themselves. Who gave it last, when and why, and who ended it before its time, is kept with it;
    ``given_by`` and ``ended_by`` are None for what was done by a command, or before this was kept.
    """

    SAME: ClassVar[tuple[str, ...]]

    until = models.DateTimeField(_("until"), null=True, blank=True)
    delegator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("handed on by"),
    )
    reason = models.CharField(_("reason"), max_length=200, default="", db_default="", blank=True)
    given_by = _person(_("given by"))
    given_at = models.DateTimeField(_("given on"), null=True, editable=False)
    ended_by = _person(_("ended by"))

    objects = GrantQuerySet.as_manager()

    class Meta:
        abstract = True

    def give(
        self, principal: Principal, *, until: datetime | None, reason: str, delegator_id: int | None = None
    ) -> None:
        """Save the grant as given now by the caller, who may; bounds are checked."""
        self.until, self.reason, self.delegator_id, self.ended_by = until, reason, delegator_id, None
        self.given_by_id, self.given_at = principal.user_id, timezone.now()
        check_row(self, only=("reason",))
        self.save()

    def end(self, principal: Principal) -> bool:
        """End the grant now, by the database's clock, and keep it; False for one that ended. Call in a transaction."""
        rows = type(self)._base_manager.filter(pk=self.pk)
        # Asked in a statement after the wait for the lock: a statement that waits goes by the time when it began.
        if not rows.select_for_update().exists() or not rows.filter(NOT_ENDED).exists():
            return False
        self.until, self.ended_by_id = Now(), principal.user_id
        self.save(update_fields=["until", "ended_by"])  # heard by open streams
        self.refresh_from_db(fields=["until"])
        return True


class HubRoleGrant(Grant):
    """A role of the whole hub that an administrator gave to a person or to a group."""

    SAME = ("role",)

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="hub_role_grants",
        verbose_name=_("user"),
    )
    group = models.ForeignKey(
        Group,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="hub_role_grants",
        verbose_name=_("group"),
    )
    role = models.CharField(_("role"), max_length=20, choices=HubRole.choices, default=HubRole.CURATOR)

    class Meta:
        verbose_name = _("hub role")
        verbose_name_plural = _("hub roles")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, group__isnull=True)
                | models.Q(user__isnull=True, group__isnull=False),
                name="hub_role_is_for_a_user_or_a_group",
                violation_error_message=_("Choose a user or a group, not both."),
            ),
            models.UniqueConstraint(fields=["user", "role"], name="one_hub_role_per_user"),
            models.UniqueConstraint(fields=["group", "role"], name="one_hub_role_per_group"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.get_role_display()}"


class AccessToken(models.Model):
    """A bearer token of a person. Only its sha256 is stored; the token itself is shown once."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    password_stamp = models.CharField(max_length=64, editable=False)
    hint = models.CharField(_("begins with"), max_length=12, editable=False)
    name = models.CharField(_("name"), max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens", verbose_name=_("user")
    )
    scopes = ArrayField(
        models.CharField(max_length=20, choices=[(scope.value, scope.value) for scope in Scope]),
        verbose_name=_("scopes"),
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires"), blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("access token")
        verbose_name_plural = _("access tokens")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at <= now


class AuditKind(models.TextChoices):
    """How long a line is kept. ``BEFORE`` are lines of versions that did not chain them."""

    BEFORE = "", _("before the chain")
    READ = "read", _("reading")
    CHANGE = "change", _("change")
    ACCESS = "access", _("sign-in and rights")
    KEPT = "kept", _("kept for good")


class AuditEvent(models.Model):
    """One line of the audit trail: who did what to which resource, when, through which door. Never changed.

    ``code`` proves the other columns but the number, see :mod:`hub.access.audit_lines`; seals prove the number, and
    that the line is there, see :mod:`hub.access.audit_seals`.
    """

    at = models.DateTimeField(_("at"), default=timezone.now, editable=False)
    action = models.CharField(_("action"), max_length=40, editable=False)
    principal = models.CharField(_("who"), max_length=150, editable=False)
    # The line stays as it was written when the person is gone: nothing may change it.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        editable=False,
        verbose_name=_("user"),
    )
    resource = models.CharField(_("resource"), max_length=200, blank=True, editable=False)
    details = models.JSONField(_("details"), default=dict, editable=False)
    door = models.CharField(_("door"), max_length=10, blank=True, editable=False)
    request_id = models.CharField(_("request id"), max_length=64, blank=True, editable=False)
    address = models.GenericIPAddressField(_("address"), null=True, editable=False)
    agent = models.CharField(_("agent"), max_length=200, blank=True, editable=False)
    purpose = models.CharField(_("purpose"), max_length=200, default="", db_default="", blank=True, editable=False)
    kind = models.CharField(
        _("kind"), max_length=10, choices=AuditKind.choices, default=AuditKind.BEFORE, db_default="", editable=False
    )
    code = models.CharField(_("code"), max_length=80, default="", db_default="", blank=True, editable=False)
    named = ""
    """What the resource is called, for a reader who may know: pages set it. Not stored."""

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["action", "-id"]),
            models.Index(fields=["resource", "-id"]),
            models.Index(fields=["principal", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{timezone.localtime(self.at):%Y-%m-%d %H:%M} {self.named or self.resource}".strip()


class AuditSeal(models.Model):
    """A batch of lines that is complete: what it holds, and the seal before it. Never changed.

    ``parts`` has for each kind of lines {count, digest}, the digest that of the row of :class:`AuditSealedLines`.
    ``gaps`` are the numbers from ``first`` to ``last``, as [first, last], that had no line then; ``late`` the numbers
    from gaps of earlier seals whose transactions ended since. ``digest`` is of all this and ``previous``.
    """

    number = models.BigIntegerField(_("number"), primary_key=True, editable=False)
    at = models.DateTimeField(_("at"), editable=False)
    first = models.BigIntegerField(_("first line"), editable=False)
    last = models.BigIntegerField(_("last line"), editable=False)
    count = models.PositiveIntegerField(_("lines"), editable=False)
    parts = models.JSONField(editable=False)
    gaps = models.JSONField(editable=False)
    late = models.JSONField(editable=False)
    previous = models.CharField(max_length=64, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    code = models.CharField(max_length=80, editable=False)

    class Meta:
        verbose_name = _("seal of the audit trail")
        verbose_name_plural = _("seals of the audit trail")

    def __str__(self) -> str:
        return f"{self.number}: {self.first}–{self.last}"


class AuditSealedLines(models.Model):
    """The lines of one kind in a seal: the number (8 bytes) and the first half of the SHA-256 (16 bytes) of each.

    They go with their lines when their kind's time is over; the seal keeps their digest.
    """

    seal = models.ForeignKey(AuditSeal, on_delete=models.DO_NOTHING, editable=False)
    kind = models.CharField(max_length=10, choices=AuditKind.choices, editable=False)
    lines = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["seal", "kind"], name="one_row_of_lines_per_seal_and_kind")]


class IdempotencyRecord(models.Model):
    """The answer to a write that carried an Idempotency-Key, kept so that a repeat gets the same answer.

    ``status`` is null while the first request is still at work. ``rights`` are those that its caller had then, null
    where an older version kept the answer.
    """

    key = models.CharField(max_length=200)
    principal = models.CharField(max_length=150)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)
    rights = ArrayField(models.CharField(max_length=100), null=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["principal", "key"], name="one_answer_per_idempotency_key")]
