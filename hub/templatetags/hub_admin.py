"""Badges and bars for the admin's own pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.contrib import admin
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from hub.access.names import full_name, name_of, name_with_login
from hub.admin_site import pages
from hub.admin_site.commands import doors_of, way_in_menu
from hub.core.durations import in_words
from hub.core.languages import shown, shown_stored

register = template.Library()


@register.simple_tag
def badge(code: str, text: str) -> SafeString:
    """Render ``text`` in the colour of what ``code`` means."""
    return pages.badge(code, text)


@register.simple_tag
def coded_badge(code: str, texts: Mapping[str, str]) -> SafeString:
    """Render the text that belongs to ``code``."""
    return pages.badge(code, texts.get(code, code))


@register.filter
def named_in(code: object, texts: Mapping[object, str]) -> object:
    """Return the text that belongs to ``code``, itself where none does."""
    return texts.get(code, code)


@register.filter(name="in_language")
def text_in_language(text: Any) -> str:  # noqa: ANN401 (a `Text`, or what one is stored as)
    """Return what has ``ja`` and ``en`` in the reader's language, as ``shown`` or ``shown_stored`` does."""
    return shown_stored(text) if isinstance(text, Mapping) else shown(text)


@register.simple_tag
def progress_bar(percent: int) -> SafeString:
    """Render 0 to 100 as a bar."""
    return pages.progress_bar(percent)


register.filter("duration", in_words)
register.filter(full_name)
register.filter(name_of)
register.filter(name_with_login)


@register.filter
def with_landmark(page: SafeString) -> SafeString:
    """Make Unfold's frame around the content of a page the landmark that it lacks, for readers of the screen."""
    return mark_safe(page.replace('<div id="main" ', '<div id="main" role="main" tabindex="-1" ', 1))  # noqa: S308


@register.filter
def with_delete_as_phrase(row: SafeString, kind: object) -> SafeString:
    """Write on Unfold's button "Delete" and the kind of thing in the order of the language: コレクションを削除."""
    before = f"{gettext('Delete')} {escape(kind)}"
    return mark_safe(row.replace(before, gettext("Delete %(name)s") % {"name": escape(kind)}))  # noqa: S308


@register.simple_tag
def menu_doors(navigation: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The doors of the menu that hold something for the person, with the pages behind each."""
    return list(doors_of(navigation or ()))


@register.simple_tag(takes_context=True)
def way_here(context: Mapping[str, Any], parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The way to a page, by the entries of the menu under which it is found: in place of the app and the model that
    Unfold's ``parts`` begin with. Of pages that are not in the menu, or for people without one, those parts.
    """
    request, site = context["request"], admin.site
    way = way_in_menu(site.get_sidebar_list(request)) if site.has_permission(request) else []  # type: ignore[attr-defined]
    if not way:
        return list(parts)
    own = parts[2:] if "link" in parts[-1] else parts[-1:]  # the row, or the title of a page of no model
    titles = {str(one["title"]) for one in way}
    return [*way, *(one for one in own if str(one["title"]) not in titles)]


@register.simple_tag
def guide_part(navigation: Sequence[dict[str, Any]]) -> str:
    """The part of the guide about the door that the page is behind; that of the overview for other pages."""
    return next((str(door["guide"]) for door in doors_of(navigation or ()) if door["is_here"]), "overview")
