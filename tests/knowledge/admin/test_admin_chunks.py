"""The list of chunks over 100,000 rows: a fixed number of cheap queries on every page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.principals import Role
from knowledge.models import Chunk, Collection
from tests.hub.admin.support import add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
LIST = "admin:knowledge_chunk_changelist"
ROWS = 100_000


@pytest.fixture
def many_chunks(tmp_path: Path) -> None:
    """100,000 chunks of one document, made inside PostgreSQL."""
    version = add_document(tmp_path, work=False).latest_version
    assert version is not None
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO knowledge_chunk (public_id, version_id, policy_id, index, content, context_prefix, section_path,
                                         start_offset, end_offset, token_count, has_table, has_figure)
            SELECT 'chk_' || n, %s, %s, n, '第' || n || '条 応答時間は3秒以内とする。', '', ARRAY['性能要件'],
                   n, n + 20, 20, n %% 1000 = 0, false
            FROM generate_series(1, %s) AS n
            """,
            [version.pk, version.policy_id, ROWS],
        )
        cursor.execute("ANALYZE knowledge_chunk, knowledge_documentversion, knowledge_document, knowledge_collection")


def queries_of(client: Any, **asked: Any) -> tuple[str, list[str]]:
    with CaptureQueriesContext(connection) as captured:
        response = client.get(reverse(LIST), asked)
    assert response.status_code == 200
    return response.content.decode(), [query["sql"] or "" for query in captured]


def test_every_page_costs_the_same_and_nothing_is_counted_or_skipped(many_chunks: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    first, first_queries = queries_of(client)
    ids = list(Chunk.objects.order_by("-pk").values_list("pk", flat=True)[::25_000])
    deep, deep_queries = queries_of(client, older_than=ids[2])
    assert len(first_queries) == len(deep_queries) <= 17  # one of them writes to the audit trail
    for sql in (*first_queries, *deep_queries):
        assert "OFFSET" not in sql
        assert "COUNT(" not in sql or "LIMIT 1001" in sql
    assert "chk_100000" in first
    assert "chk_49999" in deep
    assert "chk_50000" not in deep


def test_the_number_of_rows_is_an_estimate(many_chunks: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    shown, _queries = queries_of(client)
    estimate = re.search(r"約 ([\d,]+) 件", shown)
    assert estimate is not None
    assert int(estimate[1].replace(",", "")) == pytest.approx(ROWS, rel=0.2)


def test_the_last_page_has_no_older_rows(many_chunks: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    oldest = Chunk.objects.order_by("pk")[10]
    shown, _queries = queries_of(client, older_than=oldest.pk)
    assert 'rel="next"' not in shown
    assert 'rel="prev"' in shown


def test_filters_start_at_the_first_page_again(many_chunks: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    shown, _queries = queries_of(client, older_than=Chunk.objects.order_by("-pk")[500].pk)
    assert "older_than" not in "".join(line for line in shown.splitlines() if "contains=table" in line)
    filtered, _queries = queries_of(client, contains="table")
    assert "chk_100000" in filtered
    assert "chk_99999" not in filtered


def test_nonsense_in_the_address_shows_the_first_page(many_chunks: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    for nonsense in ("abc", "-1", "9" * 30, ""):
        shown, _queries = queries_of(client, older_than=nonsense)
        assert "chk_100000" in shown


def test_search_finds_by_the_id_of_chunk_or_document(tmp_path: Path) -> None:
    document = add_document(tmp_path)
    client = client_of(make_user("佐藤", is_superuser=True))
    chunk = Chunk.objects.order_by("pk")[0]
    shown, _queries = queries_of(client, q=chunk.public_id)
    assert shown.count('data-label="ID"') == 1
    shown, _queries = queries_of(client, q=document.public_id)
    assert shown.count('data-label="ID"') == Chunk.objects.count()


def test_chunks_of_hidden_documents_are_not_there(tmp_path: Path) -> None:
    Collection.objects.create(slug="himitsu", name="秘密")
    document = add_document(tmp_path, collection="himitsu")
    staff = make_user("高橋")
    grant(staff, Role.READER, Collection.objects.get(slug="default"))
    client = client_of(staff)
    shown, _queries = queries_of(client, q=document.public_id)
    chunk = Chunk.objects.order_by("pk")[0]
    assert chunk.public_id not in shown
    assert client.get(reverse("admin:knowledge_chunk_change", args=[chunk.pk])).status_code == 302


def test_a_chunk_is_shown_verbatim_and_never_changed(tmp_path: Path) -> None:
    add_document(tmp_path)
    client = client_of(make_user("佐藤", is_superuser=True))
    chunk = Chunk.objects.get(content__contains="script")
    page = reverse("admin:knowledge_chunk_change", args=[chunk.pk])
    shown = client.get(page).content.decode()
    assert "&lt;script&gt;alert" in shown
    assert "<script>alert" not in shown
    assert client.post(page, {"content": "x"}).status_code == 403
    assert client.post(reverse("admin:knowledge_chunk_delete", args=[chunk.pk]), {"post": "yes"}).status_code == 403
