"""What Ctrl-K finds: pages of the menu, and what the apps offer, each as far as the person may see it now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import Promise

from hub.core.texts import UNSTORABLE

MOST_CHARACTERS = 100
MOST_OF_A_KIND = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A way to somewhere: what it is called, what kind of thing it leads to, an icon's name."""

    title: str
    description: str
    link: str
    icon: str


Finder = Callable[[HttpRequest, str], Iterable[Command]]
"""Finds what the person may see, for words that they typed; at most MOST_OF_A_KIND of it are shown."""
_finders: list[Finder] = []


def command_finder(find: Finder) -> Finder:
    """Let an app offer what it has, in the order of registration."""
    _finders.append(find)
    return find


def find_commands(request: HttpRequest, typed: str) -> list[Command]:
    """Find pages, then what apps offer; nothing is kept, so that a right that was taken away counts at once."""
    words = typed.strip()[:MOST_CHARACTERS]
    if not words or UNSTORABLE.search(words):
        return []
    return [one for find in (_pages, *_finders) for one in islice(find(request, words), MOST_OF_A_KIND)]


def has_words(text: str, words: str) -> bool:
    """Whether a text has all of the words, whatever their case."""
    folded = text.casefold()
    return all(word in folded for word in words.casefold().split())


def doors_of(navigation: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The doors of the menu that hold something for the person: where each leads, whether one is in it, its pages."""
    for group in navigation:
        pages = [one for one in group["items"] if one["has_permission"]]
        if pages:
            is_here = any(one["active"] for one in pages)
            yield {**group, "pages": pages, "link": pages[0]["link"], "is_here": is_here}


def way_in_menu(navigation: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of the menu under which the page is found, the door first; the door alone where its page is called
    the same, nothing for a page that is not in the menu. Each has ``title`` and ``link``.
    """
    door = next((one for one in doors_of(navigation) if one["is_here"]), None)
    if door is None:
        return []
    page = next(one for one in door["pages"] if one["active"])
    return [page] if str(door["title"]) == str(page["title"]) else [door, page]


def _pages(request: HttpRequest, words: str) -> Iterator[Command]:
    site: Any = admin.site  # Unfold has no types
    for door in doors_of(site.get_sidebar_list(request)):
        for page in door["pages"]:
            title: str | Promise = page["title"]
            if has_words(f"{title} {door['title']}", words):
                yield Command(title=str(title), description=str(door["title"]), link=page["link"], icon=page["icon"])
