"""Second factors of local accounts, and the sessions of the admin."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.secrets import SecretTextField


class Authenticator(models.Model):
    """What makes a person's codes. ``last_step`` is the time step of the last code used: it opens nothing more.

    As long as ``confirmed_at`` is null it is being set up since ``begun_at``, and no code is asked for.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticator")
    secret = SecretTextField(bound_to="user", editable=False)
    last_step = models.BigIntegerField(default=0, editable=False)
    begun_at = models.DateTimeField(default=timezone.now, editable=False)
    confirmed_at = models.DateTimeField(null=True, editable=False)


class RecoveryCode(models.Model):
    """The sha256 of a code that takes the place of the authenticator's, once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="one_recovery_code_per_digest")]


class HubSession(AbstractBaseSession):
    """A session of the admin, with who began it, when and from where, so that it can be shown and ended."""

    user_id = models.IntegerField(_("user"), null=True, db_index=True, editable=False)
    started_at = models.DateTimeField(_("began"), null=True, editable=False)
    address = models.CharField(_("address"), max_length=45, blank=True, editable=False)
    agent = models.CharField(_("agent"), max_length=200, blank=True, editable=False)
    provider = models.CharField(_("identity provider"), max_length=40, blank=True, editable=False)
