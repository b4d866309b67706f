"""Markdown to RuleInput for the tests of rules, through the project's own parser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections
from knowledge.types.requirements import Topic
from review.rules import run_rule
from review.types import RuleInput, RuleOutcome


def rule_input(
    text: str,
    *,
    document_type: str = "basic_design",
    topics: tuple[Topic, ...] = (),
    params: Mapping[str, Any] | None = None,
) -> RuleInput:
    """Parse ``text`` as a Markdown document of the given type."""
    blocks = markdown_blocks(text)
    return RuleInput(
        text=text,
        title="文書",
        document_type=document_type,
        sections=build_sections(text, blocks),
        blocks=blocks,
        topics=topics,
        params=params or {},
    )


def document(*chapters: str) -> str:
    """Write a design with a numbered section for each chapter's text."""
    return "# 設計書\n\n" + "\n\n".join(
        f"## {number}. 章その{number}\n\n{text}" for number, text in enumerate(chapters, 1)
    )


def table(header: str, *rows: str) -> str:
    """Write a table of rows whose cells ``|`` parts."""
    return "\n".join([f"| {header} |", "|" + "---|" * (header.count("|") + 1), *(f"| {row} |" for row in rows)])


def outcome_of(rule_id: str, target: RuleInput, params: Mapping[str, Any] | None = None) -> RuleOutcome:
    """What a rule that must not crash says of the document."""
    outcome = run_rule(rule_id, target, params)
    assert isinstance(outcome, RuleOutcome), outcome
    return outcome
