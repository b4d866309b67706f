"""Corrections of a text as a unified diff, which ``git apply`` and ``patch`` take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from knowledge.parsers.annotated.notes import Markup

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"


def suggestion_diff(markup: Markup, filename: str) -> bytes:
    """Return what the notes' replacements change in the stored text; empty where there is none.

    Of replacements that overlap the first counts, and those that would change the number of lines are left out.
    """
    lines = list(StringIO(markup.markdown))
    changed = _changed_lines(markup, lines)
    hunks = "".join(_hunk(lines, changed, first, last) for first, last in _stretches(sorted(changed), len(lines)))
    return f"--- a/{filename}\n+++ b/{filename}\n{hunks}".encode() if hunks else b""


def _changed_lines(markup: Markup, lines: Sequence[str]) -> dict[int, str]:
    places = sorted((note.start, note.end, note.replacement) for note in markup.notes if note.replacement is not None)
    changed: dict[int, str] = {}
    number = begin = done = shift = 0
    for start, end, replacement in places:
        while number < len(lines) and begin + len(lines[number]) <= start:
            begin, number, shift = begin + len(lines[number]), number + 1, 0
        inside = number < len(lines) and end <= begin + len(lines[number].rstrip("\r\n"))
        if start < done or not inside or "\n" in replacement:
            continue
        line = changed.get(number, lines[number])
        at = start - begin + shift
        changed[number] = line[:at] + replacement + line[at + end - start :]
        done, shift = end, shift + len(replacement) - (end - start)
    return {at: line for at, line in changed.items() if line != lines[at]}


def _stretches(numbers: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of lines that are shown together, with what is around the changed ones."""
    first = last = -1
    for number in numbers:
        if first >= 0 and number - _CONTEXT > last:
            yield first, last
            first = -1
        first = max(number - _CONTEXT, 0) if first < 0 else first
        last = min(number + _CONTEXT + 1, count)
    if first >= 0:
        yield first, last


def _hunk(lines: Sequence[str], changed: Mapping[int, str], first: int, last: int) -> str:
    size = f"{first + 1},{last - first}"
    written = [f"@@ -{size} +{size} @@\n"]
    for number in range(first, last):
        if number in changed:
            written += ["-" + _ended(lines[number]), "+" + _ended(changed[number])]
        else:
            written.append(" " + _ended(lines[number]))
    return "".join(written)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_END}"
