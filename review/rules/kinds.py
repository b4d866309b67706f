"""Which rules state facts, which tell of a form, and which judge: the table is ``review/data/rule_kinds.json``."""

from __future__ import annotations

from review.rules.base import shipped


def judgements() -> frozenset[str]:
    """The ids of the rules whose findings are judgements: a reader may see them otherwise."""
    return frozenset(shipped("rule_kinds")["judgement"])


def put_before_a_model() -> frozenset[str]:
    """The ids of the rules on whose findings a second opinion is asked: judgements, and what is about a form."""
    return judgements() | frozenset(shipped("rule_kinds")["form"])


def is_judgement(rule_id: str) -> bool:
    """Tell whether a rule's findings are judgements; one that nobody classed is not.

    >>> is_judgement("coverage.missing_topic"), is_judgement("style.numerals")
    (True, False)
    """
    return rule_id in judgements()


def is_required(rule_id: str) -> bool:
    """Tell whether what a rule calls missing is asked for by name, by a list or a regulation.

    >>> is_required("coverage.missing_topic"), is_required("wording.ambiguous")
    (True, False)
    """
    return rule_id in shipped("rule_kinds")["asked_for_by_name"]
