"""What a reader sees of Markdown: the text without its marks, with the place of every character."""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator

# Stand for what is there, but is no language: a code span, and a bare URL or an address.
PLACEHOLDER = "\ufffc"
ADDRESS = "\ufffb"
# Emphasis is looked for this far, so that a line full of asterisks takes linear time.
_REACH = 400
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?P<ticks>`{1,16}+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<url><?(?:https?|ftp|file|mailto)://?[^\s<>()（）、。」』|]+>?|[\w.+\-]{1,64}@[\w\-]+(?:\.[\w\-]+)+)"
    r"|(?P<tag></?[A-Za-z](?:[^<>\n]{0,400})>)"
    r"|(?P<image>!\[(?P<alt>[^\[\]]{0,1000})\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]]{0,200}\]))"
    r"|(?P<link>\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,1000})\]"
    r"(?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]]{0,200}\]))"
    r"|(?P<footnote>\[\^[^\[\]\s]{1,60}\])"
    rf"|(?P<strong>(?P<marks>\*\*|__|~~)(?=[^\s*_~])(?P<bold>(?:(?!(?P=marks))[^\n]){{1,{_REACH}}})(?P=marks))"
    rf"|(?P<emphasis>\*(?=[^\s*])(?P<star>[^*\n]{{1,{_REACH}}})(?<=[^\s*])\*"
    rf"|(?<![A-Za-z0-9_])_(?=[^\s_])(?P<line>[^_\n]{{1,{_REACH}}})(?<=[^\s_])_(?![A-Za-z0-9_]))"
    r"|(?P<entity>&(?:\#\d{1,6}|\#x[0-9A-Fa-f]{1,6}|[A-Za-z]{2,20});)"
    r"|(?P<broken>(?:[ ]{2,200}|\\)(?=\n))"
    r"|(?P<blank>[ \t]{1,200}(?=\n|\Z))",
    re.DOTALL | re.ASCII,
)
_BREAK = re.compile(r"<br\b", re.I)
# A line break that a writer set on purpose. A plain newline in Markdown only wraps the line.
HARD_BREAK = "\u2028"


class Visible:
    """Collects visible characters: ``text``, and for each of them where it stands in the source.

    ``starts[i]`` and ``ends[i]`` are the source offsets of ``text[i]``. ``named`` holds the positions that name what is
    written elsewhere: link texts, and what single marks of emphasis set apart.
    """

    __slots__ = ("_parts", "ends", "named", "starts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.starts = array("I")
        self.ends = array("I")
        self.named: set[int] = set()

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def put(self, piece: str, start: int, *, named: bool = False) -> None:
        """Add characters that stand one after the other in the source from ``start`` on."""
        if named:
            self.named.update(range(len(self.starts), len(self.starts) + len(piece)))
        self._parts.append(piece)
        self.starts.extend(range(start, start + len(piece)))
        self.ends.extend(range(start + 1, start + len(piece) + 1))

    def put_one(self, character: str, start: int, end: int) -> None:
        """Add one character that stands for the source's ``[start, end)``."""
        self._parts.append(character)
        self.starts.append(start)
        self.ends.append(end)


def read_inline(source: str, start: int, end: int, into: Visible, *, named: bool = False) -> None:
    """Add what a reader sees of the Markdown ``source[start:end]``."""
    position = start
    for match in _INLINE.finditer(source, start, end):
        into.put(source[position : match.start()], position, named=named)
        _put_match(source, match, into, named=named)
        position = match.end()
    into.put(source[position:end], position, named=named)


def images(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the alternative texts of images, in order."""
    for match in _INLINE.finditer(source, start, end):
        if match["image"] and match["alt"].strip():
            yield match.span("alt")


def _put_match(source: str, match: re.Match[str], into: Visible, *, named: bool) -> None:
    if match["escape"]:
        into.put(match["escape"][1], match.start() + 1, named=named)
    elif match["code"]:
        into.put_one(PLACEHOLDER, *match.span())
    elif match["url"]:
        into.put_one(ADDRESS, *match.span())
    elif match["link"]:
        read_inline(source, *match.span("label"), into, named=True)
    elif match["strong"]:
        read_inline(source, *match.span("bold"), into, named=named)
    elif match["emphasis"]:
        read_inline(source, *match.span("star" if match["star"] else "line"), into, named=True)
    elif match["entity"]:
        into.put_one(html.unescape(match["entity"])[:1], *match.span())
    elif match["broken"] or (match["tag"] and _BREAK.match(match["tag"])):
        into.put_one(HARD_BREAK, *match.span())
