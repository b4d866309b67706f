"""Reviews and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.arrays import IsAnyOf
from hub.core.bounds import CURATED_JSON, LONG_TEXT, largest_json, longest_text
from hub.core.given_fields import GivenJson, GivenText
from hub.core.ids import new_id
from hub.core.languages import in_language
from hub.llm.models import CALLERS_MODEL
from knowledge.models import Document, DocumentVersion
from knowledge.models.documents import IN_WORK
from knowledge.types.graph import GraphPath
from review.models.masters import CheckItemVersion, CheckListVersion
from review.types import JudgedBy


class ReviewQuerySet(models.QuerySet["Review"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> ReviewQuerySet:
        """Keep the reviews of documents that the caller may act on with ``scope``.

        A review is classified as the highest of its documents, the related ones among them, as they are now. What is
        left of a review whose document was deleted is for administrators.
        """
        visible = Q(version__document_id__in=Document.objects.visible_to(principal, scope).values("pk"))
        if principal.is_superuser and principal.allows(scope):
            visible |= Q(version__isnull=True)
        if principal.ceiling < max(Classification):
            return self.filter(visible, ~HasRelatedAbove(F("pk"), Value(principal.ceiling)))
        return self.filter(visible)

    def any_hidden(self, principal: Principal, public_ids: set[str]) -> bool:
        """Whether some of these reviews are there, and not for the caller to read. One query."""
        visible = Review.objects.visible_to(principal).values("pk")
        return self.filter(public_id__in=public_ids).exclude(pk__in=visible).exists()


class HasRelatedAbove(Func):
    """Whether a review (its key) has a related document that is classified above a ceiling, or whose collection is.

    Written as SQL: it is in every query of reviews, and Django takes a millisecond to put it together.
    """

    arity = 2
    output_field = BooleanField()
    template = (
        "EXISTS (SELECT FROM (SELECT %(expressions)s) AS given (review, ceiling)"
        " JOIN review_relatedversion AS related ON related.review_id = given.review"
        " JOIN knowledge_documentversion AS version ON version.id = related.version_id"
        " JOIN knowledge_document AS document ON document.id = version.document_id"
        " JOIN knowledge_collection AS collection ON collection.id = document.collection_id"
        " WHERE greatest(document.classification, collection.classification) > given.ceiling)"
    )


class _OfReview(Func):
    """Whether something is true of a review, by its key. Written as SQL, as `HasRelatedAbove` is."""

    arity = 1
    output_field = BooleanField()


class HasSources(_OfReview):
    """Whether a review (its key) has related documents, or findings that rest on other documents."""

    template = (
        "EXISTS (SELECT FROM (SELECT %(expressions)s) AS given (review) WHERE"
        " EXISTS (SELECT FROM review_relatedversion AS related WHERE related.review_id = given.review)"
        " OR EXISTS (SELECT FROM review_checkresult AS result JOIN review_finding AS finding"
        " ON finding.result_id = result.id WHERE result.review_id = given.review AND finding.rests_on <> '{}'))"
    )


class HasSetAside(_OfReview):
    """Whether a review (its key) has findings that do not count: see ``FindingQuerySet.set_aside``."""

    template = (
        "EXISTS (SELECT FROM review_checkresult AS result JOIN review_finding AS finding"
        " ON finding.result_id = result.id WHERE result.review_id = %(expressions)s"
        " AND finding.state IN ('overturned', 'candidate'))"
    )


class HasDecisions(_OfReview):
    """Whether anybody has decided on a check of a review (its key)."""

    template = (
        "EXISTS (SELECT FROM review_resultdecision AS decision JOIN review_checkresult AS result"
        " ON decision.result_id = result.id WHERE result.review_id = %(expressions)s)"
    )


class HasSignatures(_OfReview):
    """Whether anybody has signed a review (its key)."""

    template = "EXISTS (SELECT FROM review_signature AS signature WHERE signature.review_id = %(expressions)s)"


class FindingQuerySet(models.QuerySet["Finding"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> FindingQuerySet:
        """Keep the findings of reviews that the caller may act on with ``scope``, and may read all that they rest on.

        Every door reads findings through this; those left out are withheld whole.
        """
        reviews = Review.objects.visible_to(principal, scope).values("pk")
        return self.filter(result__review__in=reviews).readable_by(principal)

    def readable_by(self, principal: Principal) -> FindingQuerySet:
        """Keep what rests on no document that is hidden from the caller, of reviews that are known to be visible."""
        return self.filter(Q(rests_on=[]) | ~Exists(self._hidden_from(principal)))

    def withheld_from(self, principal: Principal) -> FindingQuerySet:
        """Keep what ``readable_by`` leaves out."""
        return self.exclude(rests_on=[]).filter(Exists(self._hidden_from(principal)))

    @staticmethod
    def _hidden_from(principal: Principal) -> models.QuerySet[Document]:
        return Document.objects.hidden_from(principal).filter(IsAnyOf(F("public_id"), OuterRef("rests_on")))

    def counted(self) -> FindingQuerySet:
        """Keep what counts: neither what a model overturned nor what it only proposes, unless a person promoted it.

        Every door that counts or lists findings reads them through this; the others have lists of their own.
        """
        return self.filter(state__in=COUNTED_STATES)

    def set_aside(self) -> FindingQuerySet:
        """Keep what ``counted`` leaves out."""
        return self.exclude(state__in=COUNTED_STATES)

    def any_hidden(self, principal: Principal, public_ids: set[str]) -> bool:
        """Whether some of these findings are there, and not for the caller to read. One query."""
        visible = Finding.objects.visible_to(principal).values("pk")
        return self.filter(public_id__in=public_ids).exclude(pk__in=visible).exists()


class ReviewStatus(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


UNFINISHED = (ReviewStatus.QUEUED, ReviewStatus.RUNNING)


VERDICTS = [
    ("pass", _("pass")),
    ("warning", _("warning")),
    ("fail", _("fail")),
    ("error", _("error")),
    ("skipped", _("skipped")),
    ("not_applicable", _("not applicable")),
]


SEVERITIES = [("critical", _("critical")), ("major", _("major")), ("minor", _("minor")), ("info", _("info"))]


class Triage(models.TextChoices):
    """What a person decided about a finding. Open and accepted findings count, the others no more."""

    OPEN = "open", _("open")
    ACCEPTED = "accepted", _("accepted")
    REJECTED = "rejected", _("rejected")
    FIXED = "fixed", _("fixed")
    WAIVED = "waived", _("waived")


COUNTED = (Triage.OPEN, Triage.ACCEPTED)


class FindingState(models.TextChoices):
    """Whether a finding counts, before people have their say on what it comes to (``Triage``)."""

    FOUND = "found", _("found")
    OVERTURNED = "overturned", _("overturned by a language model")
    CANDIDATE = "candidate", _("candidate")
    PROMOTED = "promoted", _("promoted by a person")


COUNTED_STATES = (FindingState.FOUND, FindingState.PROMOTED)


class CarryMark(models.TextChoices):
    """How a finding that was carried over differs from the earlier review's: place, or what it quotes and names."""

    SAME = "same", _("unchanged")
    MOVED = "moved", _("moved")
    CHANGED = "changed", _("changed")


class Review(models.Model):
    """One run of a check list's version over a document's version. Its results are kept as they come.

    ``document_id_text`` and ``version_number`` stay when the document is deleted.
    """

    public_id = models.CharField(_("id"), max_length=40, unique=True, default=partial(new_id, "rev"), editable=False)
    version = models.ForeignKey(DocumentVersion, on_delete=models.SET_NULL, null=True, related_name="reviews")
    document_id_text = models.CharField(_("document id"), max_length=40, editable=False)
    version_number = models.PositiveIntegerField(_("document version"), editable=False)
    checklist_version = models.ForeignKey(CheckListVersion, on_delete=models.PROTECT, related_name="reviews")
    status = models.CharField(_("state"), max_length=10, choices=ReviewStatus.choices, default=ReviewStatus.QUEUED)
    verdict = models.CharField(_("verdict"), max_length=20, choices=VERDICTS, blank=True)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0)
    options = GivenJson(default=dict, limits=CURATED_JSON)
    error = models.TextField(_("reason"), blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("by")
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.CharField(max_length=40, blank=True)
    lease_expires_at = models.DateTimeField(null=True)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, default=0)
    """US$ for language models; null once a model without a configured price answered."""
    sampling_until = models.DateTimeField(null=True)
    """Until then the review waits for its caller's own model, and no worker takes it."""
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    started_at = models.DateTimeField(_("started"), null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    signed_at = models.DateTimeField(_("signed off"), null=True)
    notices = models.JSONField(default=list)
    """What people should know of the review as a whole: {code, ja, en}; those of a check are with its result."""
    steps = models.JSONField(default=dict)
    """What became of each step beside the rules, and what a replay needs of it; empty before it finished."""

    hidden_related = False
    """Whether a related document is hidden from the caller, and (1 to 3) the highest classification of the related
    ones, where ``services.get_review`` loaded the review."""
    related_level: int | None = None

    objects = ReviewQuerySet.as_manager()

    class Meta:
        verbose_name = _("review")
        verbose_name_plural = _("reviews")
        ordering = ["-id"]
        indexes = [models.Index(fields=["created_at"], condition=Q(status__in=UNFINISHED), name="review_unfinished")]
        constraints = [largest_json("options", CURATED_JSON)]

    def __str__(self) -> str:
        return self.public_id

    @property
    def awaited_version(self) -> DocumentVersion | None:
        """The document's version while it is still being read: until it is ready, nothing is judged."""
        version = self.version if self.status == ReviewStatus.QUEUED else None
        return version if version is not None and version.status in IN_WORK else None


class CheckResult(models.Model):
    """The verdict of one check item in one review, and how it was reached.

    ``original_verdict`` and ``original_method`` keep what the run said once people changed the verdict; empty before.
    ``revision`` counts the changes.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="results")
    item_version = models.ForeignKey(CheckItemVersion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField(default=0)
    verdict = models.CharField(_("verdict"), max_length=20, choices=VERDICTS)
    score = models.FloatField(_("score"), null=True)
    method = models.CharField(_("decided by"), max_length=10, default="rules")
    strategy_used = models.CharField(max_length=20)
    """What was really consulted, as `review.judging.strategies.strategy_of` names it."""
    strategy_reason_ja = models.TextField(blank=True)
    strategy_reason_en = models.TextField(blank=True)
    consulted = ArrayField(models.CharField(max_length=20), default=list, editable=False)
    """The steps that ran and the sources that answered: values of Consulted; empty in results of before they were
    noted."""
    evidence = models.JSONField(default=dict)
    """What retrieval and the rules' links led to: see review.runs.evidence."""
    notices = models.JSONField(default=list)
    execution_time_ms = models.PositiveIntegerField(default=0)
    judgement = models.JSONField(default=dict)
    """How a language model came to the verdict; empty where none did. See review.judging.judge."""
    steps = models.JSONField(default=list)
    """The steps that the result has been through: rules, judge, second_opinion, sweep."""
    finished_at = models.DateTimeField(default=timezone.now)
    original_verdict = models.CharField(max_length=20, choices=VERDICTS, blank=True)
    original_method = models.CharField(max_length=10, blank=True)
    revision = models.PositiveIntegerField(default=0)
    withheld = 0
    """How many findings are withheld from the caller, where ``services.get_review`` loaded the result."""
    shown_paths: Sequence[GraphPath] = ()
    """The paths of its evidence that the caller may see now, where ``services.get_review`` loaded the result."""

    class Meta:
        verbose_name = _("check result")
        verbose_name_plural = _("check results")
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["review", "item_version"], name="one_result_per_check")]

    def __str__(self) -> str:
        return f"{self.item_version}: {self.verdict}"

    @property
    def set_aside(self) -> Sequence[Finding]:
        """Its findings that do not count, where ``services.get_review`` loaded the result."""
        found: Sequence[Finding] = self.__dict__.get("not_counted", ())
        return found

    @property
    def was_judged_by(self) -> JudgedBy:
        """Who came to the run's verdict, before people had their say."""
        if not self.judgement:
            return JudgedBy.RULES
        is_callers = self.judgement.get("provider") == CALLERS_MODEL
        return JudgedBy.CALLERS_MODEL if is_callers else JudgedBy.HUB_MODEL

    @property
    def judged_by(self) -> JudgedBy:
        """Who the verdict is of, as it is now."""
        return JudgedBy.HUMAN if self.method == JudgedBy.HUMAN else self.was_judged_by


class Finding(models.Model):
    """A defect with its evidence. ``fingerprint`` is the same in another review of the same or a later version.

    ``rests_on`` holds the ids of the other documents that were read to make it, and of those that a decision carried
    over to it rests on. ``revision`` counts what people changed; ``expires_at`` is set for waived findings only.
    ``due_on`` is the last day on which it is to be settled.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "fnd"), editable=False)
    result = models.ForeignKey(CheckResult, on_delete=models.CASCADE, related_name="findings")
    ordinal = models.PositiveIntegerField(default=0)
    fingerprint = models.CharField(max_length=64)
    rule_id = models.CharField(_("rule"), max_length=80)
    severity = models.CharField(_("severity"), max_length=10, choices=SEVERITIES)
    message_ja = models.TextField(_("message (ja)"))
    message_en = models.TextField(_("message (en)"))
    location = models.JSONField(default=dict)
    evidence = models.JSONField(default=list)
    searched = models.JSONField(default=list)
    data = models.JSONField(default=dict)
    rests_on = ArrayField(models.CharField(max_length=40), default=list, editable=False)
    related_guideline = models.CharField(max_length=300, blank=True)
    confidence = models.FloatField(_("confidence"), null=True)
    confidence_basis_ja = models.TextField(blank=True)
    confidence_basis_en = models.TextField(blank=True)
    triage = models.CharField(_("triage"), max_length=10, choices=Triage.choices, default=Triage.OPEN)
    triage_reason = GivenText(blank=True)
    triaged_by = models.CharField(max_length=150, blank=True)
    triaged_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    due_on = models.DateField(_("due on"), null=True, blank=True)
    revision = models.PositiveIntegerField(default=0)
    state = models.CharField(_("state"), max_length=10, choices=FindingState.choices, default=FindingState.FOUND)
    second_opinion = models.JSONField(default=dict)
    """What a model said of it: {decision, reason, quotes, provider, model, prompt_version}; empty where none did.

    ``narrowed_from`` is the message before topics were taken out of it."""
    carried = models.JSONField(default=dict)
    """Where its decision came from: {review_id, finding_id, version, triage, mark}; empty before. See CarryMark."""

    objects = FindingQuerySet.as_manager()

    class Meta:
        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        ordering = ["result__position", "ordinal"]
        constraints = [
            longest_text("triage_reason", LONG_TEXT),
            models.UniqueConstraint(fields=["result", "fingerprint"], name="one_finding_per_fingerprint"),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(triage="waived"), name="waivers_by_expiry"),
            GinIndex(fields=["rests_on"], condition=~Q(rests_on=[]), name="findings_by_source"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id}: {self.message}"

    @property
    def message(self) -> str:
        return in_language(self.message_ja, self.message_en)


class Suggestion(models.Model):
    """What to do about a finding."""

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "sug"), editable=False)
    finding = models.OneToOneField(Finding, on_delete=models.CASCADE, related_name="suggestion")
    content_ja = models.TextField(_("suggestion (ja)"))
    content_en = models.TextField(_("suggestion (en)"))
    rationale_ja = models.TextField(blank=True)
    rationale_en = models.TextField(blank=True)
    example = models.TextField(blank=True)
    confidence = models.FloatField(null=True)
    references = models.JSONField(default=list)

    class Meta:
        verbose_name = _("suggestion")
        verbose_name_plural = _("suggestions")

    def __str__(self) -> str:
        return self.content_ja


class ModelSuggestion(models.Model):
    """What a language model suggests about a finding, beside what a rule does. ``evidence`` is what it rests on."""

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "sug"), editable=False)
    finding = models.OneToOneField(Finding, on_delete=models.CASCADE, related_name="model_suggestion")
    content = models.TextField(_("suggestion"))
    rationale = models.TextField()
    example = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    is_private = models.BooleanField()

    class Meta:
        verbose_name = _("suggestion by a language model")
        verbose_name_plural = _("suggestions by a language model")

    def __str__(self) -> str:
        return self.content

    @property
    def is_by_callers_model(self) -> bool:
        return self.provider == CALLERS_MODEL


class RelatedVersion(models.Model):
    """One related document of a review, in the version that was current when the review was started.

    ``document_id_text`` and ``version_number`` stay when the document is deleted.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="related")
    position = models.PositiveSmallIntegerField()
    version = models.ForeignKey(DocumentVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    document_id_text = models.CharField(_("document id"), max_length=40, editable=False, db_index=True)
    version_number = models.PositiveIntegerField(_("document version"), editable=False)

    class Meta:
        verbose_name = _("related document")
        verbose_name_plural = _("related documents")
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["review", "document_id_text"], name="related_document_once_per_review")
        ]

    def __str__(self) -> str:
        return f"{self.document_id_text} v{self.version_number}"


class ConcealedTexts(models.Model):
    """What a version's original file says to a model and its text does not show, as it was last looked through.

    It holds for the text and the readers that it was made with, named by their sha256.
    """

    version = models.OneToOneField(DocumentVersion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    text_sha256 = models.CharField(max_length=64)
    readers_sha256 = models.CharField(max_length=64)
    found = models.JSONField(default=list)

    def __str__(self) -> str:
        return str(self.version_id)
