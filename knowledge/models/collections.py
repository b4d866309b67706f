"""Collections with who may do what in them, and the folders and buckets that fill them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.models import Grant
from hub.access.principals import Classification, Principal, Role, Scope, roles_with
from hub.core.bounds import LONG_TEXT, Bounds, longest_text
from hub.core.given_fields import GivenList, GivenText, most_items
from knowledge.types.anonymising import KINDS, LONGEST_FIELD, MOST_FIELDS

RETENTION_DAYS = Bounds(least=1, most=36_500)
SCAN_EVERY_MINUTES = Bounds(least=1, most=525_600)
SLUG = RegexValidator(r"^[a-z0-9][a-z0-9_-]{0,62}$", _("1 to 63 lower-case letters, digits, - and _."))


class CollectionQuerySet(models.QuerySet["Collection"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> CollectionQuerySet:
        """Keep the collections where the caller may do what ``scope`` names, up to their ceiling."""
        if not principal.allows(scope):
            return self.none()
        allowed = self.filter(classification__lte=principal.ceiling)
        if principal.is_superuser:
            return allowed
        granted = CollectionGrant.objects.held_by(principal).filter(role__in=roles_with(scope))
        return allowed.filter(pk__in=granted.values("collection_id"))


class Collection(models.Model):
    """A set of documents with one access rule. The slug is its name everywhere outside the database.

    ``policy`` is how documents that come into it are cut, unless somebody says otherwise of one; None is the active
    embedding set's way.
    """

    slug = models.CharField(_("slug"), max_length=63, unique=True, validators=[SLUG])
    name = models.CharField(_("name"), max_length=200)
    description = GivenText(_("description"), blank=True)
    classification = models.PositiveSmallIntegerField(
        _("classification"), choices=Classification.choices, default=Classification.C2
    )
    retention_days = models.PositiveIntegerField(
        _("retention (days)"), null=True, blank=True, validators=RETENTION_DAYS.validators()
    )
    anonymised_kinds = GivenList(
        models.CharField(max_length=20, choices=[(kind, kind) for kind in KINDS]),
        verbose_name=_("personal data that is replaced at upload"),
        most=len(KINDS),
        default=list,
        blank=True,
    )
    anonymised_fields = GivenList(
        models.CharField(max_length=LONGEST_FIELD),
        verbose_name=_("fields whose values are replaced at upload"),
        most=MOST_FIELDS,
        default=list,
        blank=True,
    )
    policy = models.ForeignKey(
        "ChunkPolicy", on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("collection")
        verbose_name_plural = _("collections")
        ordering = ["slug"]
        constraints = [
            RETENTION_DAYS.check("retention_days"),
            longest_text("description", LONG_TEXT),
            most_items("anonymised_kinds", len(KINDS)),
            most_items("anonymised_fields", MOST_FIELDS),
        ]

    def __str__(self) -> str:
        return self.name


class FormerSlug(models.Model):
    """The slug of a collection that was deleted. No other collection ever gets it: lines of the audit name slugs."""

    slug = models.CharField(max_length=63, primary_key=True)
    deleted_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.slug


class CollectionGrant(Grant):
    """One role of one person, or of one group, in one collection."""

    SAME = ("collection", "role")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, verbose_name=_("user")
    )
    group = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, blank=True, verbose_name=_("group"))
    role = models.CharField(_("role"), max_length=20, choices=Role.choices, default=Role.READER)

    class Meta:
        verbose_name = _("grant")
        verbose_name_plural = _("grants")
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, group__isnull=True) | Q(user__isnull=True, group__isnull=False),
                name="grant_is_for_a_user_or_a_group",
                violation_error_message=_("Choose a user or a group, not both."),
            ),
            models.UniqueConstraint(fields=["collection", "user", "role"], name="one_grant_per_user_and_role"),
            models.UniqueConstraint(fields=["collection", "group", "role"], name="one_grant_per_group_and_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.get_role_display()}"


class Source(models.Model):
    """A folder or bucket that is scanned again and again; its files are the documents of a collection."""

    class Kind(models.TextChoices):
        FOLDER = "folder", _("folder")
        S3 = "s3", _("S3 bucket")

    name = models.CharField(_("name"), max_length=100, unique=True)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.FOLDER)
    location = models.CharField(_("folder, or s3://bucket/prefix"), max_length=1000)
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="sources", verbose_name=_("collection")
    )
    policy = models.ForeignKey(
        "ChunkPolicy",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("how documents are cut"),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    scan_every_minutes = models.PositiveIntegerField(
        _("scan every (minutes)"), default=15, validators=SCAN_EVERY_MINUTES.validators()
    )
    scanned_at = models.DateTimeField(_("last scan"), null=True, editable=False)
    report = models.JSONField(_("last report"), default=dict, editable=False)
    lease_token = models.CharField(max_length=40, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = _("source")
        verbose_name_plural = _("sources")
        ordering = ["name"]
        constraints = [SCAN_EVERY_MINUTES.check("scan_every_minutes")]

    def __str__(self) -> str:
        return self.name
