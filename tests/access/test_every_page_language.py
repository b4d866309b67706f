"""No page in Japanese says in English what the hub says in both: in its text, or to readers of the screen."""

from __future__ import annotations

from collections.abc import Iterator

import polib
import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from tests.access.people import PeopledHub
from tests.access.test_every_page_browser import LEAST, hub, pages  # noqa: F401 (a fixture)
from tests.hub.admin.support import client_of, make_user
from tools.messages import CATALOGUE

NOT_OURS = "script|style|template|textarea|pre|code|kbd|samp|svg"
"""What people wrote, and what programs read."""
SAID_IN_ENGLISH = "(@lang='en' and not(self::html))"
ENGLISH_COLUMN = "contains(@class, 'field-') and contains(@class, '_en')"
"""Lists of what is curated in both languages have a column of each."""
SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-label")


def texts_of(page: bytes) -> Iterator[str]:
    """What the page says to somebody who looks at it, and to somebody who has it read out."""
    tree = html.fromstring(page)
    own = " and ".join(f"not(ancestor-or-self::{name})" for name in NOT_OURS.split("|"))
    yield from tree.xpath(f"//text()[not(ancestor-or-self::*[{SAID_IN_ENGLISH} or {ENGLISH_COLUMN}]) and {own}]")
    for name in SPOKEN:
        yield from tree.xpath(f"//@{name}[not(ancestor::*[{SAID_IN_ENGLISH}])]")


def said_otherwise_in_japanese() -> set[str]:
    """The hub's own texts of two words and more in English, as far as Japanese has others."""
    catalogue = polib.pofile(str(CATALOGUE))
    return {one.msgid for one in catalogue if " " in one.msgid and one.msgstr not in ("", one.msgid)}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(600)
def test_japanese_pages_say_nothing_in_english_that_has_japanese(hub: PeopledHub) -> None:  # noqa: F811
    client = Client(headers={"Accept-Language": "ja", "Accept-Encoding": "identity"})
    client.force_login(hub.users["superuser"])
    paths, english = pages(hub), said_otherwise_in_japanese()
    said = {(path, text.strip()) for path in paths for text in texts_of(client.get(path).content)}
    assert len(paths) >= LEAST
    assert {one for one in said if one[1] in english} == set()


@pytest.mark.django_db
def test_the_front_page_says_nothing_in_english_in_japanese_and_much_in_english(queue: None) -> None:
    user, english = make_user("佐藤", is_superuser=True), said_otherwise_in_japanese()
    pages = [client_of(user, language=code).get(reverse("admin:index")).content for code in ("ja", "en")]
    in_japanese, in_english = ({text.strip() for text in texts_of(page)} & english for page in pages)
    assert in_japanese == set()
    assert len(in_english) > 3
