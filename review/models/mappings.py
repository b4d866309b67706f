"""How check items rest on guideline articles, and which of them a new edition has put in doubt."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.core.bounds import LONG_TEXT, longest_text
from hub.core.given_fields import GivenText
from hub.core.languages import in_language
from knowledge.models import GuidelineEdition
from review.models.masters import CheckItem
from review.models.reviews import Review


class MappingRelation(models.TextChoices):
    """How a check item follows from an article: checks what it says, serves it, or was concluded from it."""

    DIRECT = "direct", _("direct")
    INDIRECT = "indirect", _("indirect")
    DERIVED = "derived", _("derived")


class GuidelineMapping(models.Model):
    """A check item that rests on an article. The article is named by its code: mappings outlive editions."""

    article_code = models.CharField(_("article"), max_length=60, db_index=True)
    check_item = models.ForeignKey(
        CheckItem, on_delete=models.CASCADE, related_name="guideline_mappings", verbose_name=_("check item")
    )
    relation = models.CharField(_("relation"), max_length=10, choices=MappingRelation.choices)
    rationale_ja = GivenText(_("rationale (ja)"), blank=True)
    rationale_en = GivenText(_("rationale (en)"), blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("guideline mapping")
        verbose_name_plural = _("guideline mappings")
        ordering = ["article_code", "check_item__code"]
        constraints = [
            longest_text("rationale_ja", LONG_TEXT),
            longest_text("rationale_en", LONG_TEXT),
            models.UniqueConstraint(fields=["article_code", "check_item"], name="one_mapping_per_article_and_item"),
        ]

    def __str__(self) -> str:
        return f"{self.article_code} → {self.check_item}"

    @property
    def rationale(self) -> str:
        return in_language(self.rationale_ja, self.rationale_en or self.rationale_ja)


class SuspectMark(models.Model):
    """A check item in doubt since an edition changed an article that it rests on; so are its results until then.

    A curator clears it after a look, with a word on what was found.
    """

    check_item = models.ForeignKey(
        CheckItem, on_delete=models.CASCADE, related_name="suspect_marks", verbose_name=_("check item")
    )
    article_code = models.CharField(_("article"), max_length=60)
    edition = models.ForeignKey(GuidelineEdition, on_delete=models.CASCADE, related_name="+", verbose_name=_("edition"))
    reason_ja = models.TextField(_("reason (ja)"))
    reason_en = models.TextField(_("reason (en)"))
    created_at = models.DateTimeField(_("marked"), default=timezone.now, editable=False)
    cleared_at = models.DateTimeField(_("cleared"), null=True, blank=True, editable=False)
    cleared_by = models.CharField(_("cleared by"), max_length=150, blank=True, editable=False)
    cleared_reason = GivenText(_("what was found"), blank=True)

    class Meta:
        verbose_name = _("suspect mark")
        verbose_name_plural = _("suspect marks")
        ordering = ["-created_at", "check_item__code", "article_code"]
        constraints = [
            longest_text("cleared_reason", LONG_TEXT),
            models.UniqueConstraint(
                fields=["check_item", "article_code", "edition"], name="one_suspect_mark_per_article_and_edition"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.check_item}: {self.article_code}"

    @property
    def reason(self) -> str:
        return in_language(self.reason_ja, self.reason_en)


class ReviewEdition(models.Model):
    """An edition whose articles a review judges by, pinned when the review starts: a later one changes nothing."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="guideline_editions")
    edition = models.ForeignKey(GuidelineEdition, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["review", "edition"], name="one_pin_per_review_and_edition")]

    def __str__(self) -> str:
        return f"{self.review}: {self.edition}"
