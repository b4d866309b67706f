"""Recorded answers: the same request needs no model a second time.

What the hub's own models say is recorded for all. What a caller's own model says is that caller's word, which nobody
can check: it is remembered for the one call that asked it (:class:`CallRecordings`), and never stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from hub.llm.models import CALLERS_MODEL, RecordedAnswer
from hub.llm.types import Completion, FinishReason, LlmRequest, Provider


def request_key(request: LlmRequest, *, provider: str, model: str, max_output_tokens: int) -> str:
    """Hash everything that the answer depends on: SHA-256 in hexadecimal. The request is masked already."""
    facts = {
        "provider": provider,
        "model": model,
        "max_output_tokens": max_output_tokens,
        "temperature": request.temperature,
        "schema": dict(request.schema.schema) if request.schema else None,
        "messages": [
            [message.role, message.text, [[i.media_type, hashlib.sha256(i.data).hexdigest()] for i in message.images]]
            for message in request.messages
        ],
    }
    if request.vote:
        facts["vote"] = request.vote
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


class Recordings(Protocol):
    """Where the answers to a provider's requests are kept; the first answer to a request stays."""

    def find(self, key: str) -> RecordedAnswer | None:
        """The answer to a request."""
        ...

    def among(self, keys: Sequence[str]) -> set[str]:
        """Those of the keys that have an answer."""
        ...

    def add(self, rows: Sequence[RecordedAnswer]) -> RecordedAnswer:
        """Record a checked answer under its keys; return what the first key has, which may be an earlier answer."""
        ...


class SharedRecordings:
    """The recordings in the database, for every caller. Each method takes one query, `add` two."""

    def find(self, key: str) -> RecordedAnswer | None:
        return RecordedAnswer.objects.filter(pk=key).exclude(provider=CALLERS_MODEL).first()

    def among(self, keys: Sequence[str]) -> set[str]:
        found = RecordedAnswer.objects.filter(pk__in=keys).exclude(provider=CALLERS_MODEL)
        return set(found.values_list("pk", flat=True))

    def add(self, rows: Sequence[RecordedAnswer]) -> RecordedAnswer:
        own = rows[0]
        RecordedAnswer.objects.bulk_create(rows, ignore_conflicts=True)
        kept = self.find(own.key)
        return own if kept is None or _is_same(kept, own) else kept


@dataclass(slots=True)
class CallRecordings:
    """What a caller's own model said in one call. It lives as long as the call, and is read by nobody else.

    ``used`` are the keys that were asked for: what else is here has done its service.
    """

    rows: dict[str, RecordedAnswer] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def find(self, key: str) -> RecordedAnswer | None:
        if key in self.rows:
            self.used.add(key)
        return self.rows.get(key)

    def among(self, keys: Sequence[str]) -> set[str]:
        return {key for key in keys if key in self.rows}

    def add(self, rows: Sequence[RecordedAnswer]) -> RecordedAnswer:
        self.used |= {row.key for row in rows}
        for row in rows:
            self.rows.setdefault(row.key, row)
        return self.rows[rows[0].key]

    def as_json(self) -> list[dict[str, Any]]:
        """The used answers, for a call that is made in several rounds: it carries them itself."""
        return [{name: getattr(self.rows[key], name) for name in _CARRIED} for key in sorted(self.used)]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> CallRecordings:
        """The answers that an earlier round carried."""
        return cls({row["key"]: RecordedAnswer(provider=CALLERS_MODEL, **row) for row in rows})


_CARRIED = ("key", "model", "text", "finish_reason", "tokens_in", "tokens_out", "usage_is_estimated")


@runtime_checkable
class AnswersItsCaller(Protocol):
    """A provider that asks the caller's own model: its answers are for this call alone."""

    @property
    def recordings(self) -> CallRecordings:
        """What it said in this call."""
        ...


def recordings_of(provider: Provider) -> Recordings:
    """Where a provider's answers are kept: a caller's with its call, all others for everybody."""
    return provider.recordings if isinstance(provider, AnswersItsCaller) else SharedRecordings()


def recorded_answer(
    key: str,
    completion: Completion,
    *,
    provider: str,
    purpose: str,
    document_ids: Sequence[str],
    tokens: tuple[int, int],
) -> RecordedAnswer:
    """A checked answer as it is kept; not saved."""
    return RecordedAnswer(
        key=key,
        provider=provider,
        model=completion.model[:200],
        text=completion.text,
        finish_reason=completion.finish_reason,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        usage_is_estimated=completion.tokens_in is None or completion.tokens_out is None,
        purpose=purpose,
        document_ids=sorted(set(document_ids)),
    )


def _is_same(one: RecordedAnswer, other: RecordedAnswer) -> bool:
    return (one.text, one.finish_reason, one.model) == (other.text, other.finish_reason, other.model)


def completion_of(row: RecordedAnswer) -> Completion:
    """What the provider gave then."""
    return Completion(
        text=row.text,
        finish_reason=FinishReason(row.finish_reason),
        model=row.model,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
    )


def forget_answers(document_id: str) -> int:
    """Remove the recorded answers that rest on a document, and give their number."""
    deleted, _per_model = RecordedAnswer.objects.filter(document_ids__contains=[document_id]).delete()
    return deleted
