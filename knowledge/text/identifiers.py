"""Reading the requirement-like identifiers of a document: which are defined, which are only referred to, and where."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from hub.core.patterns import StoredMatch, StoredPattern
from knowledge.text.folding import normalise
from knowledge.text.identifier_shapes import (
    COMMON,
    Family,
    Mention,
    Role,
    conventions,
    number_of,
    prefix_of,
    range_end,
    renumbered,
    shape_with,
)
from knowledge.text.outline import apparatus, inside
from knowledge.text.structure import section_at
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import Block, BlockKind, Section

_FULL_WIDTH = [character for character in map(chr, range(0xFF01, 0xFF5F)) if character.isalnum()]
_NARROW = str.maketrans({character: normalise(character) for character in _FULL_WIDTH} | dict.fromkeys("‐‑‒–−－", "-"))
_ID_COLUMN = re.compile(r"^(?:.{0,12}(?:ID|識別子|番号|No\.?|コード|項番|#))$|^(?:id|no\.?)$", re.IGNORECASE)
_LINK_COLUMN = re.compile(
    r"^(?:対応|関連|参照|追跡|トレース|検証|実現|実装)|(?:章|節|ページ|設計書|コンポーネント|モジュール|ケース|ID|番号|優先度|重要度"
    r"|状態|ステータス|状況|担当|担当者|期限|備考|可否|結果|判定|有無)$"
    r"|\b(?:components?|modules?|chapter|section|test\s*cases?|status|owner|remarks?)$",
    re.IGNORECASE,
)
_ID_LABEL = re.compile(r"(?:ID|番号|識別子)\**\s*[:：]\s*\**\s*\Z", re.IGNORECASE)
_RELATED_LABEL = re.compile(r"(?:対応|関連|参照|上位|元|related)[^:：]{0,8}ID\**\s*[:：]")
# How many characters directly before an identifier are looked at.
_BESIDE = 80
# 文書ID: DES-001, REQ-001（要件定義書 v1.2）, 要件定義書（REQ-001）: names of whole documents.
_DOCUMENT_LABEL = re.compile(
    r"(?:(?:文書|ドキュメント|資料|図書)(?:ID|番号|No\.?|コード)|管理番号|関連文書|参照文書|参考文書|適用文書|document\s*id)\**\s*[:：|]",
    re.IGNORECASE,
)
_DOCUMENT_BEFORE = re.compile(r"(?:書|資料|計画|標準|規程|マニュアル|ガイド)\s*[（(「『【\[]\s*\Z")
_DOCUMENT_AFTER = re.compile(
    r"\s*+[（(「『]?+\s*+[^\s|（(、。]{1,20}?(?:書|仕様|計画書|マニュアル|ガイドライン|規程)(?=[\s）)」』v第|]|$)"
)
_OWN_ID = re.compile(
    r"(?:文書|ドキュメント|資料|図書|document)\s*(?:ID|番号|No\.?|コード)(?:[\s*_|]*+[:：][\s*_|]*+|[\s*_]*+\|[\s*_|]*+)(?P<id>[A-Z][A-Z0-9-]{1,20}-\d{1,6})(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_HEADED = re.compile(r"[#\s*_`【\[]*(?:[0-9]+(?:\.[0-9]+)*\.?\s+)?(?P<id>[^\s:：】\]]{2,20})[\s:：】\]]+[^\s#]")
_LIST_START = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]*)?[*_`]*$")
_DEFINING_AFTER = re.compile(r"[*_`]*\s*(?:[:：|]|[（(][^）)]{1,300}[）)]\s*[:：]|\s\S|$)")
_CELL_BORDER = re.compile(r"\|")
# The first cell of a form's row: | ユースケースID | UC-001 |, with more labels below each other in one cell.
_FORM_LABEL = re.compile(
    r"\s*\|\s*\**(?P<label>[^|\n<]{0,12}(?:ID|識別子|番号|No\.?))\**\s*(?:<br>[^|\n]{0,60})?\|\s*[*`]*", re.IGNORECASE
)
_LARGEST_RANGE = 500


@lru_cache(maxsize=4)
def read_families(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> tuple[Family, ...]:
    """Return the identifier families of a document, ordered by first mention.

    Names of standards, and of whole documents (文書ID: DES-001), are no members. A prefix counts as a family if one
    of its members is defined here, or if it names requirements by custom and a member is referred to in text.
    """
    reader = _Reader(text, sections, blocks)
    by_prefix: dict[str, list[Mention]] = {}
    for mention in reader.mentions():
        by_prefix.setdefault(prefix_of(mention.id), []).append(mention)
    return tuple(
        Family(prefix=prefix, mentions=tuple(mentions), role=reader.role(prefix, mentions))
        for prefix, mentions in by_prefix.items()
        if _is_family(prefix, mentions)
    )


def read_matches(
    pattern: StoredPattern, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]
) -> tuple[Mention, ...]:
    """Return what ``pattern`` matches outside of table of contents and history, in document order.

    For identifiers of another shape than those of :func:`read_families`; whether a mention defines is judged alike.
    """
    reader = _Reader(text, sections, blocks)
    return tuple(reader.matches(pattern))


def names_of_document(text: str) -> tuple[str, ...]:
    """Return the identifiers that a document gives itself (文書ID: DES-001, Document ID: REQ-1), in document order."""
    plain = text.translate(_NARROW)
    return tuple(dict.fromkeys(match["id"] for match in _OWN_ID.finditer(plain)))


def _is_family(prefix: str, mentions: list[Mention]) -> bool:
    if any(mention.defines for mention in mentions):
        return True
    by_custom = prefix in conventions()["requirement_prefixes"]["prefixes"]
    return by_custom and any(not mention.in_code for mention in mentions)


_Match = re.Match[str] | StoredMatch


class _Reader:
    def __init__(self, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> None:
        # Code points are kept one for one, so that offsets hold: full-width letters and digits only are folded.
        self._text = text.translate(_NARROW)
        self._sections = sections
        self._blocks = blocks
        self._breaks = [found.start() for found in re.finditer("\n", self._text)]
        self._first_ends: dict[tuple[re.Pattern[str], int], int] = {}
        self._block_starts = [block.start for block in blocks]
        self._apparatus = apparatus(text, sections)
        self._tables = read_tables(text, blocks)
        self._rows = {row.start: (table, row) for table in self._tables for row in table.rows}
        self._by_id = {section.id: section for section in sections}
        self._shape = shape_with(self._written_as_ids())

    def _written_as_ids(self) -> Iterator[str]:
        """Yield what is in id columns, and at the start of headings before a name."""
        for table in self._tables:
            column = self._id_column(table)
            if column < len(table.header.cells) and _ID_COLUMN.match(table.header.cells[column].text):
                cells = (row.cells[column] for row in table.rows if column < len(row.cells))
                yield from (self._text[cell.start : cell.end] for cell in cells)
        for section in self._sections:
            if found := _HEADED.match(self._text[section.start : section.body_start]):
                yield found["id"]

    def mentions(self) -> Iterator[Mention]:
        documents = set()
        found = []
        for match in self._shape.finditer(self._text):
            first = prefix_of(match.group()).split("-")[0]
            if first in conventions()["not_identifiers"]["prefixes"] and not self._in_id_column(match.start()):
                continue
            if self._names_document(match):
                documents.add(match.group())
            elif not inside(self._apparatus, match.start()):
                found.append(match)
        for match in found:
            if match.group() not in documents:
                yield from self._expanded(match)

    def matches(self, pattern: StoredPattern) -> Iterator[Mention]:
        for match in pattern.matches(self._text):
            if match.start() < match.end() and not inside(self._apparatus, match.start()):
                yield self._mention(match)

    def _mention(self, match: _Match) -> Mention:
        in_code = self._kind(match.start()) is BlockKind.CODE
        defines = not in_code and self._defines(match)
        return Mention(id=match.group(), start=match.start(), end=match.end(), defines=defines, in_code=in_code)

    def role(self, prefix: str, mentions: list[Mention]) -> Role:
        contexts = [self._context(mention.start) for mention in mentions if mention.defines]
        roles = conventions()["roles"]
        for role in (Role.TEST, Role.REGISTER, Role.DOWNSTREAM):
            pattern = re.compile(str(roles[role.value]), re.IGNORECASE)
            hits = sum(1 for context in contexts if pattern.search(context))
            if contexts and 2 * hits > len(contexts):
                return role
        return Role.OTHER

    def _expanded(self, match: re.Match[str]) -> Iterator[Mention]:
        first_mention = self._mention(match)
        yield first_mention
        if not (to := range_end(self._text, match)):
            return
        stop = to.last if to.repeats else to.last + 1
        first = number_of(match.group())
        for number in range(first + 1, min(stop, first + _LARGEST_RANGE)):
            yield Mention(
                id=renumbered(match.group(), number), start=match.start(), end=to.end, in_code=first_mention.in_code
            )

    def _defines(self, match: _Match) -> bool:
        line_start, line_end = self._line(match.start())
        before = self._text[max(line_start, match.start() - _BESIDE) : match.start()]
        kind = self._kind(match.start())
        if kind is BlockKind.HEADING:
            is_first = not before.strip("# *_`\t　[【(（0123456789.") and match.start() - line_start <= _BESIDE
            return is_first and not self._text.startswith(("〜", "~", "～"), match.end())
        if kind is BlockKind.TABLE:
            return self._defines_in_row(match)
        if _ID_LABEL.search(before):
            return not self._is_before(_RELATED_LABEL, match.start())
        return bool(
            _LIST_START.match(self._text, line_start, match.start())
            and _DEFINING_AFTER.match(self._text, match.end(), line_end)
            and not range_end(self._text, match)
        )

    def _defines_in_row(self, match: _Match) -> bool:
        """The first cell of a row defines if it is the id, with or without a name, and the other cells say more."""
        line_start, _line_end = self._line(match.start())
        if self._is_beside_label(match):
            return True
        table, row = self._rows.get(line_start) or self._rows.get(self._indented(line_start)) or (None, None)
        if table is None or row is None or not row.cells:
            return False
        column = self._id_column(table)
        if column >= len(row.cells):
            return False
        cell = row.cells[column]
        leading = len(cell.text) - len(cell.text.lstrip("*_`[【(（ "))
        if not cell.start <= match.start() < cell.end or match.start() - cell.start > leading:
            return False
        rest = self._text[match.end() : cell.end].strip(" *_`")
        others = [cell.text for index, cell in enumerate(table.header.cells) if index != column]
        # A table of ids with chapters, test cases or states beside them refers to what is defined elsewhere.
        if not rest and others and all(_LINK_COLUMN.search(header) for header in others):
            return False
        several = self._shape.search(rest) or rest[:1] in ("〜", "~", "～", ",", "、", "，", "/", "／")
        return not several and any(self._says_something(other.text) for other in row.cells if other is not cell)

    def _is_beside_label(self, match: _Match) -> bool:
        """Whether the row heads a form: 要件ID beside the id, with the name in the same cell or none."""
        line_start, line_end = self._line(match.start())
        before = self._text[line_start : match.start()]
        label = _FORM_LABEL.fullmatch(before)
        return (
            label is not None
            and not _RELATED_LABEL.search(label["label"] + ":")
            and not self._shape.search(self._text, match.end(), line_end)
        )

    def _id_column(self, table: Table) -> int:
        """Return the first column, or the second one where the first only counts rows (No., #)."""
        headers = [cell.text for cell in table.header.cells]
        counts = bool(headers) and bool(re.fullmatch(r"(?:No\.?|#|項番|番号|連番)", headers[0], re.IGNORECASE))
        if not counts or len(headers) < 2 or not _ID_COLUMN.match(headers[1]):
            return 0
        return 0 if any(row.cells and COMMON.match(row.cells[0].text) for row in table.rows) else 1

    def _says_something(self, cell: str) -> bool:
        return bool(cell.strip("-－—*_` 　")) and not self._shape.fullmatch(cell)

    def _in_id_column(self, offset: int) -> bool:
        line_start, _line_end = self._line(offset)
        table, row = self._rows.get(line_start, (None, None))
        if table is None or row is None or not row.cells or not table.header.cells:
            return False
        first = row.cells[0]
        return first.start <= offset < first.end and bool(_ID_COLUMN.match(table.header.cells[0].text))

    def _names_document(self, match: re.Match[str]) -> bool:
        line_start, line_end = self._line(match.start())
        if self._is_before(_DOCUMENT_LABEL, match.start()):
            return True
        if _DOCUMENT_BEFORE.search(self._text[max(line_start, match.start() - _BESIDE) : match.start()]):
            return True
        is_named = _DOCUMENT_AFTER.match(self._text, match.end(), line_end)
        return is_named is not None and not self._is_before(_CELL_BORDER, match.start())

    def _is_before(self, pattern: re.Pattern[str], offset: int) -> bool:
        """Return whether a match ends on the offset's line before it; each line is searched once."""
        start, end = self._line(offset)
        if (pattern, start) not in self._first_ends:
            found = pattern.search(self._text, start, end)
            self._first_ends[pattern, start] = found.end() if found else end + 1
        return self._first_ends[pattern, start] <= offset

    def _context(self, offset: int) -> str:
        section = section_at(self._sections, offset)
        names = list(section.path) if section else []
        line_start, _line_end = self._line(offset)
        entry = self._rows.get(line_start)
        if entry:
            names += [cell.text for cell in entry[0].header.cells]
        return "\n".join(names)

    def _kind(self, offset: int) -> BlockKind | None:
        index = bisect_right(self._block_starts, offset) - 1
        inside_block = index >= 0 and offset < self._blocks[index].end
        return self._blocks[index].kind if inside_block else None

    def _line(self, offset: int) -> tuple[int, int]:
        """Start and end of the line that holds an offset."""
        at = bisect_left(self._breaks, offset)
        start = self._breaks[at - 1] + 1 if at else 0
        return start, self._breaks[at] if at < len(self._breaks) else len(self._text)

    def _indented(self, line_start: int) -> int:
        start, end = self._line(line_start)
        line = self._text[start:end]
        return start + len(line) - len(line.lstrip())
