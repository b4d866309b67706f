"""Every pattern of the program reads every text in time that grows with its length, not with the square of it.

The patterns are taken from all modules, so that a new one is tried by itself, and each is tried on texts made of its
own parts. Work is processor time of this process, which other work on the machine does not lengthen; a pattern counts
as slow only where doubling a long text makes more than three times the work (linear: two, quadratic: four), or where
the text isn't read within seconds that a linear search needs thousandths of. The best of several tries counts.
"""

from __future__ import annotations

import json
import re
import re._constants as kinds  # type: ignore[import-not-found]  # the parser has no public name, and no types
import re._parser as parser  # type: ignore[import-not-found]
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from hub.core.processes import TimeOver, limit_cpu

ROOT = Path(__file__).resolve().parents[3]
SHORT, LONG = 8000, 24_000
# Of processor time: what is quicker at SHORT has no quadratic part that would show.
NOTICED_S = 0.009  # some machines count processor time in hundredths
JUDGED_S = 0.08
ENDLESS_S = 2.0
TRIES = 3
LETTERS = "aA1-._ \t\nあア一()「」\"`*#|<>[]/:@、。０Ａ=+~'{}！（）ー年\u200b\u0301&;,%"
# Patterns that are matched against short texts only, and what keeps those short.
BOUNDED = {
    "hub.evaluation.cases.RANGE": "_LONGEST_RANGE",
    "knowledge.guidelines.drafts._WORD_OR_PATTERN": "one field of an imported article",
    "review.rules.consistency.quantities._STRIPPED": "_LONGEST_NAME",
    "review.rules.consistency.quantities._AFTER": "matched at one place, never searched for",
}


def patterns() -> dict[str, re.Pattern[str]]:
    """Every compiled pattern of the program by its module's and its own name, as a process of its own found them.

    Some modules load libraries that only a fresh process has room for (the graph's engine needs static memory of
    threads), which this one may have used up for others.
    """
    listed = subprocess.run([sys.executable, "-m", "tests.hub.core.every_pattern"], cwd=ROOT, check=True, stdout=-1)
    return {name: re.compile(pattern, flags) for name, pattern, flags in json.loads(listed.stdout)}


def shipped_patterns() -> dict[str, re.Pattern[str]]:
    """What repeats something and can be compiled, of the strings that review/data holds, by file and keys."""
    found = {}
    for path in sorted((ROOT / "review" / "data").glob("*.json")):
        for name, written in _strings(json.loads(path.read_text(encoding="utf-8")), path.name):
            with suppress(re.error):  # no pattern, but a text with brackets
                if _REPEATS.search(written):
                    found[name] = re.compile(written)
    return found


_REPEATS = re.compile(r"[*+}]")
_TOLD = frozenset({"ja", "en", "why"})


def _strings(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in _TOLD:
                yield from _strings(each, f"{name} {key}")


class Pieces:
    """Texts that a pattern is made of: what begins a match, what repeats in one, and its letters."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.units: dict[str, None] = {}
        self.tails: dict[tuple[str, str], None] = {}
        self.letters: dict[str, None] = {}
        self._read(parser.parse(pattern.pattern, pattern.flags), "")

    def kinds_of_text(self) -> list[tuple[str, str]]:
        """Heads, and what is repeated behind each of them."""
        letters = list(self.letters)[:6]
        units = dict.fromkeys([*self.units, *letters, *(a + b for a in letters for b in letters if a != b)])
        lines = [f"{unit}\n" for unit in list(units)[:20]]
        return [*(("", unit) for unit in (*units, *lines)), *self.tails]

    def _read(self, tree: Iterable[Any], before: str) -> str:
        text = before
        for kind, value in tree:
            if kind is kinds.LITERAL:
                text += chr(value)
                self.letters[chr(value)] = None
            elif kind is kinds.IN:
                members = _members(value)
                self.letters |= dict.fromkeys(members[:2])
                text += members[0]
            elif kind in (kinds.ANY, kinds.NOT_LITERAL):
                text += "a"
            elif kind is kinds.SUBPATTERN:
                text = self._read(value[3], text)
            elif kind is kinds.ATOMIC_GROUP:
                text = self._read(value, text)
            elif kind is kinds.BRANCH:
                text, *_others = [self._keep(self._read(branch, text)) for branch in value[1]]
            elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
                text = self._repeated(value, text)
            self._keep(text)
        return text

    def _repeated(self, value: Any, before: str) -> str:
        least, most, body = value
        single = body[0] if len(body) == 1 else (None, None)
        units = _members(single[1])[:4] if single[0] is kinds.IN else [self._read(body, "") or "a"]
        if most is kinds.MAXREPEAT or most > 20:
            self.tails |= dict.fromkeys((before, unit) for unit in units)
            self.units |= dict.fromkeys(before[-20:] + unit for unit in units)
        return before + units[0] * least

    def _keep(self, text: str) -> str:
        if 0 < len(text) <= 40:
            self.units[text] = None
        return text


_SINGLE = (kinds.LITERAL, kinds.RANGE)


def _members(items: Any) -> list[str]:
    """Letters that a set holds: of LETTERS, else its own first one."""
    negated = items[0][0] is kinds.NEGATE
    held = [letter for letter in LETTERS if any(_holds(item, letter) for item in items) is not negated]
    own = [chr(value[0] if kind is kinds.RANGE else value) for kind, value in items if kind in _SINGLE]
    return held or own or ["a"]


def _holds(item: tuple[Any, Any], letter: str) -> bool:
    kind, value = item
    if kind is kinds.LITERAL:
        return ord(letter) == value
    if kind is kinds.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if kind is not kinds.CATEGORY:
        return False
    name = str(value)
    is_word = letter.isalnum() or letter == "_"
    is_in = letter.isdigit() if "DIGIT" in name else letter.isspace() if "SPACE" in name else is_word
    return is_in is not ("NOT" in name)


def ways_of_matching(name: str, pattern: re.Pattern[str]) -> list[Callable[[str], object]]:
    """How the module uses it: searched unless it only ever says ``NAME.match`` or ``NAME.fullmatch``."""
    module, _, attribute = name.partition("[")[0].rpartition(".")
    source = Path(str(find_spec(module).origin)).read_text(encoding="utf-8")
    used = set(re.findall(rf"\b{attribute}\.(\w+)\(", source))
    ways: list[Callable[[str], object]] = []
    if not used or used - {"match", "fullmatch"}:
        ways.append(lambda text: sum(1 for _ in pattern.finditer(text)))
    return ways + [getattr(pattern, way) for way in sorted(used & {"match", "fullmatch"})]


def work(match: Callable[[str], object], text: str, tries: int = 1) -> float:
    """Processor seconds for a text, the best of several tries; ENDLESS_S where it isn't read by then."""
    best = ENDLESS_S
    for _ in range(tries):
        begun = time.process_time()
        try:
            with limit_cpu(ENDLESS_S):
                match(text)
        except TimeOver:
            return ENDLESS_S
        best = min(best, time.process_time() - begun)
    return best


def grows_too_fast(match: Callable[[str], object], head: str, unit: str) -> bool:
    """Tell whether a long text takes more than three times the work of one half as long."""

    def needed(length: int, tries: int = TRIES) -> float:
        return work(match, head + unit * (length // len(unit)), tries)

    first = needed(SHORT, 1)
    if first >= ENDLESS_S:
        return True
    if first < NOTICED_S or needed(SHORT) < NOTICED_S:
        return False
    longer = needed(LONG)
    return longer >= ENDLESS_S or (longer > JUDGED_S and longer > 3 * needed(LONG // 2))


def repeats(tree: Iterable[Any]) -> bool:
    """Whether anything of a parsed pattern may come twice. What repeats nothing reads few letters from each place."""
    for kind, value in tree:
        if kind in _REPETITIONS and value[1] > 1:
            return True
        inside = value if kind is kinds.ATOMIC_GROUP else value[-1] if kind in _HOLDERS else ()
        if any(map(repeats, inside if kind is kinds.BRANCH else [inside])):
            return True
    return False


_REPETITIONS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
_HOLDERS = (*_REPETITIONS, kinds.SUBPATTERN, kinds.BRANCH, kinds.ASSERT, kinds.ASSERT_NOT)


def problems(name: str, pattern: re.Pattern[str]) -> Iterator[str]:
    if not repeats(parser.parse(pattern.pattern, pattern.flags)):
        return
    for match in ways_of_matching(name, pattern):
        for head, unit in Pieces(pattern).kinds_of_text():
            if grows_too_fast(match, head, unit):
                yield f"{name} over {head!r} and many {unit!r}"
                return


def test_no_pattern_of_any_module_reads_a_text_in_more_than_linear_time() -> None:
    found = patterns()
    assert len(found) > 400
    assert set(BOUNDED) <= set(found)
    tried = {name: pattern for name, pattern in found.items() if name.partition("[")[0] not in BOUNDED}
    assert [line for name, pattern in tried.items() for line in problems(name, pattern)] == []


@pytest.mark.parametrize("repeating", ["a*", "(?:ab|c{2})d", "(?>x+)", "(?=.*a)b", "(?<![ab]{2})c", "((?:a?b)+)?"])
def test_what_repeats_something_is_told_from_what_does_not(repeating: str) -> None:
    assert repeats(parser.parse(repeating))
    assert not repeats(parser.parse("(?:ab?|[cd])(?<!e)(f)?(?=g|h)"))


def test_no_pattern_of_the_shipped_data_reads_a_text_in_more_than_linear_time() -> None:
    found = shipped_patterns()
    assert "due.json title_tail" in found
    assert [line for name, pattern in found.items() for line in _slow_texts(name, pattern)] == []


def _slow_texts(name: str, pattern: re.Pattern[str]) -> list[str]:
    """Name the first text that a pattern is slow over: of its parts, and with an end that none of it matches."""

    def search(text: str) -> object:
        return sum(1 for _ in pattern.finditer(f"{text}\0"))

    kinds_of_text = Pieces(pattern).kinds_of_text()
    slow = (
        f"{name} over {head!r} and many {unit!r}" for head, unit in kinds_of_text if grows_too_fast(search, head, unit)
    )
    return list(islice(slow, 1))


def test_the_test_sees_a_repeated_group_of_repeated_parts() -> None:
    assert _slow_texts("title", re.compile(r"(?:書|[(（].*[)）])+$"))


@pytest.mark.parametrize("slow", [r"[a-z.]+@", r"(?:の?(?:仕様書?|書))*x"])
def test_the_test_sees_what_is_slow(slow: str) -> None:
    pattern = re.compile(slow)

    def search(text: str) -> object:
        return sum(1 for _ in pattern.finditer(text))

    assert any(grows_too_fast(search, head, unit) for head, unit in Pieces(pattern).kinds_of_text())
