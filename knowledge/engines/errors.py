"""What can go wrong between the hub and a search engine."""

from __future__ import annotations


class EngineError(Exception):
    """The engine is away, too late, refuses the request, or answers what can't be read. The text says which, and what.

    ``is_missing`` when it has no collection of that name.
    """

    def __init__(self, what: str, *, is_missing: bool = False) -> None:
        super().__init__(what)
        self.is_missing = is_missing
