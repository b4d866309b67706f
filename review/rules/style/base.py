"""What a style rule is: it marks places in a text. One registration serves single texts and whole documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from hub.core.texts import Text
from knowledge.text.outline import place as section_title
from review.rules.base import Rule, filled, finding, register, skipped, text_of
from review.rules.examples import corrected
from review.rules.style.reading import StyleText, Unit, UnitKind, read_markdown
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

RUNNING_TEXT = (UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION)
WITH_HEADINGS = (*RUNNING_TEXT, UnitKind.HEADING)
EVERYTHING = tuple(UnitKind)
TAGS = ("style", "text")
_PLACES_SHOWN = 20
_LONGEST_QUOTE = 20

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """``[start, end)`` of a unit's visible text, never empty.

    ``replacement`` is given where the correction is mechanical. ``message`` stands in for the rule's, and ``values``
    fill its other names.
    """

    start: int
    end: int
    replacement: str | None = None
    message: Text | None = None
    values: Mapping[str, object] | None = None


UnitCheck = Callable[[Unit, Params], Iterable[Mark]]
TextCheck = Callable[[tuple[Unit, ...], Params], Iterable[tuple[Unit, Mark]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``[start, end)`` of the given text."""

    rule_id: str
    start: int
    end: int
    message: Text
    replacement: str | None = None


class Options(TypedDict, total=False):
    """``kinds`` are the units looked at, as a parameter of the rule too; ``by_default``: it runs when none is named.

    A rule that ``skips_named`` marks nothing in words that name what is written elsewhere.
    """

    defaults: Params
    kinds: tuple[UnitKind, ...]
    severity: Severity
    by_default: bool
    skips_named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRule:
    """A rule of style. ``message`` may hold ``{found}``, its ``{code}`` points, and ``{to}``. See `Options`."""

    id: str
    title: Text
    message: Text
    check: TextCheck
    defaults: Params
    severity: Severity
    by_default: bool
    skips_named: bool

    def places(self, text: StyleText, params: Params) -> Iterator[Place]:
        """Yield the places in document order; ``params`` overlay the defaults."""
        merged = {**self.defaults, **params}
        units = tuple(unit for unit in text.units if unit.kind in merged["kinds"])
        found = [self._place(unit, mark) for unit, mark in self.check(units, merged) if not self._is_left(unit, mark)]
        yield from sorted(found, key=lambda place: (place.start, place.end))

    def _is_left(self, unit: Unit, mark: Mark) -> bool:
        # A blank beside a link or emphasised words belongs to them.
        reach = 0 if unit.plain[mark.start : mark.end].strip() else 1
        return self.skips_named and unit.is_named(mark.start - reach, mark.end + reach)

    def _place(self, unit: Unit, mark: Mark) -> Place:
        start, end = unit.span(mark.start, mark.end)
        marked = unit.plain[mark.start : mark.end]
        code = " ".join(f"U+{ord(character):04X}" for character in marked)
        words = {"found": marked, "to": mark.replacement or "", "code": code, **(mark.values or {})}
        return Place(
            rule_id=self.id,
            start=start,
            end=end,
            message=filled(mark.message or self.message, words),
            # Markup inside the place would be lost by replacing it.
            replacement=mark.replacement if end - start == mark.end - mark.start else None,
        )

    def judge(self, target: RuleInput) -> RuleOutcome:
        """Return one finding for all places of a document, with ``at_least`` (a parameter, 1) of them."""
        text = read_markdown(target.text, target.blocks)
        if not text.units:
            return skipped("no_running_text")
        places = list(self.places(text, target.params))
        enough = len(places) >= max(1, int(target.params.get("at_least", 1)))
        return RuleOutcome(findings=(_finding(self, places, target),) if enough else (), examined=len(text.units))


_style_rules: dict[str, StyleRule] = {}


def style_rules() -> Mapping[str, StyleRule]:
    """Return the style rules by id."""
    return _style_rules


def text_rule(id: str, **options: Unpack[Options]) -> Callable[[TextCheck], TextCheck]:
    """Register a check that compares the units of a text with each other."""
    kinds = options.get("kinds", RUNNING_TEXT)

    def decorate(check: TextCheck) -> TextCheck:
        found = StyleRule(
            id=id,
            title=text_of(id, "title"),
            message=text_of(id, "message"),
            check=check,
            defaults={**options.get("defaults", {}), "kinds": tuple(kind.value for kind in kinds)},
            severity=options.get("severity", Severity.MINOR),
            by_default=options.get("by_default", True),
            skips_named=options.get("skips_named", False),
        )
        _style_rules[id] = found
        looks_at = text_of(id, "looks_at")
        register(
            Rule(id=id, title=found.title, looks_at=looks_at, check=found.judge, tags=TAGS, defaults=found.defaults)
        )
        return check

    return decorate


def unit_rule(id: str, **options: Unpack[Options]) -> Callable[[UnitCheck], UnitCheck]:
    """Register a check that looks at one unit at a time."""

    def decorate(check: UnitCheck) -> UnitCheck:
        text_rule(id, **options)(lambda units, params: ((unit, mark) for unit in units for mark in check(unit, params)))
        return check

    return decorate


def pattern_rule(
    id: str, *marked: tuple[re.Pattern[str], str | Callable[[str], str]], **options: Unpack[Options]
) -> None:
    """Register a rule that marks what its patterns match; beside each is what to write for it."""

    def check(unit: Unit, params: Params) -> Iterator[Mark]:
        for pattern, replacement in marked:
            for match in pattern.finditer(unit.plain):
                yield Mark(*match.span(), replacement if isinstance(replacement, str) else replacement(match[0]))

    unit_rule(id, **options)(check)


def _finding(rule: StyleRule, places: list[Place], target: RuleInput) -> FindingDraft:
    first = places[0]
    shown = next((each for each in places if each.replacement is not None), first)
    where = section_title(target.sections, shown.start)
    return finding(
        rule.id,
        like="style",
        severity=rule.severity,
        key=rule.id,
        words={
            "title": rule.title,
            "count": len(places),
            "first": first.message,
            "section": Text(ja=f"「{where}」の" if where else "", en=f" in “{where}”" if where else ""),
            "quote": " ".join(target.text[shown.start : shown.end].split())[:_LONGEST_QUOTE],
            "shown": shown.message,
        },
        evidence=tuple(Span(start=each.start, end=each.end) for each in places[:_PLACES_SHOWN]),
        data={
            "places": len(places),
            "shown": [
                {
                    "start_offset": each.start,
                    "end_offset": each.end,
                    "message_ja": each.message.ja,
                    "message_en": each.message.en,
                    "replacement": each.replacement,
                }
                for each in places[:_PLACES_SHOWN]
            ],
        },
        example=None if shown.replacement is None else corrected(target, shown.start, shown.end, shown.replacement),
    )
