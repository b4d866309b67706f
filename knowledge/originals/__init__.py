"""Originals as they look: pages, parts of sheets, with the cited words and cells marked; and with notes."""

from knowledge.originals.annotated import AnnotatedCopy, annotate_original, can_annotate, read_notes, remove_notes
from knowledge.originals.asking import takes_a_while
from knowledge.originals.marking import (
    Ask,
    MarkedPage,
    SheetWindow,
    ShownCell,
    mark_cells,
    mark_document,
    mark_pages,
)
from knowledge.originals.searchable import has_read_pages, searchable_pdf
from knowledge.originals.shown import WIDTHS, PagePicture, draw_page, has_pictures, is_shown, original_of
