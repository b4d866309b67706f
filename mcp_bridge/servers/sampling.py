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
from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)

from hub.core.errors import HubError
from hub.llm.json_answers import describe_schema
from hub.llm.providers.registry import is_configured
from hub.llm.recordings import CallRecordings
from hub.llm.types import Completion, FinishReason, LlmRequest, Role
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
    carried = json.loads(ctx.request_state)["answers"] if ctx.request_state else ()
    recordings = CallRecordings.from_json(carried)  # what earlier rounds of this call were answered
    while wanted := await _run(ctx, review, answers, recordings):
        now = dict(list(wanted.items())[:ASKED_AT_ONCE])
        await in_thread(service.wait_for_caller, review)
        if is_stateless:
            if ctx.request_state and not answers:
                break  # it came back without an answer
            return _ask_again(review, now, recordings)
        if not await _ask(ctx, review, now, answers, ends_at=ends_at):
            wanted = await _run(ctx, review, answers, recordings)  # with what it did answer
            break
    if wanted:
        await in_thread(service.give_up_waiting, review)
        await in_thread(execution.execute, review.pk)  # what it was to judge is skipped, with the reason
    return None


async def _run(
    ctx: Context[Any, Any], review: Review, answers: Mapping[str, Completion], recordings: CallRecordings
) -> dict[str, LlmRequest]:
    await _check_rights(review)
    percent, status = await in_thread(reviews.progress, review)
    await ctx.report_progress(float(percent), 100.0, f"{status} ({percent} %)")
    return await in_thread(service.run_with_answers, review, answers, recordings)


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


def _ask_again(review: Review, wanted: Mapping[str, LlmRequest], recordings: CallRecordings) -> InputRequiredResult:
    return InputRequiredResult(
        input_requests={key: CreateMessageRequest(params=_params(request)) for key, request in wanted.items()},
        request_state=json.dumps({"review_id": review.public_id, "answers": recordings.as_json()}),
    )


async def _ask(
    ctx: Context[Any, Any],
    review: Review,
    wanted: Mapping[str, LlmRequest],
    answers: dict[str, Completion],
    *,
    ends_at: float,
) -> bool:
    """Ask one by one, since clients show each request to a person, and put what comes into ``answers``.

    False when the client refused, or had not answered at ``ends_at`` (``time.monotonic``).
    """
    for key, request in wanted.items():
        await _check_rights(review)
        params = _params(request)
        try:
            async with asyncio.timeout(ends_at - time.monotonic()):
                result = await ctx.session.create_message(
                    params.messages,
                    max_tokens=params.max_tokens,
                    system_prompt=params.system_prompt,
                    temperature=0.0,
                    # on the stream of the call that it belongs to: not every client has another
                    related_request_id=ctx.request_id,
                )
        except (MCPError, TimeoutError) as error:
            logger.warning("the client's model did not answer: %s", error)
            return False
        answers[key] = _completion(result)
    return True


def _answers(responses: Mapping[str, Any]) -> dict[str, Completion]:
    return {
        key: _completion(response) for key, response in responses.items() if isinstance(response, CreateMessageResult)
    }


def _params(request: LlmRequest) -> CreateMessageRequestParams:
    """The request in the protocol's words; the schema is told in the last message."""
    system = "\n\n".join(message.text for message in request.messages if message.role is Role.SYSTEM)
    asked = [message.text for message in request.messages if message.role is not Role.SYSTEM]
    if request.schema:
        asked.append(describe_schema(request.schema))
    return CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(type="text", text="\n\n".join(asked)))],
        max_tokens=request.max_output_tokens or 2048,
        system_prompt=system,
        temperature=0.0,
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
