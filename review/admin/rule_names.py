"""The rules of a check item as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from review.templatetags.review_report import rule_title


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRule:
    """A rule by the name that the workbench offers it by; ``parameters`` are JSON, empty where it has none."""

    id: str
    title: str
    parameters: str

    def __str__(self) -> str:
        return f"{self.title} {self.parameters}".strip()


def named_rules(rules: Iterable[Mapping[str, Any]]) -> list[NamedRule]:
    """Name the rules of criteria, in their order and the reader's language."""
    return [
        NamedRule(
            id=one["rule_id"],
            title=rule_title(one["rule_id"]),
            parameters=json.dumps(one["params"], ensure_ascii=False) if one.get("params") else "",
        )
        for one in rules
    ]
