"""Which characters of a text stand where in another writing of it."""

from __future__ import annotations

from difflib import SequenceMatcher

# What Markdown puts between the characters of a file's text is short: escapes, and <br> between lines of a cell.
_WIDEST_GAP = 12
_LONGEST_LINE = 4000


def places_in(written: str, text: str, start: int, end: int) -> list[int]:
    """Return for each character of ``text`` its place in ``written[start:end]``, in order; -1 where it is not there.

    White space has no place.

    >>> places_in("| 性能\\\\|は<br>三秒 |", "性能|は\\n三秒", 2, 14)
    [2, 3, 5, 6, -1, 11, 12]
    """
    found: list[int] = []
    at = start
    for char in text:
        if char.isspace():
            place = at if at < end and written[at].isspace() else -1
        else:
            place = written.find(char, at, min(at + _WIDEST_GAP, end))
        found.append(place)
        if place >= 0:
            at = place + 1
    return found


class Moved:
    """Where the characters of one text are in a newer writing of it, which has most lines as they were."""

    def __init__(self, old: str, new: str) -> None:
        self._runs = [(0, 0, len(old))] if old == new else list(_equal_runs(old, new))

    def place(self, old: int) -> int | None:
        """Return where a character of the old text is in the new one; None where it is not there."""
        return next((new + old - start for start, new, length in self._runs if start <= old < start + length), None)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a stretch of the old text is; None where nothing of it is there."""
        found = [place for old in range(start, end) if (place := self.place(old)) is not None]
        return (min(found), max(found) + 1) if found else None


def _equal_runs(old: str, new: str) -> list[tuple[int, int, int]]:
    """Return runs of equal characters as (place in the old text, place in the new one, length)."""
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    old_starts, new_starts = _starts(old_lines), _starts(new_lines)
    runs: list[tuple[int, int, int]] = []
    for kind, first, last, new_first, new_last in SequenceMatcher(
        None, old_lines, new_lines, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            runs.append((old_starts[first], new_starts[new_first], old_starts[last] - old_starts[first]))
        elif kind == "replace" and last - first == new_last - new_first:
            for one, other in zip(range(first, last), range(new_first, new_last), strict=True):
                if len(old_lines[one]) + len(new_lines[other]) <= _LONGEST_LINE:
                    matcher = SequenceMatcher(None, old_lines[one], new_lines[other], autojunk=False)
                    for a, b, size in matcher.get_matching_blocks():
                        if size:
                            runs.append((old_starts[one] + a, new_starts[other] + b, size))
    return runs


def _starts(lines: list[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
