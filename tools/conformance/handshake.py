"""Fixture tools in which the server asks the client over its back-channel: the eras before 2026-07-28."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    CallToolResult,
    ElicitResult,
    EmptyResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)

from tools.conformance.content import STEP_S, text

USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED = [{"const": f"value{number}", "title": f"{word} Option"} for number, word in enumerate(("First", "Second"), 1)]
_PLAIN = ["option1", "option2", "option3"]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _PLAIN},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _PLAIN}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}


async def test_tool_with_logging(ctx: Context[Any, Any]) -> CallToolResult:
    """Send three log messages."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
        await asyncio.sleep(STEP_S)
    return text("Messages sent.")


async def test_logging_tool(ctx: Context[Any, Any]) -> CallToolResult:
    """Send a log message, which clients that named no level must not get."""
    await ctx.info("A log message")
    return text("Message sent.")


async def test_sampling(prompt: str, ctx: Context[Any, Any]) -> CallToolResult:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([message], max_tokens=100)
    blocks = answer.content if isinstance(answer.content, list) else [answer.content]
    return text("LLM response: " + "".join(block.text for block in blocks if isinstance(block, TextContent)))


async def test_elicitation(message: str, ctx: Context[Any, Any]) -> CallToolResult:
    """Ask the user."""
    return text(f"User response: {_described(await ctx.session.elicit_form(message, USER))}")


async def test_elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> CallToolResult:
    """Ask the user, with a default for each kind of value."""
    answer = await ctx.session.elicit_form("Please review and update the form", DEFAULTS)
    return text(f"Elicitation completed: {_described(answer)}")


async def test_elicitation_sep1330_enums(ctx: Context[Any, Any]) -> CallToolResult:
    """Ask the user to choose, in each way a choice can be written."""
    answer = await ctx.session.elicit_form("Please choose", ENUMS)
    return text(f"Elicitation completed: {_described(answer)}")


async def test_reconnection(ctx: Context[Any, Any]) -> CallToolResult:
    """Close the stream in the middle; the client comes back for the answer."""
    await ctx.close_sse_stream()
    await asyncio.sleep(4 * STEP_S)
    return text("Reconnection test completed.")


def _described(answer: ElicitResult) -> str:
    return f"action={answer.action}, content={answer.content}"


async def _accept_subscription(
    _ctx: ServerRequestContext[Any, Any], _params: SubscribeRequestParams | UnsubscribeRequestParams
) -> EmptyResult:
    return EmptyResult()  # nothing here changes by itself


async def _accept_level(_ctx: ServerRequestContext[Any, Any], _params: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


def add_handshake(server: MCPServer[Any]) -> None:
    """Register the tools of this module, subscriptions and the log level."""
    for tool in (
        test_tool_with_logging,
        test_logging_tool,
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_reconnection,
    ):
        server.add_tool(tool)
    serve = server._lowlevel_server.add_request_handler  # MCPServer has no public way to these methods
    serve("logging/setLevel", SetLevelRequestParams, _accept_level)
    serve("resources/subscribe", SubscribeRequestParams, _accept_subscription)
    serve("resources/unsubscribe", UnsubscribeRequestParams, _accept_subscription)
