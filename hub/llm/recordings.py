"""Recorded answers: the same request needs no model a second time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from hub.llm.models import RecordedAnswer
from hub.llm.types import Completion, FinishReason, LlmRequest


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


def find_recorded(key: str) -> RecordedAnswer | None:
    """The recorded answer to a request. One query."""
    return RecordedAnswer.objects.filter(pk=key).first()


def recorded_among(keys: Sequence[str]) -> set[str]:
    """Those of the keys that have an answer. One query."""
    return set(RecordedAnswer.objects.filter(pk__in=keys).values_list("pk", flat=True))


def record_answer(
    key: str,
    completion: Completion,
    *,
    provider: str,
    purpose: str,
    document_ids: Sequence[str],
    tokens: tuple[int, int],
) -> None:
    """Keep a checked answer; the first one stays, so that what was built on it can be built again."""
    RecordedAnswer.objects.bulk_create(
        [
            RecordedAnswer(
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
        ],
        ignore_conflicts=True,
    )


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
