"""Stored patterns: read as Python reads them, and never matched without an end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.core.patterns import PatternRefused, PatternTooSlow, check_pattern, patterns_within, stored_pattern
from knowledge.ontology.shipped_files import TOPIC_FILES

DATA = TOPIC_FILES.parent
DOCUMENTS = Path(__file__).parents[2] / "data"


ENDLESS = r"(a|aa)+$"


def test_a_pattern_without_an_end_is_an_error_that_names_it_and_its_place() -> None:
    stored = stored_pattern(ENDLESS, where="ontology topic PURPOSE")
    for matched in (stored.occurs_in, lambda text: list(stored.matches(text))):
        with pytest.raises(PatternTooSlow) as slow:
            matched("a" * 80 + "b")
        assert ENDLESS in str(slow.value)
        assert "ontology topic PURPOSE" in str(slow.value)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(A+|B)+!", "A" * 60 + "?!"),
        (r"([A-Z]+-?)+!", "A-" * 30 + "?!"),
        (r"(a+)+\$", "a" * 60 + "b$"),
        (r"(?:(?:a|b)*c?)*d", "ab" * 30 + "xd"),
    ],
)
def test_repeated_repetitions_that_hold_up_python_come_to_an_end(pattern: str, text: str) -> None:
    assert [match.start() for match in stored_pattern(pattern, where="-").matches(text)] in ([], [len(text) - 1])


@pytest.mark.parametrize("pattern", [ENDLESS, r"(A|AA)+!", r"(?:[0-9]|[0-9]{2})*x", r"(?:あ|ああ)+う", "(", "x{2,1}"])
def test_what_has_no_end_or_is_no_pattern_is_refused_before_it_is_stored(pattern: str) -> None:
    with pytest.raises(PatternRefused) as refused:
        check_pattern(pattern, where="PURPOSE")
    assert refused.value.reason.en
    assert re.fullmatch(r"[\d ぁ-んァ-ヶ一-龠。、]+", refused.value.reason.ja)
    assert "PURPOSE" in str(refused.value)


def test_what_only_another_reader_of_patterns_knows_is_refused() -> None:
    for pattern in (r"\p{Han}+", r"(?|a|b)", r"\X"):
        with pytest.raises(PatternRefused):
            stored_pattern(pattern, where="-")


def test_a_block_ends_patterns_that_are_slow_together() -> None:
    stored = stored_pattern(r"(?:x|xx)+y", where="-")
    lines = ["x" * 22 + "wy"] * 20  # each of them well within the limit of one match
    assert not any(map(stored.occurs_in, lines))
    with patterns_within(0.0), pytest.raises(PatternTooSlow):
        any(map(stored.occurs_in, lines))


def shipped_patterns() -> Iterator[str]:
    """Every pattern that ships: cues, exclusions, conditions, elements, identifiers."""
    for path in sorted(DATA.glob("**/*.json")):
        yield from _patterns_of(json.loads(path.read_text(encoding="utf-8")))


def _patterns_of(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _patterns_of(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name in ("cues", "exclusions", "applies_when", "patterns") and isinstance(each, list):
                yield from (entry.removeprefix("# ") for entry in each if isinstance(entry, str))
            else:
                yield from _patterns_of(each)


def test_every_pattern_that_ships_is_accepted_and_finds_what_python_finds() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(DOCUMENTS.glob("**/*.md"))]
    patterns = sorted(set(shipped_patterns()))
    assert len(patterns) > 100
    assert texts
    for pattern in patterns:
        expected, stored = re.compile(pattern, re.IGNORECASE), check_pattern(pattern, where="-")
        for text in texts:
            assert [match.span() for match in expected.finditer(text)] == [m.span() for m in stored.matches(text)]


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?:q{900}){900}){900}[!?]",
        "(?=(?:a{300}){300})b",
        "(a)(?(1)(?:b{300}){300}|c)",
        "(?>(?:q{300}){300,})",
        "a{30000}",
        "あ" * 1001,
    ],
)
def test_what_would_be_huge_once_its_repetitions_are_written_out_is_refused_without_compiling_it(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hub.core.patterns.regex.compile", lambda *given: pytest.fail("compiled"))
    with pytest.raises(PatternRefused, match="characters"):
        stored_pattern(pattern, where="here")


def test_patterns_as_people_write_them_are_small_enough() -> None:
    for pattern in (r"\d{1,4}[-/年]\d{1,2}[-/月]\d{1,2}日?", ".{0,200}以内.{0,200}", "(?:[A-Z]{2,10}-){1,3}\\d{1,6}"):
        assert stored_pattern(pattern, where="here").pattern == pattern
