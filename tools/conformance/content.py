"""Fixture tools that give content: text, image, audio, resources, progress, an error, and special schemas."""

from __future__ import annotations

import asyncio
import struct
import zlib
from base64 import b64encode
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import AudioContent, CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents
from pydantic import AnyUrl, Field

STEP_S = 0.05
# The suite compares this schema word for word (SEP-1613, SEP-2106).
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def red_pixel() -> bytes:
    """Draw the smallest PNG: one red pixel."""

    def part(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + part(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")) + part(b"IEND", b"")


def silence() -> bytes:
    """Make the smallest WAV: one silent sample, 8 kHz, 8 bits."""
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + struct.pack("<I", 1) + b"\x80"
    return b"RIFF" + struct.pack("<I", len(body)) + body


def text(value: str) -> CallToolResult:
    """Make a tool result of one text."""
    return CallToolResult(content=[TextContent(type="text", text=value)])


def image() -> ImageContent:
    """Give the red pixel as content."""
    return ImageContent(type="image", data=b64encode(red_pixel()).decode(), mime_type="image/png")


def embedded(uri: str, mime_type: str, value: str) -> EmbeddedResource:
    """Give a text resource as content."""
    resource = TextResourceContents(uri=str(AnyUrl(uri)), mime_type=mime_type, text=value)
    return EmbeddedResource(type="resource", resource=resource)


async def test_simple_text() -> CallToolResult:
    """Give a text."""
    return text("This is a simple text response for testing.")


async def test_image_content() -> CallToolResult:
    """Give an image."""
    return CallToolResult(content=[image()])


async def test_audio_content() -> CallToolResult:
    """Give a sound."""
    sound = AudioContent(type="audio", data=b64encode(silence()).decode(), mime_type="audio/wav")
    return CallToolResult(content=[sound])


async def test_embedded_resource() -> CallToolResult:
    """Give an embedded resource."""
    resource = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    return CallToolResult(content=[resource])


async def test_multiple_content_types() -> CallToolResult:
    """Give a text, an image and a resource."""
    resource = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    head = TextContent(type="text", text="Multiple content types test:")
    return CallToolResult(content=[head, image(), resource])


async def test_error_handling() -> CallToolResult:
    """Fail, always."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context[Any, Any]) -> CallToolResult:
    """Report progress three times."""
    for value in (0, 50, 100):
        await ctx.report_progress(value, 100)
        await asyncio.sleep(STEP_S)
    return text("Progress reported.")


async def test_custom_headers(
    region: Annotated[str, Field(description="also sent as a header", json_schema_extra={"x-mcp-header": "Region"})],
) -> CallToolResult:
    """Echo an argument that clients mirror in the header Mcp-Param-Region."""
    return text(region)


async def json_schema_2020_12_tool(name: str = "") -> CallToolResult:
    """Show an input schema with the newer keywords of JSON Schema."""
    return text(f"Hello {name}")


def schema_tool() -> Tool:
    """Make the tool whose input schema stands above, which no signature can express."""
    tool = Tool.from_function(json_schema_2020_12_tool)
    tool.parameters = SCHEMA_2020_12
    return tool


def add_content(server: MCPServer[Any]) -> None:
    """Register the tools of this module."""
    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
        test_tool_with_progress,
        test_custom_headers,
    ):
        server.add_tool(tool)
