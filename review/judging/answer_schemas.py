"""Pieces of the JSON schemas of what a model is to answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def some_text(most: int) -> dict[str, Any]:
    """A text of at most so many characters, and not empty."""
    return {"type": "string", "minLength": 1, "maxLength": most}


def several(items: Mapping[str, Any], *, most: int) -> dict[str, Any]:
    """A list of at most so many items."""
    return {"type": "array", "items": items, "maxItems": most}


def closed(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schemas
    """An object with these properties, all of them required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
