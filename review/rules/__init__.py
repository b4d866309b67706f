"""The review rules. Importing this package registers all of them."""

from review.rules import (
    compliance,
    compliance_references,
    conflicting_values,
    coverage,
    dates,
    figures,
    heading_levels,
    numbering,
    style,
    swallowed_headings,
    terminology,
    totals,
    trace_definitions,
    trace_links,
    traceability,
    version_management,
    wording,
)
from review.rules.base import Rule, RuleCrash
from review.rules.registry import UnknownRuleError, get_rule, list_rules, run_rules

__all__ = [
    "Rule",
    "RuleCrash",
    "UnknownRuleError",
    "compliance",
    "compliance_references",
    "conflicting_values",
    "coverage",
    "dates",
    "figures",
    "get_rule",
    "heading_levels",
    "list_rules",
    "numbering",
    "run_rules",
    "style",
    "swallowed_headings",
    "terminology",
    "totals",
    "trace_definitions",
    "trace_links",
    "traceability",
    "version_management",
    "wording",
]
