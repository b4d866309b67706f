"""Schemas that every area shares: problems, pages, and the bounds of what callers give."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from ninja import Field, Schema

from hub.core.bounds import INTEGER, LONG_TEXT, MOST_NAMED, SHORT_TEXT

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

# A service that asks for less says so itself: its words are better than the schema's.
ShortText = Annotated[str, Field(max_length=SHORT_TEXT)]
"""A name, a code, an id."""
LongText = Annotated[str, Field(max_length=LONG_TEXT)]
"""A reason, a comment, a description."""
ShortTexts = Annotated[list[ShortText], Field(max_length=MOST_NAMED)]
"""Names, codes or ids."""
Integer = Annotated[int, Field(ge=-INTEGER, le=INTEGER)]
"""A number that a column can hold."""
VersionNumber = Annotated[int, Field(ge=1, le=INTEGER)]
"""The number of a version or an edition."""


class FieldProblem(Schema):
    """One value that can't be used."""

    field: str = Field(description="the field's name; parts of nested ones are joined by dots, list indexes included")
    location: str = Field("", description="query, path, header, body, form or file")
    message: str


class Problem(Schema):
    """Problem details (RFC 9457). Rely on `code`; the texts come in the caller's language."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="stable, such as not_found")
    instance: str = Field(description="the path that was called")
    request_id: str = Field(description="the X-Request-ID of this call; name it when you report a problem")
    retryable: bool = Field(description="whether the same call may succeed later; see Retry-After")
    errors: list[FieldProblem] = Field(default=[], description="the values that can't be used")


class PageQuery(Schema):
    """The query parameters of every list."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, description="the most items in one answer")
    cursor: str | None = Field(None, max_length=2000, description="next_cursor of the answer before")


class Page(Schema, Generic[T]):
    """One page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None = None
