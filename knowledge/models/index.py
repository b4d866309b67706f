"""Chunks and what makes them findable: vectors by embedding set, BM25 postings by lexical field."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from knowledge.models.documents import DocumentVersion
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit

CHUNK_STRATEGIES = (
    (ChunkStrategy.SECTION.value, _("at the headings")),
    (ChunkStrategy.FIXED.value, _("to the same size")),
    (ChunkStrategy.SEMANTIC.value, _("where the meaning changes")),
)
SIZE_UNITS = (
    (SizeUnit.TOKENS.value, pgettext_lazy("units", "tokens")),
    (SizeUnit.CHARACTERS.value, pgettext_lazy("units", "characters")),
)


class ChunkPolicy(models.Model):
    """One way of cutting documents. Chunks belong to a version and a policy; embedding sets share them."""

    strategy = models.CharField(max_length=20, choices=[(item.value, item.value) for item in ChunkStrategy])
    size = models.PositiveIntegerField()
    overlap = models.PositiveIntegerField()
    unit = models.CharField(max_length=20, choices=[(item.value, item.value) for item in SizeUnit])

    class Meta:
        verbose_name = _("chunk policy")
        verbose_name_plural = _("chunk policies")
        constraints = [
            models.UniqueConstraint(fields=["strategy", "size", "overlap", "unit"], name="one_row_per_chunk_policy")
        ]

    def __str__(self) -> str:
        return f"{self.strategy} {self.size}/{self.overlap} {self.unit}"

    @property
    def in_words(self) -> str:
        """Where documents are cut, and how long chunks and their overlap are, in the reader's language."""
        strategy, unit = dict(CHUNK_STRATEGIES)[self.strategy], dict(SIZE_UNITS)[self.unit]
        return gettext("{strategy}, {size} {unit}, overlap {overlap}").format(
            strategy=strategy, size=self.size, unit=unit, overlap=self.overlap
        )

    def options(self) -> ChunkOptions:
        return ChunkOptions(
            strategy=ChunkStrategy(self.strategy), size=self.size, overlap=self.overlap, unit=SizeUnit(self.unit)
        )


class Chunk(models.Model):
    """One chunk: ``content`` is exactly the stored Markdown's ``[start_offset, end_offset)``.

    ``public_id`` is derived from version, policy and index, so that cutting again gives the same ids.
    """

    public_id = models.CharField(max_length=40, unique=True)
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="chunks")
    policy = models.ForeignKey(ChunkPolicy, on_delete=models.PROTECT, related_name="+")
    index = models.PositiveIntegerField(_("index"))
    content = models.TextField(_("content"))
    context_prefix = models.TextField(blank=True)
    section_path = ArrayField(models.TextField(), verbose_name=_("section"))
    page = models.PositiveIntegerField(_("page"), null=True)
    cell = models.CharField(_("cells"), max_length=60, null=True)  # noqa: DJ001 (null is "not a spreadsheet")
    start_offset = models.PositiveIntegerField()
    end_offset = models.PositiveIntegerField()
    token_count = models.PositiveIntegerField(_("tokens"))
    has_table = models.BooleanField(default=False)
    has_figure = models.BooleanField(default=False)
    language = models.CharField(max_length=8, null=True)  # noqa: DJ001 (null is "not told")
    ocr_confidence = models.FloatField(null=True)  # null: no word of it was read by OCR

    class Meta:
        verbose_name = _("chunk")
        verbose_name_plural = _("chunks")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["version", "policy", "index"], name="one_chunk_per_index")]

    def __str__(self) -> str:
        return f"{self.public_id} #{self.index}"

    @property
    def embedded_text(self) -> str:
        """What the embedding model is given: headings, and the head of a table that goes on, before the content."""
        return self.context_prefix + self.content


class EmbeddingSetStatus(models.TextChoices):
    BUILDING = "building", _("building")
    READY = "ready", _("ready")
    DROPPED = "dropped", _("dropped")


class EmbeddingSet(models.Model):
    """One generation of vectors: model, revision, dimension, prefixes. Search uses the active one, never two.

    A set is built beside the active one and may take its place once it is ready. A set that is ready is complete:
    making a version current puts the other sets back to building, until they have its chunks too.
    ``base_url`` belongs to an OpenAI-compatible backend; keys stay in the environment. ``generation`` is the copy in a
    search engine that searches ask where SEARCH_INDEX names one; without it they ask PostgreSQL.
    """

    name = models.CharField(_("name"), max_length=100, unique=True)
    backend = models.CharField(_("backend"), max_length=40)
    model = models.CharField(_("model"), max_length=200)
    fingerprint = models.CharField(_("fingerprint"), max_length=100)
    dimension = models.PositiveIntegerField(_("dimension"))
    max_tokens = models.PositiveIntegerField(_("token limit"))
    policy = models.ForeignKey(ChunkPolicy, on_delete=models.PROTECT, related_name="+", verbose_name=_("chunk policy"))
    base_url = models.CharField(_("URL of the backend"), max_length=300, blank=True)
    is_active = models.BooleanField(_("active"), default=False)
    status = models.CharField(
        _("state"), max_length=10, choices=EmbeddingSetStatus.choices, default=EmbeddingSetStatus.READY
    )
    status_reason = models.TextField(_("reason"), blank=True, editable=False)
    lease_token = models.CharField(max_length=40, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, editable=False)
    build_started_at = models.DateTimeField(_("build started"), null=True, editable=False)
    built_at = models.DateTimeField(_("built"), null=True, editable=False)
    generation = models.ForeignKey(
        "knowledge.IndexGeneration", on_delete=models.SET_NULL, null=True, related_name="+", editable=False
    )
    passages_per_second = models.FloatField(_("passages per second"), null=True, editable=False)
    activated_at = models.DateTimeField(_("activated"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("embedding set")
        verbose_name_plural = _("embedding sets")
        constraints = [
            models.UniqueConstraint(fields=["is_active"], condition=Q(is_active=True), name="one_active_embedding_set")
        ]

    def __str__(self) -> str:
        return self.name


class ChunkVector(models.Model):
    """A chunk's vector in one embedding set; each set has its own partial HNSW index (knowledge.index.vectors)."""

    pk = models.CompositePrimaryKey("embedding_set_id", "chunk_id")
    embedding_set = models.ForeignKey(EmbeddingSet, on_delete=models.CASCADE, related_name="+")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    vector = HalfVectorField()

    def __str__(self) -> str:
        return f"{self.embedding_set_id}/{self.chunk_id}"


class LexicalField(models.IntegerChoices):
    """What a term is: a morpheme's normalised form (Sudachi mode A), or two neighbouring characters."""

    WORD = 1, "word"
    BIGRAM = 2, "bigram"


class LexicalTerm(models.Model):
    field = models.PositiveSmallIntegerField(choices=LexicalField.choices)
    text = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["field", "text"], name="one_row_per_lexical_term")]

    def __str__(self) -> str:
        return self.text


class LexicalEntry(models.Model):
    """That a chunk is in the lexical index, under the number by which postings name it.

    Writing a chunk again gives it a new number: postings of the old one then say nothing any more. ``policy`` is null
    for chunks of versions with a policy of their own, which every embedding set searches. ``fingerprint`` is equal for
    chunks whose texts differ in spaces, punctuation, width and case at most. ``is_contents`` when the chunk lists
    headings (目次). ``analysis`` is the edition of the analysis that made the terms.
    """

    ordinal = models.AutoField(primary_key=True)
    chunk = models.OneToOneField(Chunk, on_delete=models.CASCADE, related_name="lexical_entry")
    policy = models.ForeignKey(ChunkPolicy, on_delete=models.CASCADE, null=True, related_name="+")
    words_length = models.PositiveIntegerField()
    bigrams_length = models.PositiveIntegerField()
    fingerprint = models.BigIntegerField(null=True)
    is_contents = models.BooleanField(default=False, db_default=False)
    analysis = models.PositiveSmallIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"{self.ordinal}: {self.chunk_id}"


class LexicalSegment(models.Model):
    """Chunks whose postings are packed together; small segments are merged into larger ones."""

    policy = models.ForeignKey(ChunkPolicy, on_delete=models.CASCADE, null=True, related_name="+")
    ordinals = ArrayField(models.IntegerField())

    def __str__(self) -> str:
        return f"{self.pk} ({len(self.ordinals)})"


class LexicalPosting(models.Model):
    """Which chunks of a segment contain a term, and how often: ``packed`` by knowledge.index.segments."""

    pk = models.CompositePrimaryKey("term_id", "segment_id")
    term = models.ForeignKey(LexicalTerm, on_delete=models.CASCADE, related_name="+", db_index=False)
    segment = models.ForeignKey(LexicalSegment, on_delete=models.CASCADE, related_name="postings")
    chunks = models.PositiveIntegerField()
    packed = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.term_id}/{self.segment_id}"


class LexicalStatistics(models.Model):
    """What BM25 needs of all chunks of a policy, kept with every change of the index; `doctor` counts again.

    ``policy`` is null for chunks of versions with a policy of their own. An embedding set that cuts otherwise has
    statistics of its own, so building it does not change what the active set answers.
    """

    field = models.PositiveSmallIntegerField(choices=LexicalField.choices)
    policy = models.ForeignKey(ChunkPolicy, on_delete=models.CASCADE, null=True, related_name="+")
    chunks = models.PositiveBigIntegerField(default=0)
    total_length = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["field", "policy"], nulls_distinct=False, name="one_row_of_lexical_statistics"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_field_display()} {self.policy_id}"
