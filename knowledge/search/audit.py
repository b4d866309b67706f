"""What the audit trail says of questions: who asked, where, and which documents the answer showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hub.access.audit_lines import query_facts
from hub.access.principals import Principal
from hub.access.services import record_event
from knowledge.types.search import SearchFilter


def record_question(
    principal: Principal,
    action: str,
    text: str,
    *,
    mode: str,
    asked: SearchFilter | None = None,
    documents: Iterable[str],
    results: int,
) -> None:
    """Write that a question was asked and what of the stored documents was shown for it. One statement.

    The line is about the document or the collection that the question was limited to, if it was to one. ``documents``
    are the public ids of those whose passages were shown.
    """
    shown = list(dict.fromkeys(documents))
    facts = {"mode": mode, "results": results, "documents": shown, "documents_count": len(shown)}
    record_event(principal, action, _subject(asked), **query_facts(text), **facts)


def _subject(asked: SearchFilter | None) -> str:
    if asked is None:
        return ""
    if one := _only(asked.document_ids):
        return f"document:{one}"
    return f"collection:{one}" if (one := _only(asked.collections)) else ""


def _only(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else ""
