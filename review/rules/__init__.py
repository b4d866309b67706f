"""The review rules. Importing this package registers all of them."""

from review.rules import prompt_injection, style
from review.rules.compliance import compliance_articles, compliance_references
from review.rules.consistency import abbreviations, conflicting_values, terminology, totals
from review.rules.content import coverage, curated, demands, requirement_records, wording
from review.rules.history import dates, version_management
from review.rules.registry import Rule, RuleCrash, UnknownRuleError, get_rule, list_rules, run_rule
from review.rules.structure import (
    chapter_links,
    contents,
    dangling,
    figures,
    heading_levels,
    numbering,
    swallowed_headings,
)
from review.rules.traceability import component_names, trace_definitions, trace_links, traceability

__all__ = [
    "Rule",
    "RuleCrash",
    "UnknownRuleError",
    "abbreviations",
    "chapter_links",
    "compliance_articles",
    "compliance_references",
    "component_names",
    "conflicting_values",
    "contents",
    "coverage",
    "curated",
    "dangling",
    "dates",
    "demands",
    "figures",
    "get_rule",
    "heading_levels",
    "list_rules",
    "numbering",
    "prompt_injection",
    "requirement_records",
    "run_rule",
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
