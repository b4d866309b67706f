"""What curated content in versions has in common: the states of a version, and how versions are counted."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class PublicationStatus(models.TextChoices):
    """A version is edited as a draft, then in force and unchangeable, then kept for what points at it."""

    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    RETIRED = "retired", _("retired")


class Written(models.Model):
    """A draft that people write before somebody publishes it; ``writer_ids`` are the users who did, in order of id."""

    writer_ids = ArrayField(models.IntegerField(), default=list, blank=True, editable=False)

    class Meta:
        abstract = True


class CuratedVersion(Written):
    """One version of something curated; of all versions of one thing at most one is published.

    Once published it is never changed: a new version is made of it. Subclasses name in ``THING`` the field that their
    versions of one thing have in common, and in ``AUDITED_AS`` what the audit trail calls such a thing.
    """

    THING: ClassVar[str]
    AUDITED_AS: ClassVar[str]

    number = models.PositiveIntegerField(_("version"), default=1, editable=False)
    status = models.CharField(
        _("state"), max_length=10, choices=PublicationStatus.choices, default=PublicationStatus.DRAFT, editable=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("author"),
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
        return type(self)._default_manager.filter(**{self.THING: self.thing})


def next_number(versions: QuerySet[Any]) -> int:
    """The number for a new version beside the given ones, counted from 1. One query; a unique constraint decides."""
    newest: int | None = versions.aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + 1


def put_in_force(version: CuratedVersion) -> None:
    """Store a version as the published one of its thing; the one before is retired. Call in a transaction."""
    version.versions().filter(status=PublicationStatus.PUBLISHED).update(status=PublicationStatus.RETIRED)
    version.status, version.published_at = PublicationStatus.PUBLISHED, timezone.now()
    version.save()
