"""The one way to a language model: masks, limits, records and audits every request.

Call it outside of a transaction: a request takes seconds, and its audit line must stay when the caller's work fails.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.access.services import record_event
from hub.core.errors import HubError
from hub.core.masking import split_before_name
from hub.core.measures import LLM_COST, LLM_SECONDS, LLM_TOKENS, Point, count
from hub.core.tracing import Fact, add_span
from hub.core.waiting import waiting_elsewhere
from hub.llm.budget import Budget, Reservation
from hub.llm.errors import (
    STREAM_CUT,
    AnswerPending,
    LlmInvalidAnswer,
    LlmRefused,
    LlmTimeout,
    LlmUnavailable,
    ReplayMiss,
)
from hub.llm.json_answers import read_answer
from hub.llm.preparation import Prepared, Purpose, learn_token_rate, prepare
from hub.llm.providers.registry import get_provider
from hub.llm.recordings import completion_of, recorded_answer, recordings_of
from hub.llm.slots import held_slot
from hub.llm.tokens import estimate_text_tokens
from hub.llm.types import Completion, FinishReason, LlmAnswer, LlmRequest, Provider


def ask(
    principal: Principal,
    request: LlmRequest,
    *,
    purpose: Purpose,
    budget: Budget | None = None,
    replay: bool = False,
    provider: Provider | None = None,
    repairs: LlmRequest | None = None,
) -> LlmAnswer:
    """Ask and wait for a checked answer; the same request is answered from the recordings, without being sent.

    With ``replay`` only from them. ``provider`` is the configured one unless given; what a caller's own model says is
    recorded for its call alone (:func:`hub.llm.recordings.recordings_of`). ``repairs`` is the request whose answer
    could not be used and is asked for again by this one: the answer is recorded for it, too, so that it is not asked
    anew the next time. Of two answers to one request that come at once the one that is recorded first is both's.

    :raises LlmUnavailable: no model is configured or it is away, LlmTimeout among them; ReplayMiss in a replay.
    :raises LlmRefused: the provider refused, or the documents' classification is above what it may see.
    :raises LlmInvalidAnswer: the answer is cut off, too long, or not what the schema asks for.
    :raises BudgetExceeded: the request could pass the budget; it is not sent.
    """
    provider = provider or get_provider()
    prepared = prepare(provider, request, purpose)
    if recorded := _recorded(provider, prepared, replay=replay):
        return recorded
    keys = (prepared.key, *([prepare(provider, repairs, purpose).key] if repairs else []))
    with _sending(principal, provider, prepared, budget) as sent:
        completion = provider.complete(
            prepared.request, model=prepared.model, max_output_tokens=prepared.max_output_tokens
        )
        return sent.finish(completion, keys=keys)


def stream(
    principal: Principal,
    request: LlmRequest,
    *,
    purpose: Purpose,
    budget: Budget | None = None,
    replay: bool = False,
    provider: Provider | None = None,
) -> Generator[str, None, LlmAnswer]:
    """Yield the answer's text as it comes, unchecked; the generator's value is the checked answer.

    Raises what `ask` raises; after the first piece LlmUnavailable may have the code ``llm_stream_cut``.
    """
    provider = provider or get_provider()
    prepared = prepare(provider, request, purpose)
    if recorded := _recorded(provider, prepared, replay=replay):
        yield recorded.text
        return recorded
    with _sending(principal, provider, prepared, budget) as sent:
        held = ""
        for piece in provider.stream(
            prepared.request, model=prepared.model, max_output_tokens=prepared.max_output_tokens
        ):
            if isinstance(piece, Completion):
                yield prepared.masking.restore(held)
                return sent.finish(piece, keys=(prepared.key,))
            whole, held = split_before_name(held + piece)
            yield prepared.masking.restore(whole)
    raise LlmUnavailable(_("The language model broke off in the middle of its answer. Ask again."), code=STREAM_CUT)


def _recorded(provider: Provider, prepared: Prepared, *, replay: bool) -> LlmAnswer | None:
    row = recordings_of(provider).find(prepared.key)
    if row is None:
        if replay:
            raise ReplayMiss(
                _(
                    "This request to {model} was never answered before, so it can't be replayed. Something that it is "
                    "made of has changed: document, check item, prompt or model."
                ),
                model=prepared.model,
            )
        return None
    answer = _checked(prepared, completion_of(row), (row.tokens_in, row.tokens_out))
    return replace(answer, from_cache=True, usage_is_estimated=row.usage_is_estimated)


def _checked(prepared: Prepared, completion: Completion, tokens: tuple[int, int]) -> LlmAnswer:
    """Check an answer and put masked values back. :raises LlmInvalidAnswer, LlmRefused: as `ask` says."""
    if completion.finish_reason is FinishReason.FILTERED:
        raise LlmRefused(_("The language model's provider withheld the answer (content filter)."), code="llm_filtered")
    text = prepared.masking.restore(completion.text)
    if completion.finish_reason is FinishReason.LENGTH:
        raise LlmInvalidAnswer(
            _("The language model's answer was cut off at {limit} tokens (LLM_MAX_OUTPUT_TOKENS)."),
            code="llm_answer_cut",
            text=text,
            limit=prepared.max_output_tokens,
        )
    schema = prepared.request.schema
    return LlmAnswer(
        text=text,
        model=completion.model,
        finish_reason=completion.finish_reason,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        cost=prepared.price.cost(*tokens) if prepared.price else None,
        data=read_answer(text, schema) if schema else None,
        usage_is_estimated=completion.tokens_in is None or completion.tokens_out is None,
        masked=prepared.masking.counts,
    )


@dataclass(slots=True, kw_only=True)
class _Sent:
    """A request under way: what it took, and what is measured of it."""

    provider: Provider
    prepared: Prepared
    reservation: Reservation
    facts: dict[str, Any]

    def finish(self, completion: Completion, *, keys: Sequence[str]) -> LlmAnswer:
        """Count and check the answer, and record it under each key; what the first one had before is the answer."""
        prepared = self.prepared
        tokens = self._tokens(completion)
        self.reservation.settle(*tokens)
        self.facts |= {"tokens_in": tokens[0], "tokens_out": tokens[1], "finish_reason": completion.finish_reason.value}
        answer = _checked(prepared, completion, tokens)
        rows = [
            recorded_answer(
                key,
                completion,
                provider=self.provider.name,
                purpose=prepared.purpose.name,
                document_ids=prepared.purpose.document_ids,
                tokens=tokens,
            )
            for key in keys
        ]
        recorded = recordings_of(self.provider).add(rows)
        return answer if recorded is rows[0] else _checked(prepared, completion_of(recorded), tokens)

    def _tokens(self, completion: Completion) -> tuple[int, int]:
        prepared = self.prepared
        if completion.tokens_in is not None and not any(message.images for message in prepared.request.messages):
            learn_token_rate(
                self.provider.name, prepared.model, estimated=prepared.raw_tokens_in, counted=completion.tokens_in
            )
        tokens_in = prepared.estimate.tokens_in if completion.tokens_in is None else completion.tokens_in
        if completion.tokens_out is not None:
            return tokens_in, completion.tokens_out
        return tokens_in, estimate_text_tokens(completion.text)


@contextmanager
def _sending(principal: Principal, provider: Provider, prepared: Prepared, budget: Budget | None) -> Iterator[_Sent]:
    """Hold a place and the budget for a request, and write its audit line whatever becomes of it."""
    wanted = prepared.estimate
    with (
        waiting_elsewhere(),
        (budget or Budget()).reserve(
            tokens_in=wanted.tokens_in, tokens_out=wanted.tokens_out, price=prepared.price
        ) as reservation,
        held_slot(),
    ):
        sent = _Sent(provider=provider, prepared=prepared, reservation=reservation, facts={})
        started = time.monotonic()
        outcome = "abandoned"
        try:
            yield sent
            outcome = "ok"
        except HubError as error:
            outcome = error.error_code
            if isinstance(error, LlmTimeout) or error.error_code == STREAM_CUT:
                reservation.settle(wanted.tokens_in, 0)  # the provider has read it, and may charge for it
            raise
        finally:
            if outcome != AnswerPending.code:  # nothing was sent: the request is made again, and measured then
                seconds = time.monotonic() - started
                _record(principal, sent, outcome, duration_ms=round(seconds * 1000))
                _count(sent, outcome, seconds)


def _record(principal: Principal, sent: _Sent, outcome: str, *, duration_ms: int) -> None:
    prepared = sent.prepared
    spent = sent.reservation.taken or (0, 0)
    record_event(
        principal,
        "LLM_INFERENCE",
        f"llm:{prepared.model}"[:200],
        purpose=prepared.purpose.name,
        provider=sent.provider.name,
        model=prepared.model,
        outcome=outcome,
        estimated_tokens_in=prepared.estimate.tokens_in,
        cost=str(prepared.price.cost(*spent)) if prepared.price else None,
        duration_ms=duration_ms,
        documents=sorted(set(prepared.purpose.document_ids)),
        no_training_confirmation=prepared.confirmation,
        masked=prepared.masking.counts,
        **({"tokens_in": spent[0], "tokens_out": spent[1]} | sent.facts),
    )


def _count(sent: _Sent, outcome: str, seconds: float) -> None:
    prepared, spent = sent.prepared, sent.reservation.taken or (0, 0)
    which = (sent.provider.name, prepared.model)
    facts: dict[str, Fact] = {"gen_ai.provider.name": which[0], "gen_ai.request.model": which[1]}
    facts |= {"gen_ai.usage.input_tokens": spent[0], "gen_ai.usage.output_tokens": spent[1]}
    ended_ns = time.time_ns()
    failure = "" if outcome == "ok" else outcome
    add_span("language model", facts, started_ns=ended_ns - int(seconds * 1e9), ended_ns=ended_ns, code=failure)
    count(
        Point(family=LLM_SECONDS, labels=(*which, outcome), value=seconds),
        Point(family=LLM_TOKENS, labels=(*which, "in"), value=spent[0]),
        Point(family=LLM_TOKENS, labels=(*which, "out"), value=spent[1]),
        *([Point(family=LLM_COST, labels=which, value=float(prepared.price.cost(*spent)))] if prepared.price else []),
    )
