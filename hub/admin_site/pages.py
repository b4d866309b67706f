"""What admin pages are made with: who asks, errors as messages, pages that belong to no model, badges and bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString

from hub.access.principals import Principal
from hub.access.services import principal_for_user
from hub.core.errors import HubError

Fact = TypeVar("Fact")
_REMEMBERED = "_hub_admin_facts"
FETCHED = "fetch"  # what scripts say that they do, in X-Requested-With


def principal_of(request: HttpRequest) -> Principal:
    """Give the signed-in person as a principal; looked up once per request. Raises Unauthenticated."""
    return remembered(request, "principal", lambda: principal_for_user(cast(User, request.user)))


def remembered(request: HttpRequest, name: str, find: Callable[[], Fact]) -> Fact:
    """Give a fact that holds for the whole request, asking ``find`` only the first time."""
    facts: dict[str, Any] = request.__dict__.setdefault(_REMEMBERED, {})
    if name not in facts:
        facts[name] = find()
    return cast(Fact, facts[name])


def is_signed_in(request: HttpRequest) -> bool:
    """Return whether an active person is signed in, staff or not."""
    return bool(request.user.is_authenticated and request.user.is_active)


def is_staff(request: HttpRequest) -> bool:
    """Return whether a person is signed in who may enter the admin at all (the login page asks, too)."""
    user = request.user
    return bool(user.is_active and getattr(user, "is_staff", False))


def is_fetched(request: HttpRequest) -> bool:
    """Return whether a script of a page asks for a part of it, and not a browser for a page."""
    return request.headers.get("X-Requested-With") == FETCHED


def way_back(request: HttpRequest, *, otherwise: str) -> str:
    """Return where a person goes on who is asked for something first: the page that they asked for, or the one that
    their form was on; ``otherwise`` where the browser does not say which that was.
    """
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    came_from = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(came_from, {request.get_host()}, require_https=request.is_secure()):
        parts = urlsplit(came_from)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path
    return otherwise


@contextmanager
def errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show an expected failure inside the block as an error message instead of raising it."""
    try:
        yield
    except HubError as error:
        messages.error(request, str(error))


AnyView = TypeVar("AnyView", bound=Callable[..., Any])
View = Callable[..., HttpResponseBase]
"""Takes the request, and by name what the route names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A view under ``/admin/`` + ``route``, reversed as ``admin:`` + ``name``; staff only but for `for_everybody`."""

    route: str
    name: str
    view: View


_pages: dict[str, Page] = {}


def for_everybody(view: AnyView) -> AnyView:
    """Open a view of the admin site to everybody who is signed in, without rights as staff: one's own account."""
    view.for_everybody = True  # type: ignore[attr-defined]
    return view


def is_for_everybody(view: object) -> bool:
    """Whether a view was opened to everybody who is signed in."""
    return bool(getattr(view, "for_everybody", False))


def admin_page(route: str, *, name: str) -> Callable[[View], View]:

    def register(view: View) -> View:
        _pages[name] = Page(route=route, name=name, view=view)
        return view

    return register


def registered_pages() -> tuple[Page, ...]:
    """List the pages in the order of their registration."""
    return tuple(_pages.values())


def render_page(
    request: HttpRequest, template: str, *, title: str | Promise, status: int = 200, **context: object
) -> TemplateResponse:
    everything = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, everything, status=status)


COLOURS = {
    "good": "ready pass completed approved published active ok fixed",
    "bad": "failed fail error critical revoked late",
    "warn": "needs_ocr warning major expired accepted",
    "info": "draft minor queued running stored parsing chunking embedding waived",
}
KINDS = {code: kind for kind, codes in COLOURS.items() for code in codes.split()}


def badge(code: str, text: str | Promise) -> SafeString:
    """Render ``text`` in the colour of what ``code`` means; unknown codes are grey."""
    return format_html('<span class="hub-badge hub-badge-{}">{}</span>', KINDS.get(code, "plain"), text)


def progress_bar(percent: int) -> SafeString:
    """Render 0 to 100 as a bar that a script may move."""
    return format_html('<progress class="hub-progress" max="100" value="{}">{} %</progress>', percent, percent)


def two_lines(first: object, second: object) -> SafeString:
    """Render a value with a smaller one below it."""
    return format_html('<span class="hub-first">{}</span><span class="hub-second">{}</span>', first, second)
