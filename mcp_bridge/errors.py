"""The hub's errors in MCP's words, and the arguments of tools and prompts before anything is done with them.

What a model can repair is a tool error, all else a protocol error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import redis
from django.conf import settings
from django.db import DataError
from django.db import Error as DatabaseError
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from mcp import MCPError
from mcp.server.mcpserver.tools import Tool
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hub.core.bounds import check_strings
from hub.core.context import request_id
from hub.core.database import in_one_line, unavailable_by
from hub.core.errors import HubError, InvalidInput, Unavailable
from mcp_bridge.caller import ERROR_LANGUAGE
from mcp_bridge.counting import count_error, count_failure
from mcp_bridge.hints import lead_on, problem_in_words
from mcp_bridge.pages import cut_text

logger = logging.getLogger(__name__)

META_KEY = "hub/error"


def to_hub_error(error: BaseException) -> HubError | None:
    """Say what an exception means to a caller; None for one that nobody expected."""
    match error:
        case HubError():
            return error
        case DataError() if "NUL (0x00)" in str(error):  # in a URI or a prompt: a tool's arguments are looked at before
            return InvalidInput(
                _('"{field}" contains a NUL character or half of a surrogate pair, which no text may have.'),
                field="params",
            )
        case DatabaseError() if (meaning := unavailable_by(error)) is not None:
            logger.error("the database failed an MCP call: %s", in_one_line(error))
            return meaning
        case redis.ConnectionError() | redis.TimeoutError():
            logger.error("the queue failed an MCP call: %s", error)
            return Unavailable(_("The queue does not answer now. Try again in a few seconds."))
    return None


def tool_error(
    error: HubError,
    *,
    language: str | None,
    arguments: Mapping[str, Any] | None = None,
    may_call: Callable[[str], bool] = lambda _tool: False,
) -> CallToolResult:
    """Make the result of a tool call that failed for a reason a model can read and act on.

    After its words comes what leads on: see mcp_bridge.hints, for the call's ``arguments`` and the tools that the
    caller ``may_call``. The stable code stands in ``_meta`` too: structured content would have to follow the tool's
    output schema.
    """
    count_error(error.error_code)
    facts = {"code": error.error_code, "retryable": error.retryable, "request_id": request_id()}
    words = cut_text(in_words(error, language), settings.CONFIG.hub_mcp_output_chars)
    with translation.override(language or ERROR_LANGUAGE):
        hint = lead_on(error, arguments or {}, may_call)
    text = f"{words} [{error.error_code}] {hint}".rstrip()
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta={META_KEY: facts})


def protocol_error(error: HubError, *, language: str | None, **data: str) -> MCPError:
    """Make the answer to a request other than a tool call: ``-32602``, or ``-32603`` for what may pass by itself."""
    facts: dict[str, Any] = {**data, "code": error.error_code}
    if not error.retryable:
        count_error(error.error_code)
        return MCPError(code=INVALID_PARAMS, message=in_words(error, language), data=facts)
    count_failure(error.error_code)
    facts |= {"retryable": True, "fallbackStrategy": "retry_later", "request_id": request_id()}
    return MCPError(code=INTERNAL_ERROR, message=in_words(error, language), data=facts)


def internal_error(error: BaseException, *, language: str | None) -> MCPError:
    """Log a bug with its traceback and make the answer, which names only the request id."""
    count_failure("internal_error")
    number = request_id()
    logger.error("unexpected %s in an MCP call", type(error).__name__, exc_info=error)
    shown = HubError(
        _("Something went wrong inside the hub. Report it together with the request id {request_id}."),
        request_id=number,
    )
    data = {"retryable": False, "fallbackStrategy": "report_to_operator", "request_id": number}
    return MCPError(code=INTERNAL_ERROR, message=in_words(shown, language), data=data)


def unknown(kind: str, name: object, known: list[str]) -> MCPError:
    """Make the answer to a tool, prompt or resource that is not there, naming those that are."""
    listed = ", ".join(known) or "none"
    asked = cut_text(str(name), 300)
    return MCPError(
        code=INVALID_PARAMS, message=f"Unknown {kind}: {asked}. Known: {listed}", data={kind: asked, "known": known}
    )


class _Problems:
    """Pydantic's complaints in one line, in the language that is active when they are shown."""

    def __init__(self, error: ValidationError, schema: Mapping[str, Any], listed: Mapping[str, str]) -> None:
        self._items = [_as_listed(item, listed) for item in error.errors()]
        self._schema = schema

    def __str__(self) -> str:
        return "; ".join(problem_in_words(item, self._schema) for item in self._items)


def _as_listed(item: ErrorDetails, listed: Mapping[str, str]) -> ErrorDetails:
    first = item["loc"][0] if item["loc"] else ""
    return {**item, "loc": (listed[first], *item["loc"][1:])} if isinstance(first, str) and first in listed else item


def invalid_arguments(
    error: ValidationError, schema: Mapping[str, Any], listed: Mapping[str, str] | None = None
) -> InvalidInput:
    """Put pydantic's complaints about a tool's arguments into words: field, what was expected, what was given.

    ``listed`` has the names of arguments that are listed under others, by their own.
    """
    return InvalidInput(
        _("These arguments can't be used. {problems}"),
        code="invalid_arguments",
        problems=_Problems(error, schema, listed or {}),
    )


def in_words(error: HubError, language: str | None) -> str:
    """Write an error in the language that the caller asked for, or in English, which models read best."""
    with translation.override(language or ERROR_LANGUAGE):
        return str(error)


def check_arguments(tool: Tool, arguments: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Give what a tool is to be called with. Raises InvalidInput, in words that a model can act on.

    An argument that may be left out and is null counts as left out: models write null for what they don't mean to say.
    ``names``: the function's own names of arguments that are listed under others; either may be given, not both.
    """
    known, required = set(tool.parameters.get("properties", {})), set(tool.parameters.get("required", ()))
    listed = {own: name for name, own in names.items() if own not in known}
    check_names({listed.get(name, name) for name in arguments}, known=known, required=set())
    check_strings(arguments, "")
    if twice := sorted(listed[own] for own in listed.keys() & arguments.keys() if listed[own] in arguments):
        raise InvalidInput(
            _("{field} is given twice: leave out its other name, {other}."),
            code="invalid_arguments",
            field=twice[0],
            other=names[twice[0]],
        )
    given = {
        names.get(name, name): value
        for name, value in arguments.items()
        if value is not None or listed.get(name, name) in required
    }
    try:
        tool.fn_metadata.validate_arguments(given)
    except ValidationError as error:
        raise invalid_arguments(error, tool.parameters, listed) from error
    return given


def check_names(given: set[str], *, known: set[str], required: set[str]) -> None:
    """Raise InvalidInput that names what is unknown or missing, and the known names."""
    problems = [f"unknown: {', '.join(sorted(given - known))}"] if given - known else []
    problems += [f"missing: {', '.join(sorted(required - given))}"] if required - given else []
    if problems:
        raise InvalidInput(
            _("These arguments can't be used ({problems}). Known arguments: {known}."),
            code="invalid_arguments",
            problems="; ".join(problems),
            known=", ".join(sorted(known)) or "none",
        )
