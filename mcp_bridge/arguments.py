"""The arguments of tools and prompts, before anything is done with them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from mcp.server.mcpserver.tools import Tool
from pydantic import ValidationError

from hub.core.bounds import check_strings
from hub.core.errors import InvalidInput
from mcp_bridge.errors import invalid_arguments


def check_arguments(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Give what a tool is to be called with. Raises InvalidInput, in words that a model can act on.

    An argument that may be left out and is null counts as left out: models write null for what they don't mean to say.
    """
    known, required = set(tool.parameters.get("properties", {})), set(tool.parameters.get("required", ()))
    check_names(set(arguments), known=known, required=set())
    check_strings(arguments, "")
    given = {name: value for name, value in arguments.items() if value is not None or name in required}
    try:
        tool.fn_metadata.validate_arguments(given)
    except ValidationError as error:
        raise invalid_arguments(error) from error
    return given


def check_names(given: set[str], *, known: set[str], required: set[str]) -> None:
    """Raise InvalidInput that names what is unknown or missing, and what there is."""
    problems = [f"unknown: {', '.join(sorted(given - known))}"] if given - known else []
    problems += [f"missing: {', '.join(sorted(required - given))}"] if required - given else []
    if problems:
        raise InvalidInput(
            _("These arguments can't be used ({problems}). Known arguments: {known}."),
            code="invalid_arguments",
            problems="; ".join(problems),
            known=", ".join(sorted(known)) or "none",
        )
