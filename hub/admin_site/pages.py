"""Admin pages that belong to no model: apps register them, the site mounts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.functional import Promise

View = Callable[[HttpRequest], HttpResponseBase]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A view under ``/admin/`` + ``route``, reversed as ``admin:`` + ``name``; staff only."""

    route: str
    name: str
    view: View


_pages: dict[str, Page] = {}


def admin_page(route: str, *, name: str) -> Callable[[View], View]:
    """Register the decorated view as a page of the admin."""

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
    """Render a page inside the admin's frame."""
    everything = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, everything, status=status)
