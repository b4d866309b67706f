"""Storing the pictures that a parser found."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hub.rest.uploads import temp_dir
from knowledge.models import Blob, DocumentVersion, Figure
from knowledge.storage import expect_bytes, get_blob_store, lock_bytes, received_bytes, remove_unused_blobs
from knowledge.types.documents import ParsedFigure


def expect_figures(figures: Sequence[ParsedFigure]) -> None:
    """Note that the pictures' bytes are about to be written. Before the transaction of `store_figures`."""
    if figures:
        expect_bytes(hashlib.sha256(figure.data).hexdigest() for figure in figures)


def store_figures(version: DocumentVersion, figures: Sequence[ParsedFigure]) -> None:
    """Write a version's pictures and their bytes in place of what an earlier try wrote; needs an open transaction.

    Ids come from version and position, so that working again gives the same ones; a description that a model made
    stays with the same bytes.
    """
    hashes = [hashlib.sha256(figure.data).hexdigest() for figure in figures]
    before = {row.blob_id: row for row in Figure.objects.filter(version=version)}
    for sha256 in sorted({*hashes, *before}):  # always in this order, so that two stages never wait for each other
        lock_bytes(sha256)
    _store_bytes(dict(zip(hashes, figures, strict=True)))
    if before:
        Figure.objects.filter(version=version).delete()
    Figure.objects.bulk_create(
        _row(version, index, figure, sha256, before.get(sha256))
        for index, (figure, sha256) in enumerate(zip(figures, hashes, strict=True))
    )
    if gone := before.keys() - set(hashes):
        remove_unused_blobs(gone)


def _store_bytes(figures: dict[str, ParsedFigure]) -> None:
    if not figures:
        return
    known = set(Blob.objects.filter(pk__in=figures).values_list("pk", flat=True))
    new = {sha256: figure.data for sha256, figure in figures.items() if sha256 not in known}
    store = get_blob_store()
    with tempfile.TemporaryDirectory(prefix="hub-figures-", dir=temp_dir()) as folder:
        path = Path(folder, "figure")
        for sha256, data in new.items():
            path.write_bytes(data)
            store.put(sha256, path)
    Blob.objects.bulk_create(Blob(sha256=sha256, size_bytes=len(data)) for sha256, data in new.items())
    received_bytes(figures)


def _row(version: DocumentVersion, index: int, figure: ParsedFigure, sha256: str, before: Figure | None) -> Figure:
    name = f"{version.public_id}|figure|{index}"
    return Figure(
        public_id="fig_" + hashlib.sha256(name.encode()).hexdigest()[:24],
        version=version,
        index=index,
        blob_id=sha256,
        media_type=figure.media_type,
        caption=figure.caption,
        alt_text=figure.alt_text,
        page=figure.page,
        cell=figure.cell,
        start_offset=figure.start,
        end_offset=figure.end,
        description=before.description if before else "",
        description_model=before.description_model if before else "",
    )
