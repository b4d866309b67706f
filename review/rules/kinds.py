"""Which rules state facts, and which judge: the table is ``review/data/rule_kinds.json``."""

from __future__ import annotations

from review.rules.base import shipped


def judgements() -> frozenset[str]:
    """The ids of the rules whose findings are judgements."""
    return frozenset(shipped("rule_kinds")["judgement"])


def is_judgement(rule_id: str) -> bool:
    """Tell whether a rule's findings are judgements, which a reader may see otherwise; one that nobody classed is not.

    >>> is_judgement("coverage.missing_topic"), is_judgement("consistency.total_mismatch")
    (True, False)
    """
    return rule_id in judgements()
