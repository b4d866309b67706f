from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from hub.admin_site.keyset import count_rows, keyset_page

pytestmark = pytest.mark.django_db


def make_groups(number: int) -> list[int]:
    """Groups with ascending ids; the ids, newest first."""
    return [Group.objects.create(name=f"部門{index}").pk for index in range(number)][::-1]


def test_pages_forward_meet_every_row_once() -> None:
    ids = make_groups(7)
    seen: list[int] = []
    older_than = None
    while True:
        page = keyset_page(Group.objects.all(), size=3, older_than=older_than)
        seen += [row.pk for row in page.rows]
        older_than = page.older_than
        if older_than is None:
            break
    assert seen == ids


def test_the_way_back_shows_the_same_pages() -> None:
    ids = make_groups(7)
    last = keyset_page(Group.objects.all(), size=3, older_than=ids[2])
    back = keyset_page(Group.objects.all(), size=3, newer_than=last.newer_than)
    assert [row.pk for row in back.rows] == ids[:3]
    assert back.newer_than is None
    assert back.older_than == ids[2]


def test_an_empty_table_has_one_page() -> None:
    page = keyset_page(Group.objects.none(), size=3)
    assert (list(page.rows), page.older_than, page.newer_than) == ([], None, None)


def test_a_short_list_is_counted_exactly() -> None:
    make_groups(7)
    found = count_rows(Group.objects.all())
    assert (found.value, found.is_exact) == (7, True)


def test_a_long_list_is_estimated_and_never_below_what_was_counted() -> None:
    make_groups(7)
    found = count_rows(Group.objects.all(), exact_up_to=5)
    assert not found.is_exact
    assert found.value >= 6
