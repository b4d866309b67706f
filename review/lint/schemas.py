"""Shapes of the text-rule service in answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language, shown
from hub.core.shapes import filled
from knowledge.text.structure import line_range, section_at
from review.types import LintFinding, LintResult, RuleFacts, Span


class LintLocationOut(BaseModel):
    section_path: list[str]
    line_range: list[int] = Field(description="first and last line, from 1, inclusive")
    column: int = Field(description="column of the first character in its line, from 1")
    start_offset: int
    end_offset: int


class LintEvidenceOut(BaseModel):
    quote: str
    start_offset: int
    end_offset: int
    verified: bool = Field(description="the quote stands in the given text at these offsets")


class LintSuggestionOut(BaseModel):
    content: str
    replacement: str | None = Field(description="put this in place of the location's characters; null: reword it")


class LintFindingOut(BaseModel):
    rule_id: str
    severity: str
    message: str
    location: LintLocationOut | None
    evidence: list[LintEvidenceOut]
    suggestion: LintSuggestionOut | None
    data: dict[str, Any]


class LintOut(BaseModel):
    """Findings on the given text. Offsets count its Unicode code points, ``[start_offset, end_offset)``."""

    findings: list[LintFindingOut]
    total_findings: int
    rules: list[str] = Field(description="the rules that ran")
    characters: int
    notices: list[dict[str, str]]


class NameOut(BaseModel):
    ja: str
    en: str


class RuleOut(BaseModel):
    id: str
    title: NameOut
    looks_at: NameOut
    applies_to: str = Field(description="text: POST /lint and reviews; document: reviews only")
    by_default: bool = Field(description="runs in POST /lint when no rules are named")
    tags: list[str]
    defaults: dict[str, Any]
    aliases: list[str] = Field(description="the same meaning in other rule sets")


class RulesOut(BaseModel):
    rules: list[RuleOut]
    total: int


def lint_out(result: LintResult) -> LintOut:
    return LintOut(
        findings=[_finding_out(finding, result) for finding in result.findings],
        total_findings=len(result.findings),
        rules=list(result.rules),
        characters=len(result.text),
        notices=[notice.as_dict() for notice in result.notices],
    )


def rules_out(found: tuple[RuleFacts, ...]) -> RulesOut:
    rules = [
        filled(RuleOut, facts, applies_to="text" if facts.is_text_rule else "document", defaults=dict(facts.defaults))
        for facts in found
    ]
    return RulesOut(rules=rules, total=len(found))


def _finding_out(finding: LintFinding, result: LintResult) -> LintFindingOut:
    return filled(
        LintFindingOut,
        finding,
        message=shown(finding.message),
        location=_location(finding.spans[0], result) if finding.spans else None,
        evidence=[
            LintEvidenceOut(
                quote=result.text[span.start : span.end], start_offset=span.start, end_offset=span.end, verified=True
            )
            for span in finding.spans
        ],
        suggestion=_suggestion(finding, result.text),
        data=dict(finding.data),
    )


def _location(span: Span, result: LintResult) -> LintLocationOut:
    section = section_at(result.sections, span.start)
    return LintLocationOut(
        section_path=list(section.path) if section else [],
        line_range=list(line_range(result.text, span.start, span.end)),
        column=span.start - result.text.rfind("\n", 0, span.start),
        start_offset=span.start,
        end_offset=span.end,
    )


def _suggestion(finding: LintFinding, text: str) -> LintSuggestionOut | None:
    if finding.replacement is not None:
        span = finding.spans[0]
        found, to = text[span.start : span.end], finding.replacement
        put = in_language(f"「{found}」を「{to}」に置き換えます。", f"Replace “{found}” by “{to}”.")
        remove = in_language(f"「{found}」を取り除きます。", f"Remove “{found}”.")
        return LintSuggestionOut(content=put if to else remove, replacement=to)
    if finding.advice is not None:
        return LintSuggestionOut(content=shown(finding.advice), replacement=None)
    return None
