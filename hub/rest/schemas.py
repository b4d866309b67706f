"""Schemas that every area shares: problems and pages."""

from __future__ import annotations

from typing import Generic, TypeVar

from ninja import Field, Schema

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


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
