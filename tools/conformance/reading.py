"""Fixture resources, prompts and completions, and the tools that change the lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp.types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from tools.conformance.content import embedded, image, red_pixel, text


def static_text() -> str:
    """Give a text."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """Give an image."""
    return red_pixel()


def watched_resource() -> str:
    """Give a text that clients subscribe to."""
    return "Watched resource content."


def template_data(id: str) -> str:
    """Give what stands under an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def test_simple_prompt() -> Sequence[UserMessage]:
    """Write a prompt without arguments."""
    return [UserMessage("This is a simple prompt for testing.")]


def test_prompt_with_arguments(
    arg1: Annotated[str, Field(description="First test argument")],
    arg2: Annotated[str, Field(description="Second test argument")],
) -> Sequence[UserMessage]:
    """Write a prompt with two arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


def test_prompt_with_embedded_resource(
    resourceUri: Annotated[str, Field(description="URI of the resource to embed")],
) -> Sequence[UserMessage]:
    """Write a prompt with a resource in it."""
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> Sequence[UserMessage]:
    """Write a prompt with an image in it."""
    return [UserMessage(image()), UserMessage("Please analyze the image above.")]


async def test_trigger_tool_change(ctx: Context[Any, Any]) -> CallToolResult:
    """Tell everyone who listens that the tools changed."""
    await ctx.notify_tools_changed()
    return text("Tools changed.")


async def test_trigger_prompt_change(ctx: Context[Any, Any]) -> CallToolResult:
    """Tell everyone who listens that the prompts changed."""
    await ctx.notify_prompts_changed()
    return text("Prompts changed.")


async def _complete(
    _ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    _context: CompletionContext | None,
) -> Completion:
    values = [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


def add_reading(server: MCPServer[Any]) -> None:
    """Register the resources, prompts, completions and tools of this module."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://watched-resource", mime_type="text/plain")(watched_resource)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
    ):
        server.prompt()(prompt)
    for tool in (test_trigger_tool_change, test_trigger_prompt_change):
        server.add_tool(tool)
    server.completion()(_complete)  # type: ignore[no-untyped-call]
