"""What a style rule is: it marks places in a text. One registration serves single texts and whole documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec

from hub.core.texts import Text
from review.rules.registry import rule
from review.rules.style.grouping import grouped
from review.rules.style.places import Mark, Place
from review.rules.style.reading import StyleText, Unit, UnitKind, read_markdown
from review.types import RuleInput, RuleOutcome, Severity

RUNNING_TEXT = (UnitKind.BODY, UnitKind.LIST, UnitKind.CELL, UnitKind.CAPTION)
EVERYTHING = tuple(UnitKind)

Params = Mapping[str, Any]
UnitCheck = Callable[[Unit, Params], Iterable[Mark]]
TextCheck = Callable[[tuple[Unit, ...], Params], Iterable[tuple[Unit, Mark]]]

Options = ParamSpec("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRule:
    """A rule of style. ``message`` may hold ``{found}`` and ``{to}``; ``by_default``: it runs when none is named."""

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
        words = {"found": unit.plain[mark.start : mark.end], "to": mark.replacement or "", **(mark.values or {})}
        message = mark.message or self.message
        return Place(
            rule_id=self.id,
            start=start,
            end=end,
            message=Text(ja=message.ja.format(**words), en=message.en.format(**words)),
            # Markup inside the place would be lost by replacing it.
            replacement=mark.replacement if end - start == mark.end - mark.start else None,
        )


_style_rules: dict[str, StyleRule] = {}


def style_rules() -> Mapping[str, StyleRule]:
    """Return the style rules by id."""
    return _style_rules


def text_rule(
    *,
    id: str,
    title: Text,
    looks_at: Text,
    message: Text,
    defaults: Params | None = None,
    kinds: tuple[UnitKind, ...] = RUNNING_TEXT,
    severity: Severity = Severity.MINOR,
    by_default: bool = True,
    skips_named: bool = False,
) -> Callable[[TextCheck], TextCheck]:
    """Register a check that compares the units of a text with each other.

    ``kinds`` becomes the parameter ``kinds``: the units looked at.
    """

    def register(check: TextCheck) -> TextCheck:
        known = {**(defaults or {}), "kinds": tuple(kind.value for kind in kinds)}
        found = StyleRule(
            id=id,
            title=title,
            message=message,
            check=check,
            defaults=known,
            severity=severity,
            by_default=by_default,
            skips_named=skips_named,
        )
        _style_rules[id] = found
        rule(id=id, title=title, looks_at=looks_at, tags=("style", "text"), defaults=known)(
            lambda target: _judge(found, target)
        )
        return check

    return register


def _for_single_units(
    text_rule: Callable[Options, Callable[[TextCheck], TextCheck]],
) -> Callable[Options, Callable[[UnitCheck], UnitCheck]]:
    def unit_rule(*args: Options.args, **options: Options.kwargs) -> Callable[[UnitCheck], UnitCheck]:
        """Register a check that looks at one unit at a time, as ``text_rule`` registers one of all units."""

        def register(check: UnitCheck) -> UnitCheck:
            def check_all(units: tuple[Unit, ...], params: Params) -> Iterator[tuple[Unit, Mark]]:
                for unit in units:
                    for mark in check(unit, params):
                        yield unit, mark

            text_rule(*args, **options)(check_all)
            return check

        return register

    return unit_rule


unit_rule = _for_single_units(text_rule)


def _judge(found: StyleRule, target: RuleInput) -> RuleOutcome:
    text = read_markdown(target.text, target.blocks)
    if not text.units:
        return RuleOutcome(skip_reason=Text(ja="本文がありません。", en="There is no running text."))
    places = list(found.places(text, target.params))
    finding = grouped(found.id, found.title, found.severity, places, target)
    return RuleOutcome(findings=(finding,) if finding else (), examined=len(text.units))
