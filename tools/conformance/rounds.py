"""Fixture tools that need input from the client in several rounds: protocol 2026-07-28 (SEP-2322)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp.types import (
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

from tools.conformance.content import text

Answer = CallToolResult | InputRequiredResult
MISSING_CAPABILITY = -32021  # 2026-07-28: MissingRequiredClientCapability
CLIENT_ROOTS = ListRootsRequest(method="roots/list")


def asked(message: str, field: str, kind: str = "string") -> ElicitRequest:
    """Make a question to the user with one required field."""
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    params = ElicitRequestFormParams(mode="form", message=message, requested_schema=schema)
    return ElicitRequest(method="elicitation/create", params=params)


def sampled(prompt: str, max_tokens: int) -> CreateMessageRequest:
    """Make a question to the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    params = CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    return CreateMessageRequest(method="sampling/createMessage", params=params)


def accepted(ctx: Context[Any, Any], key: str, field: str) -> object | None:
    """Give what the user entered for a question; None when it isn't answered."""
    given = (ctx.input_responses or {}).get(key)
    return (given.content or {}).get(field) if isinstance(given, ElicitResult) else None


async def test_input_required_result_elicitation(ctx: Context[Any, Any]) -> Answer:
    """Ask for a name."""
    name = accepted(ctx, "user_name", "name")
    if name is None:
        return InputRequiredResult(input_requests={"user_name": asked("What is your name?", "name")})
    return text(f"Hello, {name}!")


async def test_input_required_result_sampling(ctx: Context[Any, Any]) -> Answer:
    """Ask the model for a capital."""
    given = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(given, CreateMessageResult):
        return InputRequiredResult(input_requests={"capital_question": sampled("What is the capital of France?", 100)})
    return text(f"The model says: {getattr(given.content, 'text', '')}")


async def test_input_required_result_list_roots(ctx: Context[Any, Any]) -> Answer:
    """Ask for the client's roots."""
    given = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(given, ListRootsResult):
        return InputRequiredResult(input_requests={"client_roots": CLIENT_ROOTS})
    return text("Roots: " + ", ".join(str(root.uri) for root in given.roots))


async def test_input_required_result_request_state(ctx: Context[Any, Any]) -> Answer:
    """Ask for a confirmation, with a state that comes back."""
    if ctx.request_state != "confirming" or accepted(ctx, "confirm", "ok") is None:
        question = asked("Please confirm", "ok", "boolean")
        return InputRequiredResult(input_requests={"confirm": question}, request_state="confirming")
    return text("state-ok")


async def test_input_required_result_tampered_state(ctx: Context[Any, Any]) -> Answer:
    """Ask for a confirmation, with a sealed state: a changed one is refused before this function runs."""
    return await test_input_required_result_request_state(ctx)


async def test_input_required_result_multiple_inputs(ctx: Context[Any, Any]) -> Answer:
    """Ask for three things at once."""
    wanted = {
        "user_name": asked("What is your name?", "name"),
        "greeting": sampled("Generate a greeting", 50),
        "client_roots": CLIENT_ROOTS,
    }
    if not set(wanted) <= set(ctx.input_responses or {}):
        return InputRequiredResult(input_requests=wanted, request_state="all")
    return text(f"Complete, {accepted(ctx, 'user_name', 'name')}.")


async def test_input_required_result_multi_round(ctx: Context[Any, Any]) -> Answer:
    """Ask for a name and then for a color."""
    name = accepted(ctx, "step1", "name")
    color = accepted(ctx, "step2", "color")
    if color is not None and ctx.request_state is not None:
        return text(f"{ctx.request_state} likes {color}.")
    if name is not None:
        question = asked("Step 2: What is your favorite color?", "color")
        return InputRequiredResult(input_requests={"step2": question}, request_state=str(name))
    question = asked("Step 1: What is your name?", "name")
    return InputRequiredResult(input_requests={"step1": question}, request_state="step1")


async def test_input_required_result_capabilities(ctx: Context[Any, Any]) -> Answer:
    """Ask only for what the client says it can do."""
    able = ctx.client_capabilities
    wanted: dict[str, CreateMessageRequest | ElicitRequest | ListRootsRequest] = {}
    if able is not None and able.sampling is not None:
        wanted["greeting"] = sampled("Generate a greeting", 50)
    if able is not None and able.elicitation is not None:
        wanted["user_name"] = asked("What is your name?", "name")
    if not wanted or ctx.input_responses:
        return text("Nothing more to ask.")
    return InputRequiredResult(input_requests=dict(wanted))


async def test_streaming_elicitation(ctx: Context[Any, Any]) -> Answer:
    """Report progress and then ask; the stream carries no request of its own."""
    await ctx.report_progress(1, 2)
    return await test_input_required_result_elicitation(ctx)


async def test_missing_capability(ctx: Context[Any, Any]) -> Answer:
    """Need sampling, and refuse clients without."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_CAPABILITY, message="This tool needs the capability sampling.", data=data)
    return text("The client can sample.")


async def test_input_required_result_prompt(ctx: Context[Any, Any]) -> Sequence[UserMessage] | InputRequiredResult:
    """Write a prompt about what the user says."""
    given = accepted(ctx, "user_context", "context")
    if given is None:
        question = asked("What context should the prompt use?", "context")
        return InputRequiredResult(input_requests={"user_context": question})
    return [UserMessage(f"Use this context: {given}")]


def add_rounds(server: MCPServer[Any]) -> None:
    """Register the tools and the prompt of this module."""
    for tool in (
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_tampered_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_capabilities,
        test_streaming_elicitation,
        test_missing_capability,
    ):
        server.add_tool(tool)
    server.prompt()(test_input_required_result_prompt)
