"""The review rules. Importing this package registers all of them."""

from review.rules import prompt_injection, style
from review.rules.base import Rule, RuleCrash, UnknownRuleError, get_rule, list_rules, run_rule
from review.rules.compliance import articles
from review.rules.consistency import conflicting_values, terminology, totals
from review.rules.content import coverage, curated, demands, requirement_records, wording
from review.rules.history import version_management
from review.rules.structure import contents, dangling, figures, headings
from review.rules.traceability import component_names, trace_links, traceability
