"""Names of well-known rules elsewhere, and what of ours means the same.

``textlint:`` and the npm package's name without ``textlint-rule-``; a rule inside a preset is
``textlint:preset-NAME/RULE``. The table is ``review/data/textlint.json``: for each name our rules, with the parameters
that make them mean what the other one documents as its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from review.rules.base import shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A rule with parameters over its defaults."""

    rule_id: str
    params: Mapping[str, Any] = field(default_factory=dict)


def _uses(written: list[list[Any]]) -> tuple[Use, ...]:
    return tuple(Use(rule_id=rule_id, params=_frozen(*params)) for rule_id, *params in written)


def _frozen(params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in (params or {}).items()}


def _all() -> dict[str, tuple[Use, ...]]:
    table = shipped("textlint")
    packages, spacing, jtf = table["packages"], table["preset-ja-spacing"], table["preset-jtf-style"]
    technical = table["preset-ja-technical-writing"]
    # Some packages are published under an organisation too, and the index of a preset gives some rules other names.
    jtf = jtf | {other: jtf[name] for other, name in table["other names in preset-jtf-style"].items()}
    by_name = (
        packages
        | spacing
        | {f"@textlint-ja/{name}": packages[name] for name in table["scoped"]}
        | {f"preset-ja-spacing/{name}": uses for name, uses in spacing.items()}
        | {f"preset-ja-technical-writing/{name}": uses for name, uses in technical["own"].items()}
        | {f"preset-ja-technical-writing/{name}": packages[name] for name in technical["packages"]}
        | {f"preset-jtf-style/{name}": uses for name, uses in jtf.items()}
    )
    return {f"textlint:{name}": _uses(uses) for name, uses in by_name.items()}


ALIASES: dict[str, tuple[Use, ...]] = _all()


def aliases_of(rule_id: str) -> tuple[str, ...]:
    """Return the aliases under which a rule of ours runs, in alphabetical order."""
    return tuple(sorted(alias for alias, uses in ALIASES.items() if any(use.rule_id == rule_id for use in uses)))
