"""mcp-bedrock-kb over stdio with nothing behind it: no Django, no database, no queue.

``manage.py mcp bedrock-kb`` comes here before Django's command machinery is imported, so that an assistant has its
first answer about as fast as from the bare SDK.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import anyio
from dotenv import dotenv_values
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import INVALID_PARAMS, CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from knowledge.remote.bedrock_kb import DEFAULT_RESULTS, KnowledgeBaseError, MissingSetting, ask, load_config
from mcp_bridge.bedrock_kb import schemas
from mcp_bridge.bedrock_kb.schemas import failed_question, invalid_argument
from mcp_bridge.icons import icon
from mcp_bridge.schema_compaction import slim_input, slim_output
from mcp_bridge.stdio import serve

VERSION = "0.1.0"
SERVED_BY_DJANGO = frozenset({"--print-config", "--help", "-h"})


def is_asked_for(argv: Sequence[str]) -> bool:
    """Tell whether a command line starts this server; help and configurations come from the whole command."""
    return list(argv[1:3]) == ["mcp", "bedrock-kb"] and not SERVED_BY_DJANGO & set(argv)


def run() -> NoReturn:
    """Serve until the client ends; the exit code is 1, with the reason on stderr, when it can't start."""
    environ = environment()
    if "stdio" not in [name.strip() for name in environ.get("MCP_TRANSPORTS", "stdio").split(",")]:
        _refuse("stdio is switched off (MCP_TRANSPORTS). Add stdio to it, or use HTTP.")
    try:
        load_config(environ)
    except MissingSetting as error:
        _refuse(str(error))
    logging.basicConfig(stream=sys.stderr, level=environ.get("LOG_LEVEL", "WARNING").upper())
    anyio.run(serve, LightServer(environ)._lowlevel_server)  # run_stdio_async() takes no streams


def environment() -> Mapping[str, str]:
    """The environment over what .env says, as for the hub itself."""
    file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    return {**file, **os.environ}


def _refuse(reason: str) -> NoReturn:
    sys.exit(f"manage.py mcp bedrock-kb: {reason}")


class LightServer(MCPServer[Any]):
    """One tool, kb_answer."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(
            name="mcp-bedrock-kb",
            title="Amazon Bedrock Knowledge Base (ナレッジベース検索)",
            instructions=schemas.DESCRIPTION,
            version=VERSION,
            tools=[_tool(environ)],
            log_level="WARNING",
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call kb_answer; what a model can repair comes back as a tool error, another name as ``-32602``."""
        if name != schemas.NAME:
            known = {"name": name, "known": [schemas.NAME]}
            raise MCPError(
                code=INVALID_PARAMS, message=f'There is no tool "{name}". Known: {schemas.NAME}.', data=known
            )
        if unknown := sorted(arguments.keys() - {"query", "max_results", "generate"}):
            return invalid_argument(f"Unknown arguments: {', '.join(unknown)}. Known: query, max_results, generate.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__ or error
            if isinstance(cause, KnowledgeBaseError):
                return failed_question(cause)
            if isinstance(cause, ValidationError):
                return invalid_argument("; ".join(f"{item['loc'][0]}: {item['msg']}" for item in cause.errors()))
            raise

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> NoReturn:
        """Refuse: there are no prompts. Raises MCPError."""
        known: dict[str, Any] = {"prompt": name, "known": []}
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {name}. Known: none", data=known)


def _tool(environ: Mapping[str, str]) -> Tool:
    async def kb_answer(
        query: schemas.Query, max_results: schemas.MaxResults = DEFAULT_RESULTS, generate: schemas.Generate = None
    ) -> schemas.KbAnswerOut:
        def ask_now() -> schemas.KbAnswerOut:
            config = load_config(environ, generate=bool(generate))
            masks = environ.get("LLM_MASKING") != "never"
            answer = ask(config, query=query, max_results=max_results, generate=generate, masks=masks)
            return schemas.kb_answer_out(answer)

        return await anyio.to_thread.run_sync(ask_now, abandon_on_cancel=True)

    tool = Tool.from_function(
        kb_answer,
        title=schemas.TITLE,
        description=schemas.DESCRIPTION,
        icons=[icon("answer")],
        annotations=ToolAnnotations(
            title=schemas.TITLE, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True
        ),
    )
    tool.parameters = {**slim_input(tool.parameters), "additionalProperties": False}
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = slim_output(tool.fn_metadata.output_schema)
    return tool
