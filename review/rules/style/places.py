"""Where a style rule points: inside a unit (Mark), and in the given text (Place)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hub.core.texts import Text


@dataclass(frozen=True, slots=True)
class Mark:
    """``[start, end)`` of a unit's visible text, never empty.

    ``replacement`` is given where the correction is mechanical. ``message`` stands in for the rule's, and ``values``
    fill its other names.
    """

    start: int
    end: int
    replacement: str | None = None
    message: Text | None = None
    values: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``[start, end)`` of the given text."""

    rule_id: str
    start: int
    end: int
    message: Text
    replacement: str | None = None
