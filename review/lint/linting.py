"""The text rules over one text: pure, so that a long text can be judged in a process of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.documents import Block, BlockKind
from knowledge.types.notices import Notice
from review.rules import RuleCrash, list_rules, run_rule
from review.rules.style import Place, StyleRule, StyleText, Use, read_markdown, read_plain, style_rules
from review.types import LintFinding, LintResult, RuleInput, Span

# More places of one rule help nobody; a notice says how many there are.
MAX_PLACES = 500
_PARAGRAPH = re.compile(r"^(?:[^\S\n]*+\S[^\n]*+(?:\n|\Z))+", re.MULTILINE)
_result = TypeAdapter(LintResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    style: StyleText
    document: RuleInput


def judge_text(text: str, uses: Sequence[Use], *, is_markdown: bool) -> LintResult:
    """Apply the rules to the text; findings are in the text's order."""
    target = _target(text, is_markdown=is_markdown)
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


def write_question(path: Path, text: str, uses: Sequence[Use], *, is_markdown: bool) -> None:
    """Write what `judge_text` is asked to a file, for `answer`."""
    asked = {"text": text, "uses": [asdict(use) for use in uses], "is_markdown": is_markdown}
    path.write_text(json.dumps(asked), encoding="utf-8")


def prepare() -> None:
    """Load dictionaries and masters, for the processes that are forked from this one."""
    judge_text("用意する。", [Use(rule_id=found.id) for found in list_rules(tag="text")], is_markdown=True)


def answer(path: Path, **_request: object) -> str:
    """Judge the text of a file that `write_question` wrote; the task of a guarded child."""
    asked = json.loads(path.read_text(encoding="utf-8"))
    uses = [Use(**use) for use in asked["uses"]]
    judged = judge_text(asked["text"], uses, is_markdown=asked["is_markdown"])
    return json.dumps(_result.dump_python(judged, mode="json"))


def read_answer(answered: dict[str, Any], _folder: Path) -> LintResult:
    """Read what `answer` returned."""
    return _result.validate_python(answered)


def _target(text: str, *, is_markdown: bool) -> _Target:
    blocks = markdown_blocks(text) if is_markdown else _paragraphs(text)
    document = RuleInput(text=text, title="", document_type="", sections=build_sections(text, blocks), blocks=blocks)
    return _Target(style=read_markdown(text, blocks) if is_markdown else read_plain(text), document=document)


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
    outcome = run_rule(use.rule_id, target.document)
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
