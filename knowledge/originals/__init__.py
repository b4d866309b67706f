"""Originals as they look: pages of PDFs, parts of sheets, with the cited words and cells marked; and with notes."""

from knowledge.originals.annotated import AnnotatedCopy, annotate_original, can_annotate, read_notes, remove_notes
from knowledge.originals.marking import Ask, MarkedPage, SheetWindow, ShownCell, mark_cells, mark_pages
from knowledge.originals.searchable import has_read_pages, searchable_pdf
from knowledge.originals.shown import SHOWN_FORMATS, WIDTHS, PagePicture, draw_page, has_pictures, original_of
