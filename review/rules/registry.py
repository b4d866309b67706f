"""The rules by id: registration, listing, and running several of them over one document."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hub.core.patterns import PatternRefused, PatternTooSlow, patterns_within
from hub.core.texts import Text
from hub.core.time_limit import TimeOver, limit_cpu
from review.rules.base import Rule, RuleCrash, RuleFunction
from review.types import RuleInput, RuleOutcome

logger = logging.getLogger(__name__)

# Of processor time for one rule over one document; the largest documents take the slowest rules some seconds.
RULE_S = 60.0

_rules: dict[str, Rule] = {}


class UnknownRuleError(LookupError):
    """A rule id that nothing is registered under."""

    def __init__(self, rule_id: str) -> None:
        super().__init__(f"Unknown rule {rule_id!r}. Known rules: {', '.join(sorted(_rules))}.")
        self.rule_id = rule_id


def rule(
    *,
    id: str,
    title: Text,
    looks_at: Text,
    tags: Iterable[str] = (),
    defaults: Mapping[str, Any] | None = None,
    reads_related: bool = False,
) -> Callable[[RuleFunction], RuleFunction]:
    """Register the decorated function as the rule ``id``; it is given related documents if it ``reads_related``.

    :raises ValueError: the id is taken.
    """

    def register(check: RuleFunction) -> RuleFunction:
        if id in _rules:
            raise ValueError(f"Rule {id!r} is registered twice.")
        _rules[id] = Rule(
            id=id,
            title=title,
            looks_at=looks_at,
            check=check,
            tags=tuple(tags),
            defaults=dict(defaults or {}),
            reads_related=reads_related,
        )
        return check

    return register


def get_rule(rule_id: str) -> Rule:
    """Return the rule with this id.

    :raises UnknownRuleError: there is none.
    """
    try:
        return _rules[rule_id]
    except KeyError:
        raise UnknownRuleError(rule_id) from None


def list_rules(*, tag: str | None = None) -> tuple[Rule, ...]:
    """Return all rules, or those with ``tag``, ordered by id."""
    return tuple(found for _, found in sorted(_rules.items()) if tag is None or tag in found.tags)


def run_rules(rule_ids: Iterable[str], target: RuleInput) -> dict[str, RuleOutcome | RuleCrash]:
    """Run the rules over one document and return what each of them said, in the order asked for.

    A rule sees its defaults overlaid with ``target.params``. A rule that raises, or takes longer than ``RULE_S``,
    yields a ``RuleCrash`` and does not stop the others. Each finding names the related documents that it rests on: all
    that its rule was given, unless the rule says less.

    :raises UnknownRuleError: an id is not registered; nothing has run then.
    """
    chosen = [get_rule(rule_id) for rule_id in dict.fromkeys(rule_ids)]
    return {each.id: _run_one(each, target) for each in chosen}


def _run_one(chosen: Rule, target: RuleInput) -> RuleOutcome | RuleCrash:
    related = target.related if chosen.reads_related else ()
    try:
        with patterns_within(RULE_S), limit_cpu(RULE_S):
            outcome = chosen.check(replace(target, related=related, params={**chosen.defaults, **target.params}))
    except TimeOver as over:
        logger.warning("Rule %s took more than %g s", chosen.id, over.seconds)
        return _crash(
            chosen,
            over,
            ja=f"処理時間の上限（{over.seconds:g} 秒）を超えた",
            en=f"it took more than {over.seconds:g} s of processor time",
        )
    except (PatternTooSlow, PatternRefused) as error:
        logger.warning("Rule %s could not use a stored pattern of %s", chosen.id, error.where)
        too_slow = isinstance(error, PatternTooSlow)
        return _crash(
            chosen,
            error,
            ja=f"{error.where} のパターン「{error.pattern}」が"
            + ("時間の上限を超えた。簡単な形に書き直してください" if too_slow else "正規表現として使えない"),
            en=f"the pattern “{error.pattern}” of {error.where} "
            + (
                "takes too long over this text. Write it more simply" if too_slow else "is no usable regular expression"
            ),
        )
    # The rule boundary: one broken rule must not end the review.
    except Exception as error:
        logger.exception("Rule %s crashed", chosen.id)
        name = type(error).__name__
        return _crash(chosen, error, ja=f"内部エラー（{name}）", en=f"internal error ({name})")
    return _with_sources(outcome, tuple(each.document_id for each in related))


def _crash(chosen: Rule, error: Exception, *, ja: str, en: str) -> RuleCrash:
    return RuleCrash(
        rule_id=chosen.id,
        error_type=type(error).__name__,
        message=Text(
            ja=f"規則「{chosen.title.ja}」は判定できませんでした：{ja}。",
            en=f"The rule “{chosen.title.en}” could not judge: {en}.",
        ),
    )


def _with_sources(outcome: RuleOutcome, given: tuple[str, ...]) -> RuleOutcome:
    """Say of each finding what it rests on; a rule that does not say may have used all that it was given."""
    if not given:
        return outcome
    findings = (each if each.rests_on is not None else replace(each, rests_on=given) for each in outcome.findings)
    return replace(outcome, findings=tuple(findings))
