"""What an item's criteria ask of rules: those it names, and those that its elements, patterns and terms stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from review.rules.content.curated import ELEMENT, FORBIDDEN, PREFERRED, REQUIRED


def rules_of(criteria: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all rules of an item as {rule_id, params}: the named ones first, then one per kind of curated content.

    Beside a prompt the required elements are what a language model is told to look for, and stand for no rule.
    """
    named: list[Mapping[str, Any]] = list(criteria.get("rules") or ())
    patterns = list(criteria.get("patterns") or ())
    elements = [] if criteria.get("prompt") else list(criteria.get("required_elements") or ())
    curated: tuple[tuple[str, str, list[Any]], ...] = (
        (ELEMENT, "elements", elements),
        (REQUIRED, "patterns", [each for each in patterns if not _is_forbidden(each)]),
        (FORBIDDEN, "patterns", [each for each in patterns if _is_forbidden(each)]),
        (PREFERRED, "terms", list(criteria.get("terms") or ())),
    )
    return [*named, *({"rule_id": rule_id, "params": {name: given}} for rule_id, name, given in curated if given)]


def _is_forbidden(entry: str | Mapping[str, Any]) -> bool:
    return not isinstance(entry, str) and not entry.get("must_occur", True)
