"""Documents, their versions and the state of the work on them; who may see which."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.arrays import IsAnyOf
from hub.core.bounds import largest_json
from hub.core.given_fields import GivenJson
from hub.core.ids import new_id
from hub.core.languages import in_language
from knowledge.models.collections import Collection
from knowledge.models.uploads import UploadBatch


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> DocumentQuerySet:
        """Keep the documents the caller may act on with ``scope``; an id outside answers like one that is not there.

        The collections are an array: with a subquery, PostgreSQL takes one collection's documents for a few, and walks
        all of them where a query knows better rows to begin with, such as the reviews that a person asked for.
        """
        collections = ArraySubquery(Collection.objects.visible_to(principal, scope).order_by().values("pk"))
        return self.filter(IsAnyOf(F("collection_id"), collections), classification__lte=principal.ceiling)

    def hidden_from(self, principal: Principal, scope: Scope = Scope.READ) -> DocumentQuerySet:
        """Keep the documents that ``visible_to`` leaves out."""
        collections = Collection.objects.visible_to(principal, scope).values("pk")
        return self.exclude(collection_id__in=collections, classification__lte=principal.ceiling)

    def any_hidden(self, principal: Principal, public_ids: set[str]) -> bool:
        """Whether some of these documents are there, and not for the caller to read. One query."""
        return self.filter(public_id__in=public_ids).hidden_from(principal).exists()

    def readable(self) -> DocumentQuerySet:
        """Leave out documents without a version to read (`Document.version_to_read`)."""
        states = [one for one in DocumentStatus if one != DocumentStatus.FAILED]
        return self.filter(Q(latest_version__status__in=states) | Q(current_version__status__in=states))

    def live(self) -> DocumentQuerySet:
        """Leave out retired documents."""
        return self.filter(retired_at__isnull=True)


class DocumentVersionQuerySet(models.QuerySet["DocumentVersion"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> DocumentVersionQuerySet:
        """Keep the versions of documents the caller may act on with ``scope``."""
        return self.filter(document__in=Document.objects.visible_to(principal, scope).values("pk"))


class DocumentType(models.Model):
    """What kind of document it is; decides which topics and check items apply."""

    code = models.CharField(_("code"), max_length=40, primary_key=True)
    name_ja = models.CharField(_("name (ja)"), max_length=100)
    name_en = models.CharField(_("name (en)"), max_length=100)

    class Meta:
        verbose_name = _("document type")
        verbose_name_plural = _("document types")
        ordering = ["code"]

    def __str__(self) -> str:
        return in_language(self.name_ja, self.name_en)


class Blob(models.Model):
    """Stored bytes, named by their sha256. The bytes are in the blob store."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size_bytes = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.sha256


class PendingBytes(models.Model):
    """Bytes that this hub wrote, or is about to write, and that have no Blob row: not yet, or not any more.

    Nothing else is ever removed from the store. ``deleted``: they belonged to documents that were deleted; otherwise an
    upload is under way, or broke off.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    since = models.DateTimeField(default=timezone.now)
    deleted = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.sha256


class SealedBlob(models.Model):
    """Encrypted bytes: what they are called in the store, and the key that opens them.

    ``name`` is random, so that the store says nothing of what is in it. ``wrapped_key`` is the data key, encrypted
    under the master key ``key_id``; both are empty once it was destroyed, and the bytes wait to be removed.
    """

    name = models.CharField(max_length=64, primary_key=True)
    sha256 = models.CharField(max_length=64, db_index=True)
    key_id = models.CharField(max_length=200)
    wrapped_key = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256"], condition=~Q(key_id=""), name="one_key_opens_the_bytes")
        ]
        indexes = [models.Index(fields=["key_id", "name"], name="sealed_by_key")]

    def __str__(self) -> str:
        return self.name


class TypeGuess(models.TextChoices):
    """Whether a document's type was told by a person ("" and never guessed), is to be guessed, or was guessed."""

    NONE = "", _("told")
    WANTED = "wanted", _("to be guessed")
    MADE = "made", _("guessed")


class Document(models.Model):
    """One path in one collection. ``current_version`` is what search sees, ``latest_version`` what came in last.

    A path is held once per classification: to whom a confidential document is hidden, its path is as good as free.
    ``source_root`` is the folder or bucket that it was read from, ``source_stamp`` the file's size and time then.
    ``chosen_policy`` is a chunking that a person asked for: scans keep it. While ``legal_hold`` has a reason, neither
    people nor the retention period delete it.
    """

    public_id = models.CharField(_("id"), max_length=40, unique=True, default=partial(new_id, "doc"), editable=False)
    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="documents", verbose_name=_("collection")
    )
    path = models.CharField(_("path"), max_length=1000)
    title = models.CharField(_("title"), max_length=500)
    document_type = models.ForeignKey(
        DocumentType, on_delete=models.PROTECT, default="other", related_name="+", verbose_name=_("document type")
    )
    type_guess = models.CharField(
        max_length=10, choices=TypeGuess.choices, default=TypeGuess.NONE, blank=True, editable=False
    )
    classification = models.PositiveSmallIntegerField(
        _("classification"), choices=Classification.choices, default=Classification.C2
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("uploaded by")
    )
    source_root = models.CharField(_("source folder"), max_length=1000, blank=True, editable=False)
    source_stamp = models.CharField(max_length=60, blank=True, editable=False)
    chosen_policy = models.ForeignKey(
        "ChunkPolicy", on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    metadata = GivenJson(_("metadata"), default=dict, blank=True)
    current_version = models.ForeignKey(
        "DocumentVersion", on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    latest_version = models.ForeignKey(
        "DocumentVersion", on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    retired_at = models.DateTimeField(_("retired"), null=True, editable=False)
    legal_hold = models.CharField(_("legal hold (reason)"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "path", "classification"], name="one_document_per_place"),
            largest_json("metadata"),
        ]
        indexes = [  # pages of the list begin in the middle of them
            models.Index(fields=["updated_at", "id"], name="document_by_change"),
            models.Index(fields=["title", "id"], name="document_by_title"),
        ]

    def __str__(self) -> str:
        return self.title or self.path

    @property
    def version_to_read(self) -> DocumentVersion | None:
        """The latest version that did not fail, or else the one that search sees; None where no text could be read."""
        known = (one for one in (self.latest_version, self.current_version) if one is not None)
        return next((one for one in known if one.status != DocumentStatus.FAILED), None)


class DocumentStatus(models.TextChoices):
    STORED = "stored", _("stored")
    PARSING = "parsing", _("parsing")
    READING = "reading", _("reading with OCR")
    CHUNKING = "chunking", _("chunking")
    EMBEDDING = "embedding", _("embedding")
    READY = "ready", _("ready")
    NEEDS_OCR = "needs_ocr", _("needs OCR")
    FAILED = "failed", _("failed")
    RETIRED = "retired", _("retired")


IN_WORK = (
    DocumentStatus.STORED,
    DocumentStatus.PARSING,
    DocumentStatus.READING,
    DocumentStatus.CHUNKING,
    DocumentStatus.EMBEDDING,
)
ARRIVED_AT = Coalesce("reset_at", "created_at")  # when a version last came to the start of the pipeline


class DocumentVersion(models.Model):
    """The bytes of a document at one time, and how far the pipeline has come with them.

    ``status`` names the stage that is due or under way. A stage is worked on by the holder of the lease;
    ``attempts`` counts the tries of the running stage. ``policy`` is how it was cut when it came in; with
    ``has_own_policy`` its uploader chose it, and no embedding set's default takes its place. ``anonymised`` says how
    much of each kind was replaced before it was stored; null when nothing was to be; ``asked_anonymising`` is what
    its uploader asked to have replaced, which a mended file is asked for again. ``ocr_pages`` are the pictures that OCR
    reads of it, null where it reads none. ``reset_at`` is when it was last put back to the start of the pipeline, and
    ``queued_at`` when a stage was last due, or given out again. ``type_before`` and ``type_given`` are the document's
    types before and after its upload, where that changed it; ``title_before`` and ``title_given`` its titles. One that
    ``goes_first`` is not counted among the many of an import, since a review waits for it.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "ver"), editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(_("version"))
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="versions")
    filename = models.CharField(_("file name"), max_length=500)
    format = models.CharField(_("format"), max_length=20, blank=True)
    policy = models.ForeignKey("ChunkPolicy", on_delete=models.PROTECT, related_name="+")
    has_own_policy = models.BooleanField(default=False, editable=False)
    batch = models.ForeignKey(
        UploadBatch, on_delete=models.SET_NULL, null=True, related_name="versions", editable=False
    )
    status = models.CharField(
        _("state"), max_length=12, choices=DocumentStatus.choices, default=DocumentStatus.STORED, editable=False
    )
    status_code = models.CharField(max_length=60, blank=True, editable=False)
    status_reason_ja = models.TextField(blank=True, editable=False)
    status_reason_en = models.TextField(blank=True, editable=False)
    progress = models.PositiveSmallIntegerField(_("progress"), default=0, editable=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0, editable=False)
    lease_token = models.CharField(max_length=40, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, editable=False)
    notices = models.JSONField(default=list, editable=False)
    anonymised = models.JSONField(_("replaced personal data"), null=True, editable=False)
    asked_anonymising = models.JSONField(null=True, editable=False)
    type_before = models.CharField(max_length=40, blank=True, default="", db_default="", editable=False)
    type_given = models.CharField(max_length=40, blank=True, default="", db_default="", editable=False)
    title_before = models.CharField(max_length=500, blank=True, default="", db_default="", editable=False)
    title_given = models.CharField(max_length=500, blank=True, default="", db_default="", editable=False)
    goes_first = models.BooleanField(default=False, db_default=False, editable=False)
    pages_count = models.PositiveIntegerField(_("pages"), null=True, editable=False)
    sections_count = models.PositiveIntegerField(_("sections"), null=True, editable=False)
    tables_count = models.PositiveIntegerField(_("tables"), null=True, editable=False)
    figures_count = models.PositiveIntegerField(_("figures"), null=True, editable=False)
    character_count = models.PositiveIntegerField(_("characters"), null=True, editable=False)
    chunks_count = models.PositiveIntegerField(_("chunks"), null=True, editable=False)
    ocr_pages = models.PositiveIntegerField(null=True, editable=False)
    ocr_pages_read = models.PositiveIntegerField(null=True, editable=False)
    ocr_started_at = models.DateTimeField(null=True, editable=False)
    ocr_cancelled = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    reset_at = models.DateTimeField(null=True, editable=False)
    queued_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(_("finished"), null=True, editable=False)

    objects = DocumentVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("document version")
        verbose_name_plural = _("document versions")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="one_version_per_number")]
        indexes = [
            models.Index(fields=["queued_at"], condition=Q(status__in=IN_WORK), name="version_in_work"),
            models.Index(fields=["status", "-id"], name="version_by_status"),
        ]

    def __str__(self) -> str:
        return f"{self.filename} v{self.number}"

    @property
    def status_reason(self) -> str | None:
        """Why the version is where it is, in the active language; None when there is nothing to say."""
        return in_language(self.status_reason_ja, self.status_reason_en) or None


class VersionContent(models.Model):
    """The stored Markdown of a version and its structure. Every offset anywhere refers to ``markdown``."""

    version = models.OneToOneField(DocumentVersion, on_delete=models.CASCADE, primary_key=True, related_name="content")
    title = models.CharField(max_length=500, blank=True)
    markdown = models.TextField()
    blocks = models.JSONField(default=list)
    sections = models.JSONField(default=list)
    pages = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.version_id)


class PageText(models.Model):
    """What OCR read of one picture of a version: a page, or a figure. ``picture`` is a hash of what it looks like.

    ``reading`` is a `PageReading` as JSON; with an ``error`` (the code of why it could not be read) it is null.
    """

    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="page_texts")
    picture = models.CharField(max_length=64)
    engine = models.CharField(max_length=60)
    reading = models.JSONField(null=True)
    error = models.CharField(max_length=60, blank=True)
    seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "picture"], name="one_reading_per_picture")]

    def __str__(self) -> str:
        return f"{self.version_id} {self.picture[:12]}"


class Figure(models.Model):
    """A picture of a version: its bytes as a blob, and what the document says of it.

    ``description`` was made by the model named in ``description_model``, never by the document's author.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "fig"), editable=False)
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="figures")
    index = models.PositiveIntegerField()
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="figures")
    media_type = models.CharField(max_length=60)
    caption = models.TextField(blank=True)
    alt_text = models.TextField(blank=True)
    page = models.PositiveIntegerField(null=True)
    cell = models.CharField(max_length=60, null=True)  # noqa: DJ001 (null is "not a spreadsheet")
    start_offset = models.PositiveIntegerField(null=True)
    end_offset = models.PositiveIntegerField(null=True)
    description = models.TextField(blank=True)
    description_model = models.CharField(max_length=200, blank=True)
    description_attempts = models.PositiveSmallIntegerField(default=0)
    # Null when asking again would not help; description_error then says why there is no description.
    description_not_before = models.DateTimeField(null=True, default=timezone.now)
    description_error = models.CharField(max_length=60, blank=True)

    class Meta:
        verbose_name = _("figure")
        verbose_name_plural = _("figures")
        ordering = ["version", "index"]
        constraints = [models.UniqueConstraint(fields=["version", "index"], name="one_figure_per_index")]

    def __str__(self) -> str:
        return self.caption or self.alt_text or self.public_id


class DeletionReceipt(models.Model):
    """The proof that a document was deleted: what went, when, by whom. It holds nothing of the document's text.

    ``collection_key`` is the collection's primary key, which no later collection gets; null where that is unknown.
    """

    public_id = models.CharField(max_length=40, unique=True, default=partial(new_id, "del"), editable=False)
    document_id = models.CharField(max_length=40)
    collection_slug = models.CharField(max_length=63)
    collection_key = models.BigIntegerField(null=True, db_index=True)
    classification = models.PositiveSmallIntegerField(choices=Classification.choices, default=Classification.C1)
    counts = models.JSONField(default=dict)
    principal = models.CharField(max_length=150)
    deleted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("deletion receipt")
        verbose_name_plural = _("deletion receipts")

    def __str__(self) -> str:
        return self.public_id


class WorkerHeartbeat(models.Model):
    """A sign of life of one Celery worker, renewed every few seconds.

    ``seen_at`` is by the database's clock, ``clock`` by the worker's own at the same moment; null from older workers.
    """

    name = models.CharField(max_length=200, primary_key=True)
    seen_at = models.DateTimeField(default=timezone.now)
    clock = models.DateTimeField(null=True)
    started_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
