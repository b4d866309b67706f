"""The client's own model as a judge inside review_document, in both protocol eras.

Handshake clients are asked by sampling/createMessage while the call is open: on the call's own stream, and no longer
than the call may take. Clients of 2026-07-28 get their call answered with input_required and make it again with the
answers; the review's id and the answers that are still of use travel in the sealed request state.

What the model says belongs to this call: it is stored nowhere but in the review that it judges.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import (
    REQUEST_TIMEOUT,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequiredResult,
    ModelPreferences,
    SamplingMessage,
    TextContent,
)

from hub.core.errors import HubError
from hub.llm.json_answers import describe_schema
from hub.llm.providers.registry import is_configured
from hub.llm.recordings import CallRecordings
from hub.llm.types import Completion, FinishReason, LlmRequest, Role, Strength
from knowledge.documents.workers import work_through
from mcp_bridge.caller import current_caller, principal_now
from mcp_bridge.servers import reviews
from mcp_bridge.servers.schemas import ReviewOptionsIn
from mcp_bridge.servers.waiting import wait_reporting
from mcp_bridge.threads import in_thread
from review.models import Review
from review.runs import execution
from review.runs import sampling as service

logger = logging.getLogger(__name__)

FIRST_STATELESS = "2026-07-28"
# A person may have to allow each of them.
ASKED_AT_ONCE = 4
# Codes by which clients say that a request of theirs took too long: of the Python SDK, and of the TypeScript one.
TIMED_OUT = frozenset({REQUEST_TIMEOUT, -32001, 408})
PREFERENCES = {
    Strength.STRONG: ModelPreferences(intelligence_priority=0.8),
    Strength.LIGHT: ModelPreferences(speed_priority=0.8, cost_priority=0.8),
}
# What the fences of material begin with: no answer has it, unless a model copies the material out.
MATERIAL = "<passage-"
FINISH_REASONS = {"maxTokens": FinishReason.LENGTH}


def is_wanted(ctx: Context[Any, Any], options: ReviewOptionsIn) -> bool:
    """Tell whether the client's model judges: it offers one, and was chosen or is the only one there is."""
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        return False
    return options.judge == "sampling" or (options.judge == "auto" and not is_configured())


async def begin(
    ctx: Context[Any, Any], document_id: str, check_items: list[str], checklist: str, options: ReviewOptionsIn
) -> Review:
    """Start the review, or take up the one that an earlier round of this call began."""
    principal = current_caller().principal
    if ctx.request_state:
        return await in_thread(service.take_up, principal, json.loads(ctx.request_state)["review_id"])
    chosen = options.model_copy(update={"judge": "sampling"})
    return await in_thread(reviews.start, principal, document_id, check_items, checklist, chosen, for_caller=True)


async def judge(ctx: Context[Any, Any], review: Review, *, limit_s: float) -> InputRequiredResult | None:
    """Run the review with the client's answers; None when it is finished, or waits for its document.

    A client that refuses, or has not answered after ``limit_s`` seconds, loses nothing: what it was to judge comes back
    skipped.
    """
    ends_at = time.monotonic() + limit_s
    if not await _document_is_ready(ctx, review, limit_s):
        await in_thread(service.give_up_waiting, review)
        return None
    is_stateless = (ctx.protocol_version or "") >= FIRST_STATELESS
    answers = _answers(ctx.input_responses or {}) if is_stateless else {}
    carried = json.loads(ctx.request_state) if ctx.request_state else {}
    recordings = CallRecordings.from_json(carried.get("answers", ()))  # what earlier rounds of this call were answered
    timed_out = set(carried.get("timed_out", ()))
    if answers:  # a client that comes back with some of the answers had no time for the others
        timed_out |= set(carried.get("asked", ())) - answers.keys()
    while wanted := await _run(ctx, review, answers, recordings, timed_out):
        now = dict(list(wanted.items())[:ASKED_AT_ONCE])
        await in_thread(service.wait_for_caller, review)
        if is_stateless:
            if ctx.request_state and not answers:
                break  # it came back without an answer
            return _ask_again(review, now, recordings, timed_out)
        if not await _ask(ctx, review, now, answers, timed_out, ends_at=ends_at):
            wanted = await _run(ctx, review, answers, recordings, timed_out)  # with what it did answer
            break
    if wanted:
        await in_thread(service.give_up_waiting, review)
        await in_thread(execution.execute, review.pk)  # what it was to judge is skipped, with the reason
    return None


async def _run(
    ctx: Context[Any, Any],
    review: Review,
    answers: Mapping[str, Completion],
    recordings: CallRecordings,
    timed_out: Collection[str],
) -> dict[str, LlmRequest]:
    await _check_rights(review)
    percent, status = await in_thread(reviews.progress, review)
    await ctx.report_progress(float(percent), 100.0, f"{status} ({percent} %)")
    return await in_thread(service.run_with_answers, review, answers, recordings, timed_out)


async def _check_rights(review: Review) -> None:
    """Look, before the client is sent more of the document, whether its user may still have it.

    :raises HubError: they may not; workers take the review over.
    """
    try:
        await in_thread(service.take_up, await principal_now(), review.public_id)
    except HubError:
        await in_thread(service.give_up_waiting, review)
        raise


async def _document_is_ready(ctx: Context[Any, Any], review: Review, limit_s: float) -> bool:
    version_id = review.version_id
    if version_id is None:
        return True
    return await wait_reporting(
        ctx,
        step=lambda seconds: work_through([version_id], timeout_s=seconds),
        progress=lambda: reviews.progress(review),
        limit_s=limit_s,
    )


def _ask_again(
    review: Review, wanted: Mapping[str, LlmRequest], recordings: CallRecordings, timed_out: Collection[str]
) -> InputRequiredResult:
    state = {
        "review_id": review.public_id,
        "answers": recordings.as_json(),
        "asked": list(wanted),
        "timed_out": sorted(timed_out),
    }
    return InputRequiredResult(
        input_requests={key: CreateMessageRequest(params=_params(review, req)) for key, req in wanted.items()},
        request_state=json.dumps(state),
    )


async def _ask(
    ctx: Context[Any, Any],
    review: Review,
    wanted: Mapping[str, LlmRequest],
    answers: dict[str, Completion],
    timed_out: set[str],
    *,
    ends_at: float,
) -> bool:
    """Ask one by one, since clients show each request to a person, and put what comes into ``answers``.

    A request that took longer than LLM_TIMEOUT_S, or for which the client says that it timed out, is put into
    ``timed_out``. False when the client refused, or had not answered at ``ends_at`` (``time.monotonic``).
    """
    for key, request in wanted.items():
        await _check_rights(review)
        left = ends_at - time.monotonic()
        try:
            async with asyncio.timeout(min(left, settings.CONFIG.llm_timeout_s)):
                result = await _create_message(ctx, _params(review, request))
        except TimeoutError:
            logger.warning("the client's model did not answer in time")
            if time.monotonic() >= ends_at:
                return False
            timed_out.add(key)
        except MCPError as error:
            logger.warning("the client's model did not answer: %s", error)
            if error.error.code not in TIMED_OUT:
                return False
            timed_out.add(key)
        else:
            answers[key] = _completion(result)
    return True


async def _create_message(ctx: Context[Any, Any], params: CreateMessageRequestParams) -> CreateMessageResult:
    answer: CreateMessageResult = await ctx.session.create_message(
        params.messages,
        max_tokens=params.max_tokens,
        system_prompt=params.system_prompt,
        temperature=params.temperature,
        model_preferences=params.model_preferences,
        include_context=params.include_context,
        stop_sequences=params.stop_sequences,
        metadata=params.metadata,
        # on the stream of the call that it belongs to: not every client has another
        related_request_id=ctx.request_id,
    )
    return answer


def _answers(responses: Mapping[str, Any]) -> dict[str, Completion]:
    return {
        key: _completion(response) for key, response in responses.items() if isinstance(response, CreateMessageResult)
    }


def _params(review: Review, request: LlmRequest) -> CreateMessageRequestParams:
    """The request in the protocol's words; the schema is told in the last message.

    A judgement wants the client's cleverest model, what leads to one its quickest. Everything that is needed stands in
    the request, so no other context is asked for. An answer is JSON: one that begins to repeat the material ends there.
    """
    system = "\n\n".join(message.text for message in request.messages if message.role is Role.SYSTEM)
    asked = [message.text for message in request.messages if message.role is not Role.SYSTEM]
    if request.schema:
        asked.append(describe_schema(request.schema))
    return CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(type="text", text="\n\n".join(asked)))],
        max_tokens=request.max_output_tokens or 2048,
        system_prompt=system,
        temperature=0.0,
        model_preferences=PREFERENCES[request.strength],
        include_context="none",
        stop_sequences=[MATERIAL],
        metadata={
            "review_id": review.public_id,
            "purpose": request.schema.name if request.schema else "text",
            "request_id": request.digest,
        },
    )


def _completion(result: CreateMessageResult) -> Completion:
    """Clients count no tokens; the hub's estimates stand for them."""
    content = result.content
    text = content.text if isinstance(content, TextContent) else ""
    return Completion(
        text=text,
        finish_reason=FINISH_REASONS.get(str(result.stop_reason), FinishReason.STOP),
        model=result.model,
    )
