"""What workers and other processes did, as the web's /metrics tells it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from django.db import connection

from hub.access.principals import local_operator
from hub.core import measures
from hub.core.errors import Unavailable
from hub.core.measures import SEARCH_SECONDS, Point, count
from hub.core.valkey import client_of
from knowledge.models import DocumentVersion
from knowledge.search.hybrid import search
from knowledge.types.search import SearchQuery
from tests.factories import upload_text, work_through

pytestmark = pytest.mark.django_db
STAGE = "hub_ingestion_stage_seconds"
SEARCH = "hub_search_seconds"


def test_stages_of_ingestion_and_steps_of_a_search_are_timed(shown, tmp_path):
    document = upload_text(local_operator(), tmp_path, "# 性能\n\n応答時間は3秒以内とする。", name="性能.md").document
    assert shown("hub_index_lag_seconds") > 0
    work_through(document)
    search(local_operator(), SearchQuery(text="応答時間"))
    for stage in ("parsing", "chunking", "embedding"):
        assert shown(f"{STAGE}_count", stage=stage, outcome="ok") == 1
        assert shown(f"{STAGE}_sum", stage=stage, outcome="ok") > 0
    for step in ("total", "embed", "vector", "lexical"):
        assert shown(f"{SEARCH}_count", step=step) == 1
    assert shown("hub_index_lag_seconds") == 0


def test_searches_that_go_on_without_a_part_are_counted_by_it_and_those_that_fail_as_well(shown, tmp_path):
    work_through(upload_text(local_operator(), tmp_path, "# 性能\n\n応答時間は3秒以内とする。").document)
    for table, part in (("ontologyclass", "synonyms"), ("lexicalposting", "lexical"), ("chunkvector", "all")):
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE knowledge_{table} RENAME TO gone_{table}")
        with suppress(Unavailable):
            search(local_operator(), SearchQuery(text="応答時間"))
        assert shown("hub_search_failures_total", part=part) == 1
    assert shown("hub_search_failures_total", part="synonyms") == 2
    assert shown("hub_search_failures_total", part="vector") is None


def test_buckets_hold_what_took_their_bound_or_less(shown):
    count(*(Point(family=SEARCH_SECONDS, labels=("vector",), value=value) for value in (0.004, 0.05, 0.051, 99.0)))
    held = {bound: shown(f"{SEARCH}_bucket", step="vector", le=bound) for bound in ("0.005", "0.05", "0.1", "+Inf")}
    assert held == {"0.005": 1, "0.05": 2, "0.1": 3, "+Inf": 4}
    assert shown(f"{SEARCH}_sum", step="vector") == pytest.approx(99.105)


def test_a_stage_that_breaks_is_timed_as_failed_and_its_document_counted_by_reason(shown, tmp_path):
    document = upload_text(local_operator(), tmp_path, "PDF ではない", name="設計書.pdf").document
    work_through(document)
    code = DocumentVersion.objects.get(document=document).status_code
    assert shown(f"{STAGE}_count", stage="parsing", outcome="failed") == 1
    assert shown(f"{STAGE}_count", stage="parsing", outcome="ok") is None
    assert shown("hub_documents_failed", code=code) == 1


def test_without_valkey_work_goes_on_uncounted_and_metrics_say_so(shown, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = client_of(f"redis://127.0.0.1:{unused.getsockname()[1]}")
        monkeypatch.setattr(measures, "_client", lambda: away)
        count(Point(family=SEARCH_SECONDS, labels=("total",), value=5))
        assert shown("hub_shared_measures_up") == 0
        assert shown("hub_workers_alive") == 0
    away.close()
    monkeypatch.undo()
    assert shown("hub_shared_measures_up") == 1
    assert shown(f"{SEARCH}_count", step="total") is None


def test_what_was_counted_is_written_by_itself(shown, monkeypatch):
    written = threading.Event()
    monkeypatch.setattr(measures, "WRITE_EVERY_S", 0.0)
    flush = measures._store.flush
    monkeypatch.setattr(measures._store, "flush", lambda: (flush(), written.set()))
    count(Point(family=SEARCH_SECONDS, labels=("total",), value=5))
    assert written.wait(10)
    assert measures._client().hlen(measures.KEY) == 2


def test_counting_asks_nobody(shown, monkeypatch):
    monkeypatch.setattr(measures, "_client", lambda: pytest.fail("asked Valkey"))
    monkeypatch.setattr(measures, "WRITE_EVERY_S", 3600.0)
    count(Point(family=SEARCH_SECONDS, labels=("total",), value=5))


def test_what_a_process_counts_in_its_last_second_is_written_at_its_end(shown):
    program = "from hub.core.measures import *; count(Point(family=SEARCH_SECONDS, labels=('total',), value=5))"
    subprocess.run([sys.executable, "-c", f"import django; django.setup(); {program}"], check=True, timeout=60)
    assert shown(f"{SEARCH}_count", step="total") == 1
