"""Which rules state facts, which tell of a form, and which judge: the table is ``review/data/rule_kinds.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from review.rules.base import shipped


def judgements() -> frozenset[str]:
    """The ids of the rules whose findings are judgements: a reader may see them otherwise."""
    return frozenset(shipped("rule_kinds")["judgement"])


def rules_put_before_a_model() -> frozenset[str]:
    """The ids of the rules on findings of which a second opinion is asked, on all of them or on those of some kinds."""
    kinds = shipped("rule_kinds")
    return judgements() | frozenset(kinds["form"]) | frozenset(kinds["form_by_kind"])


def is_put_before_a_model(rule_id: str, data: Mapping[str, Any]) -> bool:
    """Return whether a second opinion is asked on a finding: a judgement, or what is about a form.

    >>> is_put_before_a_model("terminology.variant", {"kind": "synonym"})
    True
    >>> is_put_before_a_model("terminology.variant", {"kind": "long_vowel"})
    False
    """
    kinds = shipped("rule_kinds")
    return (
        rule_id in judgements()
        or rule_id in kinds["form"]
        or data.get("kind") in kinds["form_by_kind"].get(rule_id, ())
    )


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
