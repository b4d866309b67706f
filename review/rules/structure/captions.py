"""Captions of figures and tables with their numbers, and the places that refer to such numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.prose import read_prose

_KIND = r"(?P<kind>図表|図|表|写真|Figure|Fig\.?|Table)"
_NUMBER = r"(?P<number>[A-Z]?[0-9]+(?:[-.][0-9]+)*)"
_CAPTION = re.compile(
    rf"[\s*_【\[（(]*{_KIND}\s*{_NUMBER}(?![0-9A-Za-z])[\s*_:.)）】\]]*(?P<title>[^\n]*)", re.IGNORECASE
)
_IMAGE_ALT = re.compile(
    rf"!\[(?=[^\]\n]{{0,600}}\])\s*+{_KIND}\s*+{_NUMBER}[\s:.]*+(?P<title>[^\]\n]*)\]", re.IGNORECASE
)
# 代表1名 and 発表2件 hold 表, 別表1 is another thing, 図2次元 is no number; 上記図1 and 前掲表2 are references.
_REFERENCE = re.compile(
    r"(?:(?<![一-龯々ァ-ヴーA-Za-z])|(?<=[記掲]))(?:図表|図|表|写真|(?:Figure|Fig\.?|Table)(?=[\s0-9]))\s*"
    r"(?P<number>[A-Z]?[0-9]+(?:[-.][0-9]+)*)(?![0-9A-Za-z]|\s*[次件人名個点回つ枚本式年月日])"
    r"(?:\s*[〜~～]\s*(?:図表|図|表)?\s*(?P<last>[A-Z]?[0-9]+(?:[-.][0-9]+)*))?",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"(?:書|ガイド|ガイドライン|標準|規程|規格|指針|要領|手引き?|マニュアル|論文|別紙[^。\s]{0,6}|別添[^。\s]{0,6}|(?<![A-Z])[A-Z]{2,}+\s?[0-9.:-]++)[」』）)\s]*+の?\s*+$"
)
_KINDS = {"figure": "図", "fig": "図", "fig.": "図", "table": "表"}
_BEFORE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A numbered figure or table: at a caption, or where it is referred to. ``title`` is a caption's wording."""

    kind: str
    number: str
    start: int
    end: int
    title: str = ""

    @property
    def label(self) -> str:
        return f"{self.kind}{self.number}"

    @property
    def prefix(self) -> str:
        """The chapter that the number counts in: ``3`` of 図3-2, '' of 図2."""
        return re.sub(r"-?[0-9]+$", "", self.number)

    @property
    def ordinal(self) -> int:
        return int(re.findall(r"[0-9]+", self.number)[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Captions:
    """The numbered captions of a document and the references to such numbers, both in document order."""

    captions: tuple[Numbered, ...]
    references: tuple[Numbered, ...]


@lru_cache(maxsize=4)
def read_captions(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Captions:
    """Read captions (caption blocks, and numbered alt texts of pictures) and references outside them.

    A list of figures or tables and the change history hold neither; references to another document's figures are left
    out.
    """
    skipped = apparatus(text, sections)
    plain = narrow(text)
    captions = [found for found in _captions(plain, blocks) if not inside(skipped, found.start)]
    lines = {(block.start, block.end) for block in blocks if block.kind is BlockKind.CAPTION}
    masked = narrow(read_prose(text, blocks).masked)
    references = [
        found for found in _references(masked) if not inside(skipped, found.start) and not inside(lines, found.start)
    ]
    return Captions(captions=tuple(captions), references=tuple(references))


def _captions(plain: str, blocks: tuple[Block, ...]) -> Iterator[Numbered]:
    for block in blocks:
        if block.kind is BlockKind.CAPTION:
            match = _CAPTION.match(plain, block.start, block.end)
        elif block.kind in (BlockKind.FIGURE, BlockKind.PARAGRAPH):
            match = _IMAGE_ALT.search(plain, block.start, block.end)
        else:
            continue
        if match:
            start = match.start("kind")
            yield _numbered(match["kind"], match["number"], start, match.end("number"), fold_compact(match["title"]))


def _references(masked: str) -> Iterator[Numbered]:
    for match in _REFERENCE.finditer(masked):
        if _OF_ANOTHER.search(masked[max(0, match.start() - _BEFORE) : match.start()]):
            continue
        kind = re.match(r"[^\s0-9]+", match.group())
        first = _numbered(kind.group() if kind else "", match["number"], match.start(), match.end("number"))
        yield first
        last = match["last"]
        if last and re.fullmatch(r"[0-9]+", re.sub(r"^.*[-.]", "", last)):
            stop = int(re.sub(r"^.*[-.]", "", last))
            stem = re.sub(r"[0-9]+$", "", first.number)
            for ordinal in range(first.ordinal + 1, min(stop, first.ordinal + 50) + 1):
                yield _numbered(first.kind, f"{stem}{ordinal}", match.start(), match.end())


def _numbered(kind: str, number: str, start: int, end: int, title: str = "") -> Numbered:
    name = _KINDS.get(kind.casefold(), kind)
    return Numbered(kind=name, number=number.replace(".", "-"), start=start, end=end, title=title)
