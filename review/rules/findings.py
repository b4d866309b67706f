"""The words of rules, which are data, and the findings made of them.

``review/data/rules/<subject>.json`` has by the rule's id its title, what it looks at, and the texts of its findings:
``message``, what to do about it (``content``) and why (``rationale``), and what its ``confidence`` rests on. Names in
braces are filled with the words of a finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from hub.core.texts import Text
from review.types import FindingDraft, RuleOutcome, Severity, Span, SuggestionDraft

DATA = Path(__file__).resolve().parents[1] / "data"
_MOST_LISTED = 12


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
    """Return a text with its names in braces replaced by the words; those that are a Text, by its own language."""
    return Text(
        ja=text.ja.format_map({name: word.ja if isinstance(word, Text) else word for name, word in words.items()}),
        en=text.en.format_map({name: word.en if isinstance(word, Text) else word for name, word in words.items()}),
    )


def skipped(reason: str) -> RuleOutcome:
    """Return the outcome of a rule that has nothing to judge, with its reason in ``review/data/skip_reasons.json``."""
    return RuleOutcome(skip_reason=Text(**shipped("skip_reasons")[reason]))


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
