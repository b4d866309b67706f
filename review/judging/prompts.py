"""The curated prompts in force, and those that ship."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hub.access.versions import PublicationStatus, next_number, put_in_force
from review.judging.types import PromptTexts
from review.models import JudgePrompt, PromptKind

PROMPT_FILE = Path(__file__).resolve().parents[1] / "data" / "prompts.json"


def numbers_in_force() -> dict[str, int]:
    """The published version of each kind of prompt. One query."""
    published = JudgePrompt.objects.filter(status=PublicationStatus.PUBLISHED)
    return dict(published.values_list("kind", "number"))


def texts_of(numbers: Mapping[str, int]) -> PromptTexts:
    """The texts of given versions; a kind that is missing is empty. One query."""
    rows = {(row.kind, row.number): row.text for row in JudgePrompt.objects.filter(kind__in=numbers)}
    texts = {kind: rows.get((kind, number), "") for kind, number in numbers.items()}
    return PromptTexts(
        judge=texts.get(PromptKind.JUDGE, ""),
        screen=texts.get(PromptKind.SCREEN, ""),
        summary=texts.get(PromptKind.SUMMARY, ""),
        second=texts.get(PromptKind.SECOND, ""),
        sweep=texts.get(PromptKind.SWEEP, ""),
        refute=texts.get(PromptKind.REFUTE, ""),
        numbers=dict(numbers),
    )


def load_shipped_prompts() -> None:
    """Publish our prompts where there are none of their kind, and newer ones in place of our older ones.

    What people wrote stays: a prompt with an author or a reason is theirs.
    """
    stored = {row.kind for row in JudgePrompt.objects.only("kind")}
    in_force = {row.kind: row for row in JudgePrompt.objects.filter(status=PublicationStatus.PUBLISHED)}
    for kind, text in json.loads(PROMPT_FILE.read_text(encoding="utf-8")).items():
        ours = in_force.get(kind)
        is_older = ours is not None and not (ours.author_id or ours.writer_ids or ours.note) and ours.text != text
        if kind not in stored or is_older:
            prompt = JudgePrompt(kind=kind, text=text)
            prompt.number = next_number(prompt.versions())
            put_in_force(prompt)
