"""What is code, a formula or data in a running text, though nothing marks it as such."""

from __future__ import annotations

import re
from collections.abc import Iterator

_JAPANESE = "\u3041-\u30ff\u3400-\u9fff"
_IN_LINE = re.compile(
    # A type or a call, ENUM(日, 週); a table's column, 組織．組織ID.
    r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*+\([^()\n]{0,200}\)"
    r"|(?<![ァ-ヴー一-龯々])[ァ-ヴー一-龯々]++[.．][ァ-ヴー一-龯々]++[A-Za-z]*+(?=[\s=<>、，,)）]|$)"
    # A regular expression's count, {0,2}; the question of an address, /list?id=1.
    r"|\{\d{0,6},?\d{0,6}\}|\?(?=[A-Za-z_][A-Za-z0-9_\-]*+=)",
    re.ASCII,
)
# Greater and less between what is compared: 0<x≤100, 開始<終了. A bracket stands beside a blank or a mark on one side.
_COMPARED = re.compile(rf"(?<=[\w{_JAPANESE})）])[<>](?=[\w{_JAPANESE}(（])")
_TAGGED = re.compile(r"<[^<>\n]*>")
_LINE = re.compile(r"[^\n]+")
_COMMENT = re.compile(r"(?:#|//|--)[^\n]*$")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_JAPANESE_LETTER = re.compile(f"[{_JAPANESE}]")
_SIGN = re.compile(
    r"[;{}\[(]\s*$|^\s*[\])}][\w);,]*\s*$|[\"\])'],\s*$|[^\S\n]=[^\S\n]|\w\([^()]*\)\s*+(?:[:;]\s*+)?$|^\s*\w[^:]*:\s*$"
)
_FEWEST_LINES = 2
_RECORD = re.compile(r"[^,、。\s]{0,40}(?: [^,、。\s]{1,40})?(?:,[^,、。\s]{0,40}){2,}")


def without_code(text: str) -> str:
    """Return the text with the code in its lines blanked out, character for character."""
    return _IN_LINE.sub(lambda match: " " * len(match[0]), text)


def without_comparisons(text: str) -> str:
    """Return the text with the signs of comparison blanked out, those of a pair ``<…>`` apart."""
    kept = {position for match in _TAGGED.finditer(text) for position in range(*match.span())}
    return _COMPARED.sub(lambda match: match[0] if match.start() in kept else " ", text)


def without_records(text: str) -> str:
    """Return the text with its lines of data blanked out, whose fields commas part: ``name,国語,数学``."""
    return _LINE.sub(lambda line: " " * len(line[0]) if _RECORD.fullmatch(line[0].strip()) else line[0], text)


def code_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the lines of ``text[start:end]`` that are a program's or a data file's; none where only one looks so."""
    found = list(_code_lines(text, start, end))
    return found if len(found) >= _FEWEST_LINES else []


def _code_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for line in _LINE.finditer(text, start, end):
        said = _COMMENT.sub("", line[0])
        if _SIGN.search(said) and not _JAPANESE_LETTER.search(_QUOTED.sub("", said)):
            yield line.span()
