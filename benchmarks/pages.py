"""Measure the pages for everybody in a hub with many documents.

``python -m benchmarks.pages`` writes ``--documents`` rows (20,000) with their versions, 5,000 reviews and 2,000
questions into an embedded PostgreSQL in a scratch folder, without files and without vectors, and asks each page as a
curator through Django's test client, with all of the hub's middleware. The first look at each page is not counted.
Prints for each page median and 95 % in ms, the processor time of a look (this process and the database's connection)
in ms, its statements, and its size. With ``--folder`` the hub is kept there and used again; ``--slowest`` prints the
slowest statements of each page, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.scratch import scratch_hub

if TYPE_CHECKING:
    from django.test import Client

REVIEWS, QUESTIONS = 5_000, 2_000
PAGES = (
    *("/", "/documents/", "/documents/?order=title", "/documents/?order=-size", "/documents/?order=uploader"),
    *("/documents/?q=19950", "/documents/?document_type=basic_design&status=ready", "/documents/{document}/"),
    *("/documents/upload/", "/reviews/", "/questions/", "/questions/unanswered/", "/guide/"),
)


def main() -> None:
    """Start a scratch hub, fill it, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=40, help="looks at each page")
    parser.add_argument("--folder", type=Path, help="keep the hub here, and use it again")
    parser.add_argument("--slowest", type=int, default=0, help="print as many of the slowest statements of each page")
    parser.add_argument("--only", default="", help="measure the pages whose address has this in it")
    arguments = parser.parse_args()
    with scratch_hub(arguments.folder, ALLOWED_HOSTS="testserver"):
        from knowledge.models import Document

        started = time.perf_counter()
        if not Document.objects.exists():
            fill(arguments.documents)
            print(f"{arguments.documents} documents, {REVIEWS} reviews, {QUESTIONS} questions:", end=" ")
            print(f"written in {time.perf_counter() - started:.1f} s")
        _measure(arguments.rounds, arguments.slowest, arguments.only)


def fill(number: int) -> None:
    """Write the rows in bulk: documents of three types and four states, of one person in one collection."""
    from django.contrib.auth.models import User
    from django.db import connection

    from hub.access.permissions import Role
    from knowledge.models import (
        AskedQuestion,
        Blob,
        ChunkPolicy,
        Collection,
        CollectionGrant,
        Document,
        DocumentVersion,
        VersionContent,
    )
    from review.models import CheckListVersion, Review

    user = User.objects.create_user("担当")
    shelf = Collection.objects.get(slug="default")
    CollectionGrant.objects.create(user=user, collection=shelf, role=Role.CURATOR)
    policy, _made = ChunkPolicy.objects.get_or_create(strategy="section", size=512, overlap=0, unit="tokens")
    blob = Blob.objects.create(sha256="0" * 64, size_bytes=20_480)
    types, states = ("basic_design", "test_plan", "other"), ("ready", "ready", "failed", "needs_ocr")
    rows = [
        Document(
            collection=shelf,
            owner=user,
            path=f"案件{number % 100:03}/設計書_{number:05}.md",
            title=f"受発注システム 基本設計書 第 {number} 号",
            document_type_id=types[number % 3],
        )
        for number in range(number)
    ]
    documents = Document.objects.bulk_create(rows, batch_size=2_000)
    versions = DocumentVersion.objects.bulk_create(
        [
            DocumentVersion(
                document=one, number=1, blob=blob, filename="設計書.md", policy=policy, status=states[place % 4]
            )
            for place, one in enumerate(documents)
        ],
        batch_size=2_000,
    )
    VersionContent.objects.create(version=versions[-4], markdown="# 目的\n\n本書は基本設計を定める。\n" * 400)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE knowledge_document d SET latest_version_id = v.id, current_version_id = v.id"
            " FROM knowledge_documentversion v WHERE v.document_id = d.id"
        )
    checklist = CheckListVersion.objects.first()
    assert checklist is not None
    Review.objects.bulk_create(
        [
            Review(
                version=one,
                document_id_text=one.document.public_id,
                version_number=1,
                checklist_version=checklist,
                status="completed",
                verdict="warning",
            )
            for one in versions[:REVIEWS]
        ],
        batch_size=1_000,
    )
    people = User.objects.bulk_create([User(username=f"読者{number}") for number in range(20)])
    AskedQuestion.objects.bulk_create(
        [
            AskedQuestion(
                user=people[number % 20],
                text=f"手順 {number // 20} は何日かかりますか",
                folded=f"{number // 20:064}",
                collection_ids=[shelf.pk],
                is_answered=False,
            )
            for number in range(QUESTIONS)
        ]
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _measure(rounds: int, slowest: int, only: str) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from knowledge.models import VersionContent

    client = Client(headers={"Accept-Language": "ja", "Accept-Encoding": "gzip"})
    client.force_login(User.objects.get(username="担当"))
    shown = VersionContent.objects.get().version.document.public_id
    search_cycles_as_the_web_does()
    for page in PAGES:
        if only not in page:
            continue
        address = page.format(document=shown)
        measure_page(client, page, address, rounds=rounds, slowest=slowest)


def search_cycles_as_the_web_does() -> None:
    """Look for cycles as seldom as a process of `manage.py web`, which never looks through what it has loaded."""
    from hub.core.processes import REQUESTS, collect_seldom

    collect_seldom(REQUESTS)


def measure_page(
    client: Client, page: str, address: str, *, rounds: int, slowest: int, headers: dict[str, str] | None = None
) -> None:
    """Look at a page once to count its statements, then ``rounds`` times, and print what that took."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as statements:
        answer = client.get(address, headers=headers)
    asked = statements.captured_queries
    assert answer.status_code == 200, (address, answer.status_code)
    times, used = [], _processor_seconds()
    for _round in range(rounds):
        started = time.perf_counter()
        client.get(address, headers=headers)
        times.append((time.perf_counter() - started) * 1000)
    used = (_processor_seconds() - used) * 1000 / rounds
    times.sort()
    print(
        f"{page:55} median {statistics.median(times):6.1f} ms   95 % {times[int(rounds * 0.95)]:6.1f} ms   "
        f"processor {used:6.1f} ms   {len(asked):3} statements   {len(answer.content) / 1000:6.1f} kB",
        flush=True,
    )
    for one in sorted(asked, key=lambda one: -float(one["time"]))[:slowest]:
        print(f"    {float(one['time']) * 1000:.0f} ms: {one['sql']}")


def _processor_seconds() -> float:
    """Processor time of this process and of the database's process that serves its connection."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (server,) = cursor.fetchone()
    fields = Path(f"/proc/{server}/stat").read_bytes().rpartition(b")")[2].split()
    return time.process_time() + sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")  # proc(5): utime, stime


if __name__ == "__main__":
    main()
