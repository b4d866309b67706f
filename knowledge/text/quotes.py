"""Parts of stored text as people read them: without what Markdown marks them with. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from knowledge.text.excerpts import is_row, is_ruler
from knowledge.text.tables import cells_of

_MARKUP = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|>[ \t]?)?")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_BREAK = re.compile(r"<br\s*/?>", re.I)
# Pairs alone, and within a line: a sign by itself is the author's own. Bounded, as a pair is looked for from each sign.
_PAIRED = re.compile(r"(\*\*|`)(?=[^\s*`])([^*`\n]{1,400})(?<=\S)\1")


def unmarked_line(line: str) -> str:
    """Return a line without the sign of a heading, a list or a quotation before it."""
    return line[_MARKUP.match(line).end() :]  # type: ignore[union-attr]  # it matches ""


def written_parts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of some texts as their original has them: breaks apart, escaped signs by themselves."""
    for text in texts:
        yield from filter(None, (_ESCAPED.sub(r"\1", part).strip() for part in _BREAK.split(text)))


def in_one_line(quote: str) -> str:
    """Return a quote in one line: the cells of a row parted by slashes, no signs of headings, lists and emphasis.

    >>> in_one_line("## 性能\\n| 項目 | **値** |\\n|---|---|\\n| 応答 | 3<br>秒 |")
    '性能 項目 / 値 応答 / 3 秒'
    """
    return " ".join(filter(None, map(_shown_line, quote.splitlines())))


def _shown_line(line: str) -> str:
    if is_row(line):
        cells = () if is_ruler(line) else cells_of(line)
        return " / ".join(filter(None, map(_shown_text, cells)))
    return _shown_text(unmarked_line(line))


def _shown_text(text: str) -> str:
    return " ".join(_PAIRED.sub(r"\2", " ".join(written_parts([text]))).split())
