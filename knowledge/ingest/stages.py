"""The stages of ingestion. Each does its work for one leased version and writes its result in one transaction."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence

import numpy as np
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from hub.core import bus
from hub.core.lease import Lease
from hub.core.replicas import note_write
from knowledge.chunkers import chunk_document
from knowledge.embedders import Embedder, Vectors
from knowledge.graph.contribute import insert_new
from knowledge.index.active_embedder import active_embedding_set, embedder_of, lock_publications, policy_id_of
from knowledge.index.outside import admit_versions
from knowledge.index.postings import delete_postings
from knowledge.index.vectors import EMBED_BATCH, delete_vectors, embed_chunks, write_embedded
from knowledge.ingest import page_readings
from knowledge.ingest.content import blocks_of, content_of, sections_of, store_content
from knowledge.ingest.figures import put_figures, store_figures
from knowledge.models import (
    Chunk,
    ChunkPolicy,
    ChunkVector,
    Document,
    DocumentStatus,
    DocumentType,
    DocumentVersion,
    EmbeddingSet,
    EmbeddingSetStatus,
    TypeGuess,
    VersionContent,
)
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import parse_isolated
from knowledge.storage import get_blob_store
from knowledge.text.document_kinds import guess_kind
from knowledge.text.structure import figures_without_picture
from knowledge.types.chunks import ChunkSpan
from knowledge.types.documents import BlockKind, ParsedDocument

# Writing has a price for each transaction and each segment of the lexical index; people watch the progress it notes.
WRITE_BATCH = 32
WRITE_AFTER_S = 4.0
EMBED_SLICE_S = 20.0
# A child that neither ends nor uses the processor hangs; on an overloaded machine one that works looks much the same.
WALL_PER_CPU = 5


def parse(version: DocumentVersion, lease: Lease) -> DocumentStatus:
    """Read the stored bytes in a child process and store Markdown and structure, with what OCR read so far."""
    with get_blob_store().local_path(version.blob_id) as path:
        readings = page_readings.readings_of(version)
        parsed = parse_isolated(
            path, filename=version.filename, limits=parse_limits(), heartbeat=lease.renew, readings=readings
        )
    title_before, name_before = _names_before(version)
    content = content_of(version, parsed)
    put_figures(parsed.figures)
    with transaction.atomic():
        lease.change(**_structure(parsed, sections=len(content.sections)))
        store_content(content)
        store_figures(version, parsed.figures)
        title = version.document.title
        if content.title and title in (version.filename, title_before, name_before):
            Document.objects.filter(pk=version.document_id).update(title=content.title)
        elif name_before and title == name_before:
            Document.objects.filter(pk=version.document_id).update(title=version.filename)
        page_readings.take_over_readings(version)
        is_unread = bool(page_readings.unread(version))
        if not is_unread:
            _guess_type(version, content)
    if is_unread:
        return DocumentStatus.READING
    # What was taken over just now has yet to be put in.
    return DocumentStatus.CHUNKING if page_readings.has_all(version, readings) else DocumentStatus.PARSING


def read(version: DocumentVersion, lease: Lease) -> DocumentStatus:
    """Read the pages and pictures without text with OCR, for a bounded time."""
    return page_readings.read_some(version, lease)


def _guess_type(version: DocumentVersion, content: VersionContent) -> None:
    """Give a document whose uploader wanted it the type that its title, file name or first headings name, if any."""
    waiting = Document.objects.filter(pk=version.document_id, type_guess=TypeGuess.WANTED)
    title = waiting.values_list("title", flat=True).first()
    if title is None:
        return
    names = {one.code: (one.name_ja, one.name_en) for one in DocumentType.objects.exclude(code="other")}
    headings = [section.title for section in sections_of(content)]
    guess = guess_kind(title, version.filename, headings, names)
    if guess in names:
        waiting.update(document_type_id=guess, type_guess=TypeGuess.MADE)
    else:
        waiting.update(type_guess=TypeGuess.NONE)


def _names_before(version: DocumentVersion) -> tuple[str, str]:
    """The title and file name of the version before: where the document has one of these, nobody chose it."""
    before = DocumentVersion.objects.filter(document=version.document_id, number=version.number - 1)
    title, filename = before.values_list("content__title", "filename").first() or (None, "")
    return title or "", filename


def parse_limits() -> ParseLimits:
    """The limits under which documents are opened, as the settings give them."""
    config = settings.CONFIG
    return ParseLimits(
        wall_s=WALL_PER_CPU * config.hub_parse_timeout_s,
        cpu_s=config.hub_parse_timeout_s,
        memory_bytes=config.hub_parse_memory_bytes,
        max_input_bytes=config.hub_max_upload_bytes,
        max_expanded_bytes=config.hub_max_expanded_bytes,
        max_pages=config.hub_max_pages,
        max_cells=config.hub_max_cells,
    )


def _structure(parsed: ParsedDocument, *, sections: int) -> dict[str, object]:
    """What a version's row says of its structure, by column."""
    kinds = [block.kind for block in parsed.blocks]
    shown = {figure.start for figure in parsed.figures}
    bare = figures_without_picture(parsed.markdown, parsed.blocks, shown=shown)
    return {
        "format": parsed.format,
        "notices": [notice.as_dict() for notice in parsed.notices],
        "pages_count": parsed.pages_count,
        "sections_count": sections,
        "tables_count": kinds.count(BlockKind.TABLE),
        "figures_count": len(parsed.figures) + len(bare),
        "character_count": len(parsed.markdown),
    }


def chunk(version: DocumentVersion, lease: Lease) -> DocumentStatus:
    """Cut the Markdown into chunks that the embedding model can take whole."""
    embedding_set = active_embedding_set()
    policy = version.policy if version.has_own_policy else embedding_set.policy
    rows = cut(version, policy, embedder_of(embedding_set), heartbeat=lease.renew)
    lease.renew()
    with transaction.atomic():
        lease.change(chunks_count=len(rows), policy=policy)
        remove_chunks(version)
        store_chunks(rows)
    return DocumentStatus.EMBEDDING


def cut(
    version: DocumentVersion, policy: ChunkPolicy, embedder: Embedder, *, heartbeat: Callable[[], None] | None = None
) -> list[Chunk]:
    """Make the chunks of a version's text for a policy and a model, in order; nothing is stored yet.

    Cutting by meaning takes about as long as embedding does: ``heartbeat`` is called on the way.
    """

    def embed_sentences(texts: Sequence[str]) -> Vectors:
        if heartbeat is not None:
            heartbeat()
        admit_versions(embedder, [version.pk])
        return embedder.embed_passages(texts)

    content = version.content
    spans = chunk_document(
        content.markdown,
        blocks_of(content),
        sections_of(content),
        policy.options(),
        embedder.count_tokens,
        token_limit=embedder.max_tokens,
        embed=embed_sentences,
    )
    return [_chunk_row(version, policy, content.markdown, span) for span in spans]


def _chunk_row(version: DocumentVersion, policy: ChunkPolicy, markdown: str, span: ChunkSpan) -> Chunk:
    name = f"{version.public_id}|{policy.pk}|{span.index}"
    return Chunk(
        public_id="chk_" + hashlib.sha256(name.encode()).hexdigest()[:24],
        version=version,
        policy=policy,
        index=span.index,
        content=markdown[span.start : span.end],
        context_prefix=span.context_prefix,
        section_path=list(span.section_path),
        page=span.page,
        cell=span.cell,
        start_offset=span.start,
        end_offset=span.end,
        token_count=span.token_count,
        has_table=span.has_table,
        has_figure=span.has_figure,
        language=span.language,
        ocr_confidence=span.ocr_confidence,
    )


def store_chunks(chunks: Sequence[Chunk]) -> None:
    """Write new chunks, in order. :raises IntegrityError: one of them was there already."""
    columns = [field.attname for field in Chunk._meta.concrete_fields if not field.primary_key]
    made = insert_new(Chunk, [{column: getattr(chunk, column) for column in columns} for chunk in chunks])
    if len(made) != len(chunks):
        raise IntegrityError("there are chunks of these names already")


def remove_chunks(version: DocumentVersion) -> int:
    """Remove a version's chunks and all that makes them findable; gives their number."""
    ids = list(Chunk.objects.filter(version=version).values_list("pk", flat=True))
    if ids:
        unindex(ids)
        Chunk.objects.filter(pk__in=ids).delete()
    return len(ids)


def unindex(chunk_ids: list[int]) -> None:
    """Take chunks out of every index; the chunks themselves stay readable."""
    if chunk_ids:
        delete_postings(chunk_ids)
        delete_vectors(chunk_ids)


def embed(version: DocumentVersion, lease: Lease) -> DocumentStatus:
    """Embed and index the chunks that have no vector yet, for a bounded time; then flip the document to them.

    A chunk's vector and postings are written together, so whatever was written before a crash is whole. When the
    active embedding set changed meanwhile to one that cuts otherwise, the version is cut again. Sets that are built
    or kept beside the active one get this version's chunks later (knowledge.embedding_sets.builds).
    """
    embedding_set = active_embedding_set()
    if policy_id_of(version, embedding_set) != version.policy_id:
        return DocumentStatus.CHUNKING
    embedder = embedder_of(embedding_set)
    has_vector = ChunkVector.objects.filter(embedding_set=embedding_set, chunk=OuterRef("pk"))
    chunks = Chunk.objects.filter(version=version, policy_id=version.policy_id).order_by("index")
    waiting = chunks.filter(~Exists(has_vector))[:WRITE_BATCH]
    deadline = time.monotonic() + EMBED_SLICE_S
    is_last = False
    while not is_last and (batch := list(waiting.all())):
        done, vectors = _embed_some(batch, embedder, lease)
        with transaction.atomic():
            _note_progress(version, lease, done=done[-1].index + 1)
            write_embedded(embedding_set, done, vectors, document=version.document)
        is_last = len(done) == len(batch) < WRITE_BATCH
        if not is_last and time.monotonic() > deadline:
            return DocumentStatus.EMBEDDING
    return _publish(version, lease, embedding_set)


def _embed_some(batch: Sequence[Chunk], embedder: Embedder, lease: Lease) -> tuple[Sequence[Chunk], Vectors]:
    """Embed the first chunks of a batch, as many as a slow model does in a few seconds: what a crash may lose."""
    deadline = time.monotonic() + WRITE_AFTER_S
    vectors: list[Vectors] = []
    for start in range(0, len(batch), EMBED_BATCH):
        vectors.append(embed_chunks(batch[start : start + EMBED_BATCH], embedder))
        lease.renew()
        if time.monotonic() > deadline:
            break
    stacked = np.concatenate(vectors)
    return batch[: len(stacked)], stacked


def _note_progress(version: DocumentVersion, lease: Lease, *, done: int) -> None:
    total = version.chunks_count or done
    progress = 20 + int(79 * done / max(total, 1))
    lease.change(progress=progress)
    event = {"document_id": version.document.public_id, "status": "embedding", "progress": progress}
    transaction.on_commit(lambda: bus.publish(f"document:{version.document.public_id}", event))


def _publish(version: DocumentVersion, lease: Lease, embedding_set: EmbeddingSet) -> DocumentStatus:
    """Make this version what search sees, in one transaction; the version before it leaves the index.

    Not when another embedding set has become the active one: the version needs vectors of that one first.
    """
    # Text and blocks of a large document are megabytes that nothing asks for here.
    stored_pages = VersionContent.objects.values_list("pages", flat=True).get(pk=version.pk)
    needs_ocr = [page["number"] for page in stored_pages if page["needs_ocr"]]
    with transaction.atomic():
        lock_publications(shared=True)
        if active_embedding_set().pk != embedding_set.pk:
            return DocumentStatus.EMBEDDING
        document = Document.objects.select_for_update().get(pk=version.document_id)
        lease.lock()
        newer_is_current = document.current_version is not None and document.current_version.number > version.number
        if not newer_is_current:
            old = Chunk.objects.filter(version__document=document).exclude(version=version)
            unindex(list(old.filter(vectors__isnull=False).values_list("pk", flat=True).distinct()))
            Document.objects.filter(pk=document.pk).update(current_version=version, updated_at=timezone.now())
            note_write(document.owner_id)  # who hears that it is ready is to find it
            others = EmbeddingSet.objects.filter(is_active=False, status=EmbeddingSetStatus.READY)
            others.update(status=EmbeddingSetStatus.BUILDING)
        if needs_ocr:
            pages = ", ".join(map(str, needs_ocr[:20])) + (" …" if len(needs_ocr) > 20 else "")
            advice = page_readings.advice(version)
            DocumentVersion.objects.filter(pk=version.pk).update(
                status_code="needs_ocr",
                status_reason_ja=f"文字を読み取れないページがあります（{pages}）。{advice.ja}",
                status_reason_en=f"Pages whose text could not be read: {pages}. {advice.en}",
            )
    return DocumentStatus.NEEDS_OCR if needs_ocr else DocumentStatus.READY
