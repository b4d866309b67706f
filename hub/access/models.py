"""Tokens, ceilings, audit: what every door needs before it may ask the apps for anything."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, HubRole, Scope
from hub.access.provider_models import (  # noqa: F401 (Django looks for models here)
    ProviderAccount,
    ProviderCredential,
    ProviderGroup,
    ProviderState,
)


class Clearance(models.Model):
    """The highest classification a person may see; without a row it is c2."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, verbose_name=_("user"))
    ceiling = models.PositiveSmallIntegerField(_("ceiling"), choices=Classification.choices, default=Classification.C2)

    class Meta:
        verbose_name = _("clearance")
        verbose_name_plural = _("clearances")

    def __str__(self) -> str:
        return f"{self.user}: {self.get_ceiling_display()}"


class HubRoleGrant(models.Model):
    """A role of the whole hub that an administrator gave to a person or to a group."""

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


class AuditEvent(models.Model):
    """One line of the audit trail: who did what to which resource, when, through which door. Never changed."""

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

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        ordering = ["-id"]
        indexes = [models.Index(fields=["action", "-id"]), models.Index(fields=["resource", "-id"])]

    def __str__(self) -> str:
        return f"{self.action} {self.resource}"


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
