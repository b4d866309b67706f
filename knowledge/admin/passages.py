"""A passage as people read it: its Markdown rendered, its words marked, a long one cut to what answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from hub.admin_site.marked_markdown import Spans, render_marked, render_plain
from knowledge.models import DocumentVersion
from knowledge.text.excerpts import excerpt, is_row, is_ruler, open_fence, table_head
from knowledge.text.sentences import lines_of
from knowledge.types.documents import Block, BlockKind
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

    Each block stands for itself, so that no text is taken for markup of the next one; pages and cells stand above
    what begins there. Text that is in no block (comments) is left out.
    """
    parts: list[str] = []
    anchor, place = PASSAGE, ""
    for block in blocks:
        start, end = max(block.start, window[0]), min(block.end, window[1])
        if start >= end:
            continue
        if anchor and passage[0] < passage[1] <= start:  # the passage stands in no block
            parts.append(f'<span id="{anchor}"></span>')
            anchor = ""
        if (told := _place_of(block)) != place:
            place = told
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
    """Tell whether the stored text of a version is Markdown as its author wrote it."""
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
    """Render the beginning of a passage, which may stand in the middle of a table, or of a row that was cut."""
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


def _told_head(hit: Hit) -> str:
    """The header that stands in the context of a passage which goes on with a table."""
    lines = hit.context_prefix.splitlines(keepends=True)
    if len(lines) < 2 or not is_ruler(lines[-1]) or not is_row(lines[-2]):
        return ""
    return f"{lines[-2]}{lines[-1].rstrip()}\n"


def _rest_of_row(hit: Hit) -> int:
    """Tell where the first whole row begins in a passage that begins inside of one; 0 in any other."""
    if is_row(hit.content) or not _told_head(hit):
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
    if told := _told_head(hit):
        return told
    columns = max(row.replace("\\|", "").strip().strip("|").count("|") for row in rows) + 1
    return f"|{'  |' * columns}\n|{' --- |' * columns}\n"
