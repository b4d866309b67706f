"""What a rule is: one pure function with a stable id, and what happens when it breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hub.core.texts import Text
from review.types import RuleInput, RuleOutcome

RuleFunction = Callable[[RuleInput], RuleOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A registered rule. ``defaults`` are the parameters it understands, with the value used when none is given.

    Only a rule that ``reads_related`` is given the related documents.
    """

    id: str
    title: Text
    looks_at: Text
    check: RuleFunction
    tags: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    reads_related: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCrash:
    """A rule that raised instead of judging. It decides nothing: the check it belongs to is an error."""

    rule_id: str
    error_type: str
    message: Text
