"""Passages and documents as people read them: Markdown rendered, words and passages marked, long texts cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.admin_site.keyset import whole_number
from hub.admin_site.marked_markdown import Spans, render_marked, render_plain
from hub.core.errors import Conflict, NotFound
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Document, DocumentVersion, VersionContent
from knowledge.text.excerpts import excerpt, is_row, is_ruler, open_fence, table_head
from knowledge.text.sentences import lines_of
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.search import Hit

ROOM = 900
"""Characters of a passage that are shown before somebody asks for more."""
COLUMN_ROOM = 350
# Formats whose stored text is the author's own Markdown; parsers write that of the others.
_MARKDOWN_FORMATS = frozenset({"md", "epub", "ipynb"})
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.CAPTION})
PASSAGE = "passage"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """What is shown of a passage, and all of it where that is not all."""

    html: SafeString
    whole: SafeString | None = None
    begins_later: bool = False
    ends_earlier: bool = False


def shown_text(hit: Hit, *, room: int, is_markdown: bool) -> ShownText:
    """Render a hit's content; the header of a table that it goes on with is shown above its rows."""
    content, spans = hit.content, hit.highlights or ()
    start, end = excerpt(content, spans, room=room)
    html = _rendered(hit, start, end, is_markdown=is_markdown)
    if (start, end) == (0, len(content)):
        return ShownText(html=html)
    whole = _rendered(hit, 0, len(content), is_markdown=is_markdown)
    return ShownText(html=html, whole=whole, begins_later=start > 0, ends_earlier=end < len(content))


def markdown_versions(hits: Iterable[Hit]) -> frozenset[tuple[str, int]]:
    """Tell which (document, version) of some hits have Markdown of their author's own. One query."""
    rows = DocumentVersion.objects.filter(
        document__public_id__in={hit.document_id for hit in hits}, format__in=_MARKDOWN_FORMATS
    )
    return frozenset(rows.values_list("document__public_id", "number"))


def rendered_blocks(
    text: str, blocks: Sequence[Block], window: tuple[int, int], passage: tuple[int, int], *, is_markdown: bool
) -> SafeString:
    """Render the part ``window`` of a document with a passage marked, whose first mark has the id ``passage``.

    Each block stands for itself, so that no text is taken for markup of the next one; pages and cells are above
    what begins there. Text that is in no block (comments) is left out.
    """
    parts: list[str] = []
    anchor, place = PASSAGE, ""
    for block in blocks:
        start, end = max(block.start, window[0]), min(block.end, window[1])
        if start >= end:
            continue
        if anchor and passage[0] < passage[1] <= start:  # the passage is in no block
            parts.append(f'<span id="{anchor}"></span>')
            anchor = ""
        if (stated := _place_of(block)) != place:
            place = stated
            parts.append(format_html('<p class="hub-place">{}</p>', place) if place else "")
        spans = _inside([passage], start, end)
        parts.append(_rendered_block(text, block, (start, end), spans, anchor=anchor, is_markdown=is_markdown))
        anchor = "" if f'id="{anchor}"' in parts[-1] else anchor
    return SafeString("".join(parts))


def _place_of(block: Block) -> str:
    if block.page is not None:
        return f"p. {block.page}"
    return block.cell or "" if block.kind is BlockKind.TABLE else ""


def _rendered_block(
    text: str, block: Block, part: tuple[int, int], spans: Spans, *, anchor: str, is_markdown: bool
) -> SafeString:
    shown = text[slice(*part)]
    if block.kind is BlockKind.FRONT_MATTER or (not is_markdown and block.kind in _PROSE):
        return render_plain(shown, spans, anchor=anchor)
    head = ""
    if block.kind is BlockKind.TABLE and part[0] > block.start:
        head = table_head(text[block.start : part[1]], part[0] - block.start)
    elif block.kind is BlockKind.CODE:
        head = open_fence(text[block.start : part[0]], part[0] - block.start)
    return _with_head(head, shown, spans, anchor=anchor, is_markdown=is_markdown)


def is_own_markdown(version: DocumentVersion) -> bool:
    """Return whether the stored text of a version is Markdown as its author wrote it."""
    return version.format in _MARKDOWN_FORMATS


def _rendered(hit: Hit, start: int, end: int, *, is_markdown: bool) -> SafeString:
    content = hit.content
    head = table_head(content, start) or open_fence(content, start)
    if start == 0 and not head:
        return _from_the_beginning(hit, end, is_markdown=is_markdown)
    if not head and is_row(content[start:end]):
        head = _missing_head(hit, start, end)
    return _with_head(head, content[start:end], _inside(hit.highlights or (), start, end), is_markdown=is_markdown)


def _from_the_beginning(hit: Hit, end: int, *, is_markdown: bool) -> SafeString:
    """Render the beginning of a passage, which may be in the middle of a table, or of a row that was cut."""
    spans = hit.highlights or ()
    cut = _rest_of_row(hit)
    begun = render_marked(hit.content[:cut], _inside(spans, 0, cut), is_markdown=is_markdown) if cut else ""
    rest = hit.content[cut:end]
    head = _missing_head(hit, cut, end) if is_row(rest) else ""
    return SafeString(begun + _with_head(head, rest, _inside(spans, cut, end), is_markdown=is_markdown))


def _with_head(head: str, text: str, spans: Spans, *, is_markdown: bool, anchor: str = "") -> SafeString:
    shifted = [(start + len(head), end + len(head)) for start, end in spans]
    return render_marked(head + text, shifted, is_markdown=is_markdown, anchor=anchor)


def _inside(spans: Spans, start: int, end: int) -> list[tuple[int, int]]:
    within = ((max(first, start), min(last, end)) for first, last in spans)
    return [(first - start, last - start) for first, last in within if first < last]


def _head_in_context(hit: Hit) -> str:
    """The header that is in the context of a passage which goes on with a table, and the cells above that reach in."""
    lines = hit.context_prefix.splitlines(keepends=True)
    ruler = next((at for at in (len(lines) - 1, len(lines) - 2) if at > 0 and is_ruler(lines[at])), 0)
    if not ruler or not all(map(is_row, lines[ruler - 1 :])):
        return ""
    return "".join(lines[ruler - 1 :]).rstrip() + "\n"


def _rest_of_row(hit: Hit) -> int:
    """Tell where the first whole row begins in a passage that begins inside of one; 0 in any other."""
    if is_row(hit.content) or not _head_in_context(hit):
        return 0
    return hit.content.find("\n") + 1


def _missing_head(hit: Hit, start: int, end: int) -> str:
    """Give rows at the beginning of a passage a header: the one of their table, or an empty one where none is known."""
    rows = []
    for line in lines_of(hit.content, start, end):
        if not is_row(text := hit.content[slice(*line)]):
            break
        rows.append(text)
    if len(rows) > 1 and is_ruler(rows[1]):
        return ""
    if head := _head_in_context(hit):
        return head
    columns = max(row.replace("\\|", "").strip().strip("|").count("|") for row in rows) + 1
    return f"|{'  |' * columns}\n|{' --- |' * columns}\n"


AROUND_CHARS = 1_500
LONGEST_PASSAGE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageInPlace:
    """A passage, marked, with the text around it; whether the document goes on before and after that."""

    version: DocumentVersion
    html: SafeString
    begins_later: bool
    ends_earlier: bool


def around_passage(
    principal: Principal, document: Document, *, version: int | None, start: int, end: int
) -> PassageInPlace:
    """Render a passage of a document that the caller may read, with whole lines of about `AROUND_CHARS` on each side.

    ``version`` None is the one that a reader sees. Reading is written to the audit trail.

    :raises NotFound: the version is not there, or has no text. :raises Conflict: no version has.
    """
    chosen = readable_version(document) if version is None else document.versions.filter(number=version).first()
    content = VersionContent.objects.select_related("version").filter(pk=chosen.pk if chosen else None).first()
    if content is None:
        raise NotFound(
            _("{path} has no text of version {version}."), code="version_not_found", path=document.path, version=version
        )
    number = content.version.number
    record_event(principal, "DOCUMENT_READ", f"document:{document.public_id}", part="passages", version=number)
    text = content.markdown
    start = min(start, len(text))
    end = min(max(end, start), start + LONGEST_PASSAGE, len(text))
    first, last = _whole_lines(text, start - AROUND_CHARS, end + AROUND_CHARS)
    html = rendered_blocks(
        text, blocks_of(content), (first, last), (start, end), is_markdown=is_own_markdown(content.version)
    )
    return PassageInPlace(version=content.version, html=html, begins_later=first > 0, ends_earlier=last < len(text))


def _whole_lines(text: str, first: int, last: int) -> tuple[int, int]:
    """Widen a part of a text to whole lines, where they are not longer than what is shown around a passage."""
    first, last = max(first, 0), min(last, len(text))
    begun = text.rfind("\n", max(first - AROUND_CHARS, 0), first) + 1
    ended = text.find("\n", last, last + AROUND_CHARS)
    if begun or first <= AROUND_CHARS:
        first = begun
    if ended >= 0 or last + AROUND_CHARS >= len(text):
        last = ended if ended >= 0 else len(text)
    return first, last


WINDOW_CHARS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWindow:
    """One part of the text: what is before, in and after the marked passage (which may be empty).

    ``html`` is the part rendered. ``start`` and ``end`` are the passage's offsets in the whole text, ``previous_at``
    and ``next_at`` those where the neighbouring parts begin, None at the ends.
    """

    version: DocumentVersion
    html: SafeString
    start: int
    end: int
    before: str
    passage: str
    after: str
    previous_at: int | None
    next_at: int | None
    sections: tuple[Section, ...]


def read_text(
    principal: Principal, document: Document, versions: Sequence[DocumentVersion], asked: Mapping[str, str]
) -> TextWindow | None:
    """Give the part of the text that was asked for (``version``, ``start``, ``end``); None while there is no text.

    Reading is written to the audit trail.
    """
    content = _content(document, versions, whole_number(asked.get("version"), digits=9))
    if content is None:
        return None
    version = content.version.number
    record_event(principal, "DOCUMENT_READ", f"document:{document.public_id}", part="text", version=version)
    start = min(whole_number(asked.get("start"), digits=9) or 0, len(content.markdown))
    end = min(max(whole_number(asked.get("end"), digits=9) or start, start), start + LONGEST_PASSAGE)
    end = min(end, len(content.markdown))
    return _window(content, start, end)


def _content(document: Document, versions: Sequence[DocumentVersion], number: int | None) -> VersionContent | None:
    chosen = next((version for version in versions if version.number == number), None)
    if chosen is None:
        try:
            chosen = readable_version(document)
        except Conflict:  # its text is not there yet, which the state on the page says already
            return None
    return VersionContent.objects.select_related("version").filter(pk=chosen.pk).first()


def _window(content: VersionContent, start: int, end: int) -> TextWindow:
    text = content.markdown
    number = start // WINDOW_CHARS
    number -= _boundary(text, number) > start
    first, following = _boundary(text, number), _boundary(text, number + 1)
    last = max(following, end)
    return TextWindow(
        version=content.version,
        html=rendered_blocks(
            text, blocks_of(content), (first, last), (start, end), is_markdown=is_own_markdown(content.version)
        ),
        start=start,
        end=end,
        before=text[first:start],
        passage=text[start:end],
        after=text[end:last],
        previous_at=_boundary(text, number - 1) if number else None,
        next_at=last if last < len(text) else None,
        sections=sections_of(content),
    )


def _boundary(text: str, number: int) -> int:
    """Tell where a window begins: with a line, if one begins within its length."""
    at = min(number * WINDOW_CHARS, len(text))
    newline = text.find("\n", at, at + WINDOW_CHARS) if at else -1
    return at if newline < 0 else newline + 1


def outline_of(text: TextWindow | None) -> list[tuple[int, Section]]:
    """List the sections with their depth, 0 for the highest level that occurs."""
    if text is None or not text.sections:
        return []
    top = min(section.level for section in text.sections)
    return [(section.level - top, section) for section in text.sections]
