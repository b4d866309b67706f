"""The review rules. Importing this package registers all of them."""

from review.rules import prompt_injection, style
from review.rules.compliance import articles
from review.rules.consistency import abbreviations, conflicting_values, terminology, totals
from review.rules.content import coverage, curated, demands, requirement_records, wording
from review.rules.history import dates, version_management
from review.rules.registry import Rule, RuleCrash, UnknownRuleError, get_rule, list_rules, run_rule
from review.rules.structure import contents, dangling, figures, numbering
from review.rules.traceability import component_names, trace_links, traceability

__all__ = [
    "Rule",
    "RuleCrash",
    "UnknownRuleError",
    "abbreviations",
    "articles",
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
    "list_rules",
    "numbering",
    "prompt_injection",
    "requirement_records",
    "run_rule",
    "style",
    "terminology",
    "totals",
    "trace_links",
    "traceability",
    "version_management",
    "wording",
]
