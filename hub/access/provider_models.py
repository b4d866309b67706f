"""What is kept of identity providers: their keys, whom they vouch for, until when, and what their groups mean here."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification
from hub.core.secrets import SecretTextField

PROVIDER_CHARS = 40


class ProviderState(models.Model):
    """What a provider said of itself and its keys when it was last asked; ``failure`` is why the last try failed."""

    provider = models.CharField(max_length=PROVIDER_CHARS, unique=True, editable=False)
    described = models.JSONField(default=dict, editable=False)
    keys = models.JSONField(default=list, editable=False)
    fetched_at = models.DateTimeField(null=True, editable=False)
    attempted_at = models.DateTimeField(null=True, editable=False)
    failure = models.CharField(max_length=300, blank=True, editable=False)


class ProviderAccount(models.Model):
    """Which person a provider means by a subject. ``groups`` is what it said last.

    ``gave_groups`` (keys), ``gave_superuser`` and ``gave_ceiling`` are what those brought the person and they did not
    have before, which is taken again when they no longer bring it.
    ``confirmed_at`` is when it last vouched for them; ``ended_at`` when it no longer did, null as long as it does.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="provider_account", verbose_name=_("user")
    )
    provider = models.CharField(_("identity provider"), max_length=PROVIDER_CHARS)
    subject = models.CharField(_("subject"), max_length=255)
    groups = ArrayField(models.CharField(max_length=200), default=list, editable=False, verbose_name=_("groups"))
    gave_groups = ArrayField(models.IntegerField(), default=list, editable=False)
    gave_superuser = models.BooleanField(default=False, editable=False)
    gave_ceiling = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, editable=False)

    class Meta:
        verbose_name = _("provider account")
        verbose_name_plural = _("provider accounts")
        constraints = [models.UniqueConstraint(fields=["provider", "subject"], name="one_account_per_subject")]

    def __str__(self) -> str:
        return f"{self.provider}: {self.user}"


class CredentialKind(models.TextChoices):
    """What a provider is asked about: a session that it began, or an access token that it issued."""

    SESSION = "session", _("session")
    BEARER = "bearer", _("access token")


class ProviderCredential(models.Model):
    """One thing that opens a door because a provider vouches for it, until ``ended_at``.

    A session has ``tokens`` to ask with, as JSON, encrypted in the table. Of an access token only the sha256 is kept:
    who uses it brings it.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE, related_name="credentials")
    kind = models.CharField(max_length=10, choices=CredentialKind.choices, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    tokens = SecretTextField(bound_to="digest", default="", editable=False)
    expires_at = models.DateTimeField(null=True, editable=False)
    checked_at = models.DateTimeField(editable=False)
    attempted_at = models.DateTimeField(editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)


class ProviderGroup(models.Model):
    """What a group of a provider brings its members here; who leaves it there loses it here."""

    provider = models.CharField(_("identity provider"), max_length=PROVIDER_CHARS)
    value = models.CharField(_("group at the provider"), max_length=200)
    group = models.ForeignKey(
        Group,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="provider_groups",
        verbose_name=_("group here"),
        help_text=_("Its members have the roles that this group has: of the hub, and in collections."),
    )
    ceiling = models.PositiveSmallIntegerField(_("ceiling"), choices=Classification.choices, null=True, blank=True)
    is_administrator = models.BooleanField(_("administrators of the hub"), default=False)

    class Meta:
        verbose_name = _("group of a provider")
        verbose_name_plural = _("groups of providers")
        ordering = ["provider", "value"]
        constraints = [models.UniqueConstraint(fields=["provider", "value"], name="one_meaning_per_provider_group")]

    def __str__(self) -> str:
        return f"{self.provider}: {self.value}"
