"""How sure a finding is: how often what findings of its kind say was so, where people judged them. Pure.

``review/data/precision.json`` (written by ``python -m benchmarks.precision``) counts them by kind. Few judged findings
prove little, so the lower bound of Wilson's interval counts, and a kind that nobody judged borrows that of its family.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from hub.core.texts import Text

_TABLE = Path(__file__).resolve().parents[1] / "data" / "precision.json"
_Z = 1.645  # of 20 kinds one may be worse than its bound
_SURE, _SURE_SHARE, _LIKELY = 0.9, 0.98, 0.6
_MOST_UNPROVEN, _MOST_UNDECIDED, _ENOUGH = 0.85, 0.5, 10


UNDECIDED = "undecided"
"""The status of a finding whose rule leaves open whether there is a defect: somebody is to look."""


class Certainty(StrEnum):
    """What a confidence comes to: sure holds in 98 of 100, likely in most, doubtful is for a person to look at."""

    SURE = "sure"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How many findings were judged, and how many of them were right: what they say is so, whatever comes of it.

    ``is_own`` where they are of the kind asked for; ``is_first_shot`` where nothing was mended for them before.
    """

    right: int
    judged: int
    is_own: bool
    is_first_shot: bool = False

    @property
    def bound(self) -> float:
        """The lower bound of the share of right ones; only a kind's own first shot without errors makes it sure.

        >>> [Precision(right=60, judged=60, is_own=True, is_first_shot=first).bound for first in (True, False)]
        [0.957, 0.85]
        """
        if not self.judged:
            return 0.0
        share, spread = self.right / self.judged, _Z**2 / self.judged
        low = (share + spread / 2 - _Z * math.sqrt((share * (1 - share) + spread / 4) / self.judged)) / (1 + spread)
        is_proven = self.is_own and self.is_first_shot and share >= _SURE_SHARE
        return round(max(low if is_proven else min(low, _MOST_UNPROVEN), 0.0), 3)


def kind_of(rule_id: str, data: Mapping[str, Any]) -> str:
    """Return the kind of a finding: its rule, and what tells findings of one rule apart.

    >>> kind_of("consistency.conflicting_value", {"kind": "date"}), kind_of("figure.numbering", {})
    ('consistency.conflicting_value:date', 'figure.numbering')
    """
    variant = data.get("certainty_kind") or data.get("kind")
    return f"{rule_id}:{variant}" if isinstance(variant, str) and variant else rule_id


@lru_cache(maxsize=512)
def precision_of(kind: str) -> Precision:
    """Return what was counted for a kind; of few without an error, what was counted for its rule, its family, or all.

    A kind with an error speaks for itself.
    """
    rule = kind.partition(":")[0]
    family = rule.partition(".")[0]
    own = _together(kind, lambda each: each == kind)
    if own.right < own.judged:
        return own
    others = (
        _together(kind, lambda each: each.partition(":")[0] == rule),
        _together(kind, lambda each: each.partition(".")[0] == family),
        _together(kind, lambda each: True),
    )
    wider = next((each for each in others if each.judged >= _ENOUGH), others[-1])
    return own if own.bound >= wider.bound else wider


def _together(kind: str, holds: Callable[[str], bool]) -> Precision:
    found = {each: counts for each, counts in _counted().items() if holds(each)}
    return Precision(
        right=sum(int(counts["right"]) for counts in found.values()),
        judged=sum(int(counts["judged"]) for counts in found.values()),
        is_own=set(found) <= {kind},
        is_first_shot=not any(counts.get("mended_for") for counts in found.values()),
    )


@lru_cache(maxsize=1)
def _counted() -> dict[str, dict[str, int | bool]]:
    counted: dict[str, dict[str, int | bool]] = json.loads(_TABLE.read_text(encoding="utf-8"))["kinds"]
    return counted


def sureness(rule_id: str, confidence: float | None) -> float:
    """Return how sure a stored finding is; what a model said was measured on its quotes, not on findings, so not sure.

    >>> sureness("llm.judgement", 1.0), sureness("figure.numbering", None)
    (0.85, 0.0)
    """
    return min(confidence or 0.0, _MOST_UNPROVEN) if rule_id.startswith("llm.") else confidence or 0.0


def certainty_of(confidence: float) -> Certainty:
    """Return what a confidence comes to.

    >>> [certainty_of(one).value for one in (0.95, 0.7, 0.0)]
    ['sure', 'likely', 'doubtful']
    """
    if confidence < _LIKELY:
        return Certainty.DOUBTFUL
    return Certainty.SURE if confidence >= _SURE else Certainty.LIKELY


def confidence_of(rule_id: str, data: Mapping[str, Any]) -> tuple[float, Text]:
    """Return how sure a finding of this kind is, and what that was counted on; what is undecided is never likely."""
    precision = precision_of(kind_of(rule_id, data))
    bound = min(precision.bound, _MOST_UNDECIDED) if data.get("status") == UNDECIDED else precision.bound
    return bound, _basis_of(precision)


def _basis_of(precision: Precision) -> Text:
    """Say what a confidence was counted on."""
    if precision.is_own:
        return Text(
            ja=f"この種類の指摘 {precision.judged} 件を人が判定し、{precision.right} 件が正しかった（割合の下限）",
            en=f"of {precision.judged} findings of this kind that people judged {precision.right} were right "
            "(lower bound of the share)",
        )
    return Text(
        ja=f"この種類の指摘はまだ判定されていない。近い種類の {precision.judged} 件中 {precision.right} 件が正しかった",
        en=f"findings of this kind are not judged yet; of {precision.judged} like them {precision.right} were right",
    )
