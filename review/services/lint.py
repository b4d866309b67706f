"""The text rules as a service: findings on a text that is given, and nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput, LimitExceeded
from knowledge.backends.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.documents import Block, BlockKind
from knowledge.types.notices import Notice
from review.rules import RuleCrash, run_rules
from review.rules.style import Place, StyleRule, StyleText, Use, read_markdown, read_plain, style_rules
from review.services.text_rules import choose_rules
from review.types import LintFinding, LintResult, RuleInput, Span

# Longer texts are documents: a review takes them in, shows progress and keeps the result.
MAX_CHARACTERS = 200_000
MAX_RULES = 200
# More places of one rule help nobody; a notice tells how many there are.
MAX_PLACES = 500
_PARAGRAPH = re.compile(r"^(?:[^\S\n]*+\S[^\n]*+(?:\n|\Z))+", re.MULTILINE)


class TextFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    style: StyleText
    document: RuleInput


def lint_text(
    *, principal: Principal, text: str, rules: Sequence[str] = (), text_format: str = TextFormat.MARKDOWN
) -> LintResult:
    """Judge a text by the text rules; nothing is stored.

    ``rules`` are ids, prefixes (``style.*``) or aliases (``textlint:…``), all defaults when empty. Offsets count code
    points of ``text``.

    :raises InvalidInput: an unknown rule or format. :raises LimitExceeded: more than ``MAX_CHARACTERS``.
    """
    principal.require(Scope.READ)
    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(
            _("The text has {given} characters; the limit is {limit}. Upload it as a document and review it instead."),
            code="text_too_long",
            given=len(text),
            limit=MAX_CHARACTERS,
        )
    if len(rules) > MAX_RULES:
        raise LimitExceeded(_("More than {limit} rules were named."), code="too_many_rules", limit=MAX_RULES)
    uses = choose_rules(rules)
    target = _target(text, _format(text_format))
    findings: list[LintFinding] = []
    notices: list[Notice] = []
    for use in uses:
        _apply(use, target, findings, notices)
    return LintResult(
        text=text,
        sections=target.document.sections,
        findings=tuple(sorted(findings, key=_text_order)),
        rules=tuple(dict.fromkeys(use.rule_id for use in uses)),
        notices=tuple(notices),
    )


def _format(name: str) -> TextFormat:
    try:
        return TextFormat(name)
    except ValueError:
        raise InvalidInput(
            _('"{given}" is no format: use markdown or text.'), code="unknown_format", given=name
        ) from None


def _target(text: str, text_format: TextFormat) -> _Target:
    markdown = text_format is TextFormat.MARKDOWN
    blocks = markdown_blocks(text) if markdown else _paragraphs(text)
    document = RuleInput(text=text, title="", document_type="", sections=build_sections(text, blocks), blocks=blocks)
    return _Target(style=read_markdown(text, blocks) if markdown else read_plain(text), document=document)


def _paragraphs(text: str) -> tuple[Block, ...]:
    return tuple(
        Block(kind=BlockKind.PARAGRAPH, start=match.start(), end=match.end()) for match in _PARAGRAPH.finditer(text)
    )


def _apply(use: Use, target: _Target, findings: list[LintFinding], notices: list[Notice]) -> None:
    if (style := style_rules().get(use.rule_id)) is not None:
        places = list(style.places(target.style, use.params))
        findings.extend(_place_finding(style, place) for place in places[:MAX_PLACES])
        if len(places) > MAX_PLACES:
            notices.append(_cut_notice(style, len(places)))
        return
    outcome = run_rules([use.rule_id], target.document)[use.rule_id]
    if isinstance(outcome, RuleCrash):
        notices.append(Notice(code="rule_crashed", ja=outcome.message.ja, en=outcome.message.en))
        return
    for draft in outcome.findings:
        findings.append(
            LintFinding(
                rule_id=draft.rule_id,
                severity=draft.severity,
                message=draft.message,
                spans=draft.evidence,
                advice=draft.suggestion.content if draft.suggestion else None,
                data=draft.data,
            )
        )


def _place_finding(style: StyleRule, place: Place) -> LintFinding:
    return LintFinding(
        rule_id=style.id,
        severity=style.severity,
        message=place.message,
        spans=(Span(start=place.start, end=place.end),),
        replacement=place.replacement,
    )


def _cut_notice(style: StyleRule, count: int) -> Notice:
    return Notice(
        code="places_cut",
        ja=f"「{style.title.ja}」は {count} か所あります。最初の {MAX_PLACES} か所を示します。",
        en=f"“{style.title.en}” has {count} places. The first {MAX_PLACES} are shown.",
    )


def _text_order(finding: LintFinding) -> tuple[int, int, str]:
    first = finding.spans[0] if finding.spans else Span(start=0, end=0)
    return first.start, first.end, finding.rule_id
