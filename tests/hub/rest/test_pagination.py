from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hub.access.models import AuditEvent
from hub.core.errors import InvalidInput
from hub.rest.pagination import cursor_scope, decode_cursor, encode_cursor, paginate_keyset
from tests.hub.rest.conftest import Caller
from tests.hub.rest.test_problems import assert_problem

NOW = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)


def add_things(count: int, *, minutes_apart: int = 1) -> list[AuditEvent]:
    return [
        AuditEvent.objects.create(
            action="THING", principal="佐藤", resource=f"文書{n}", at=NOW + timedelta(minutes=n * minutes_apart)
        )
        for n in range(count)
    ]


def walk(limit: int, order: str) -> list[int]:
    ids, cursor = [], None
    while True:
        page = paginate_keyset(AuditEvent.objects.all(), limit=limit, cursor=cursor, scope="s", order=order)
        ids += [row.pk for row in page.items]
        if page.next_cursor is None:
            return ids
        cursor = page.next_cursor


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_the_pages_of_a_list_are_the_list(db, limit: int):
    rows = add_things(7)

    assert walk(limit, "-id") == [row.pk for row in reversed(rows)]
    assert walk(limit, "id") == [row.pk for row in rows]


@pytest.mark.parametrize("order", ["at", "-at", "resource", "-principal"])
def test_equal_values_neither_repeat_nor_hide_rows(db, order: str):
    rows = add_things(5, minutes_apart=0)

    assert sorted(walk(2, order)) == [row.pk for row in rows]


def test_rows_are_ordered_by_the_field_before_the_key(db):
    rows = add_things(3, minutes_apart=-1)

    assert walk(1, "at") == [row.pk for row in reversed(rows)]


def test_a_row_that_arrives_between_two_pages_moves_nothing(database_superuser):
    rows = add_things(4)
    first = paginate_keyset(AuditEvent.objects.all(), limit=2, cursor=None, scope="s")
    add_things(3)
    rows[3].delete()

    second = paginate_keyset(AuditEvent.objects.all(), limit=2, cursor=first.next_cursor, scope="s")

    assert [row.pk for row in second.items] == [rows[1].pk, rows[0].pk]
    assert second.next_cursor is None


def test_a_page_takes_one_query_and_no_offset(db, django_assert_num_queries):
    add_things(3)
    cursor = paginate_keyset(AuditEvent.objects.all(), limit=1, cursor=None, scope="s").next_cursor

    with django_assert_num_queries(1) as queries:
        page = paginate_keyset(AuditEvent.objects.all(), limit=1, cursor=cursor, scope="s")

    assert len(page.items) == 1
    assert "OFFSET" not in queries.captured_queries[0]["sql"]


def test_an_empty_list_has_no_cursor(db):
    page = paginate_keyset(AuditEvent.objects.all(), limit=5, cursor=None, scope="s")

    assert (page.items, page.next_cursor) == ([], None)


def test_map_converts_the_items_and_keeps_the_cursor(db):
    add_things(2)
    page = paginate_keyset(AuditEvent.objects.all(), limit=1, cursor=None, scope="s")

    converted = page.map(lambda row: row.resource)

    assert converted.items == ["文書1"]
    assert converted.next_cursor == page.next_cursor


def test_a_cursor_brings_its_payload_back():
    cursor = encode_cursor({"offset": 20, "検索": "可用性"}, scope="search:1")

    assert decode_cursor(cursor, scope="search:1") == {"offset": 20, "検索": "可用性"}


@pytest.mark.parametrize("spoil", [lambda text: text[:-1], lambda text: "x" + text, lambda text: "", lambda text: "あ"])
def test_a_changed_cursor_is_refused(spoil):
    cursor = encode_cursor({"offset": 20}, scope="s")

    with pytest.raises(InvalidInput) as refusal:
        decode_cursor(spoil(cursor), scope="s")

    assert refusal.value.error_code == "invalid_cursor"


def test_scopes_differ_by_name_and_by_every_filter_value():
    scopes = {
        cursor_scope("documents", status="ready"),
        cursor_scope("documents", status="failed"),
        cursor_scope("documents", title="ready"),
        cursor_scope("reviews", status="ready"),
    }

    assert len(scopes) == 4
    assert cursor_scope("documents", a=1, b=2) == cursor_scope("documents", b=2, a=1)


def test_a_list_call_walks_by_next_cursor(caller: Caller):
    add_things(3)
    first = caller.get("/things?limit=2").json()

    second = caller.get(f"/things?limit=2&cursor={first['next_cursor']}").json()

    assert [item["resource"] for item in first["items"] + second["items"]] == ["文書2", "文書1", "文書0"]
    assert second["next_cursor"] is None


def test_the_cursor_of_another_query_is_refused(caller: Caller):
    add_things(3)
    cursor = caller.get("/things?limit=2").json()["next_cursor"]

    assert_problem(caller.get(f"/things?action=FILE&cursor={cursor}"), 422, "cursor_mismatch")
    assert_problem(caller.get("/things?cursor=abc"), 422, "invalid_cursor")
