"""What curated content in versions has in common: the states of a version, and how versions are counted."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Max, QuerySet
from django.utils.translation import gettext_lazy as _


class PublicationStatus(models.TextChoices):
    """A version is edited as a draft, then in force and unchangeable, then kept for what points at it."""

    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    RETIRED = "retired", _("retired")


def next_number(versions: QuerySet[Any]) -> int:
    """The number for a new version beside the given ones, counted from 1. One query; a unique constraint decides."""
    newest: int | None = versions.aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + 1
