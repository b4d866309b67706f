"""What a rule is: registered by its id, run over a document, and with the words of its findings, which are data.

``review/data/rules/<subject>.json`` has by the rule's id its title, what it looks at, and the texts of its findings:
``message``, what to do about it (``content``) and why (``rationale``), and what its ``confidence`` rests on. Names in
braces are filled with the words of a finding.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from hub.core.patterns import PatternRefused, PatternTooSlow, patterns_within
from hub.core.processes import TimeOver, limit_cpu
from hub.core.texts import Text
from review.rules.certainty import confidence_of
from review.types import FindingDraft, Master, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

DATA = Path(__file__).resolve().parents[1] / "data"
_MOST_LISTED = 12
_PLACES = frozenset({"where", "there", "first", "place", "places", "chapter"})
logger = logging.getLogger(__name__)

# Of processor time for one rule over one document; the largest documents take the slowest rules some seconds.
RULE_S = 60.0

RuleFunction = Callable[[RuleInput], RuleOutcome]


@lru_cache(maxsize=32)
def shipped(name: str) -> dict[str, Any]:
    """Return what the file ``review/data/<name>.json`` holds."""
    data: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return data


@lru_cache(maxsize=1)
def _texts() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((DATA / "rules").glob("*.json")):
        found |= shipped(f"rules/{path.stem}")
    return found


def text_of(rule_id: str, name: str) -> Text:
    """Return a text of a rule as it is written: its title, what it looks at, the message of a style rule."""
    return Text(**_texts()[rule_id][name])


def finding(
    rule_id: str,
    *,
    severity: Severity,
    key: str,
    like: str = "",
    texts: str = "finding",
    words: Mapping[str, object] | None = None,
    evidence: tuple[Span, ...] = (),
    searched: tuple[str, ...] = (),
    data: Mapping[str, Any] | None = None,
    confidence: float | None = None,
    example: str | None = None,
    rests_on: tuple[str, ...] | None = None,
) -> FindingDraft:
    """Return a finding that says the rule's ``texts``, or those of the rule that it is ``like``, filled with ``words``.

    What these texts leave out, those named ``finding`` say; what is null there is not said.
    """
    named = _texts()[like or rule_id]
    written = {**named["finding"], **named[texts]}
    said = {name: filled(Text(**text), words or {}) for name, text in written.items() if text is not None}
    suggestion = None
    if "content" in said:
        suggestion = SuggestionDraft(content=said["content"], rationale=said["rationale"], example=example)
    return FindingDraft(
        rule_id=rule_id,
        severity=severity,
        message=said["message"],
        key=key,
        evidence=evidence,
        searched=searched,
        data=data or {},
        confidence=None if confidence is None else round(confidence, 3),
        confidence_basis=said.get("confidence"),
        suggestion=suggestion,
        rests_on=rests_on,
    )


def filled(text: Text, words: Mapping[str, object]) -> Text:
    """Return a text with its names in braces replaced by the words; those that are a Text, by its own language.

    A place that has no heading above it is called the text: nothing says 「」.
    """
    named = {name: _placed(word) if name in _PLACES and isinstance(word, str) else word for name, word in words.items()}
    return Text(
        ja=text.ja.format_map({name: word.ja if isinstance(word, Text) else word for name, word in named.items()}),
        en=text.en.format_map({name: word.en if isinstance(word, Text) else word for name, word in named.items()}),
    )


def _placed(word: str) -> Text:
    return Text(ja=word.replace("「」", "「本文」") or "本文", en=word.replace("「」", "「the text」") or "the text")


def skipped(reason: str) -> RuleOutcome:
    """Return the outcome of a rule that has nothing to judge, with its reason in ``review/data/skip_reasons.json``."""
    return RuleOutcome(skip_reason=Text(**shipped("skip_reasons")[reason]))


class Placed(Protocol):
    """What stands at ``[start, end)`` of the reviewed text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def spans_of(placed: Iterable[Placed]) -> tuple[Span, ...]:
    """Return where things stand, in document order, none twice."""
    return tuple(Span(start=start, end=end) for start, end in sorted({(each.start, each.end) for each in placed}))


def joined(names: Iterable[str]) -> Text:
    """Return the names one after the other."""
    every = list(names)
    return Text(ja="、".join(every), en=", ".join(every))


def quoted(names: Iterable[str]) -> Text:
    """Return the names one after the other, each in quotation marks."""
    every = list(names)
    return Text(ja="、".join(f"「{name}」" for name in every), en=", ".join(f"“{name}”" for name in every))


def counted(counts: Mapping[str, int]) -> Text:
    """Return words one after the other, each with how often it occurs."""
    return Text(
        ja="、".join(f"「{word}」{count} 件" for word, count in counts.items()),
        en=", ".join(f"“{word}” ({count})" for word, count in counts.items()),
    )


def listed(names: Iterable[str]) -> str:
    """Return the identifiers as a list for a message, cut after the first dozen."""
    every = list(names)
    shown = "、".join(every[:_MOST_LISTED])
    return shown if len(every) <= _MOST_LISTED else f"{shown} ほか（計 {len(every)} 件）"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A registered rule. ``defaults`` are the parameters it understands, with the value used when none is given.

    ``reads`` is what it is given besides the reviewed document.
    """

    id: str
    title: Text
    looks_at: Text
    check: RuleFunction
    tags: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    reads: frozenset[Master] = frozenset()

    @property
    def reads_related(self) -> bool:
        return Master.RELATED in self.reads


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCrash:
    """A rule that raised instead of judging. It decides nothing: the check it belongs to is an error."""

    rule_id: str
    error_type: str
    message: Text


_rules: dict[str, Rule] = {}


class UnknownRuleError(LookupError):
    """A rule id that nothing is registered under."""

    def __init__(self, rule_id: str) -> None:
        super().__init__(f"Unknown rule {rule_id!r}. Known rules: {', '.join(sorted(_rules))}.")
        self.rule_id = rule_id


def register(found: Rule) -> None:
    """Make a rule known.

    :raises ValueError: its id is taken.
    """
    if found.id in _rules:
        raise ValueError(f"Rule {found.id!r} is registered twice.")
    _rules[found.id] = found


def rule(
    id: str,
    *,
    tags: tuple[str, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    reads_related: bool = False,
    reads_topics: bool = False,
    reads_articles: bool = False,
) -> Callable[[RuleFunction], RuleFunction]:
    """Register the decorated function as the rule ``id``, with the title that ``review/data/rules`` has for it.

    It is given the related documents, the ontology's topics, the guidelines' articles only if it says that it reads
    them.
    """
    declared = {Master.RELATED: reads_related, Master.TOPICS: reads_topics, Master.ARTICLES: reads_articles}

    def decorate(check: RuleFunction) -> RuleFunction:
        register(
            Rule(
                id=id,
                title=text_of(id, "title"),
                looks_at=text_of(id, "looks_at"),
                check=check,
                tags=tags,
                defaults=defaults or {},
                reads=frozenset(master for master, is_read in declared.items() if is_read),
            )
        )
        return check

    return decorate


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


def run_rule(rule_id: str, target: RuleInput, params: Mapping[str, Any] | None = None) -> RuleOutcome | RuleCrash:
    """Return what a rule says of a document with its defaults overlaid by ``params`` (those of ``target`` when None).

    A rule that raises, or takes longer than ``RULE_S``, yields a ``RuleCrash``. It is given only what it says that it
    reads, and is skipped where that could not be read. Each finding says how sure it is, and names the related
    documents that it rests on: all that its rule was given, unless the rule says less.

    :raises UnknownRuleError: the id is not registered.
    """
    chosen = get_rule(rule_id)
    for master in sorted(chosen.reads & target.unavailable):
        return replace(skipped(f"{master}_unavailable"), reads=frozenset({master}))
    read: dict[str, Any] = {each: getattr(target, each) if each in chosen.reads else () for each in Master}
    given = {**chosen.defaults, **(target.params if params is None else params)}
    try:
        with patterns_within(RULE_S), limit_cpu(RULE_S):
            outcome = chosen.check(replace(target, params=given, **read))
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
    outcome = replace(outcome, findings=tuple(map(_with_certainty, outcome.findings)))
    if outcome.skip_reason is None:
        outcome = replace(outcome, reads=frozenset(master for master in Master if read[master]))
    if not read[Master.RELATED]:
        return outcome
    rests_on = tuple(each.document_id for each in target.related)
    quoted_from = {span.document for each in outcome.findings for span in each.evidence if span.document}
    outcome = replace(outcome, links=(*outcome.links, *sorted(quoted_from)))
    findings = (each if each.rests_on is not None else replace(each, rests_on=rests_on) for each in outcome.findings)
    return replace(outcome, findings=tuple(findings))


def _with_certainty(found: FindingDraft) -> FindingDraft:
    """Say how sure a finding is, by how often its kind was right; the share that its rule counted stays in its data.

    A rule that counts a share of 0 for a finding takes it for none: an instruction that a section on attacks quotes.
    """
    bound, said = confidence_of(found.rule_id, found.data)
    if found.confidence is None:
        return replace(found, confidence=bound, confidence_basis=said)
    own = found.confidence_basis or Text(ja="規則が数えた割合", en="share that the rule counted")
    return replace(
        found,
        confidence=bound if found.confidence else 0.0,
        confidence_basis=Text(
            ja=f"{said.ja}。{own.ja}: {found.confidence:.0%}", en=f"{said.en}; {own.en}: {found.confidence:.0%}"
        ),
        data={**found.data, "share": found.confidence},
    )


def _crash(chosen: Rule, error: Exception, *, ja: str, en: str) -> RuleCrash:
    return RuleCrash(
        rule_id=chosen.id,
        error_type=type(error).__name__,
        message=Text(
            ja=f"規則「{chosen.title.ja}」は判定できませんでした：{ja}。",
            en=f"The rule “{chosen.title.en}” could not judge: {en}.",
        ),
    )
