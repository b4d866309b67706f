"""Measure the pages of reviewers, of who gives rights, and every page that names no row, in a hub with many findings.

``python -m benchmarks.desk_pages`` fills an embedded PostgreSQL in a scratch folder as `benchmarks.pages` does (20,000
documents, 5,000 reviews), and adds ``--findings`` rows (200,000) in equal shares to the reviews, 500 people and 100
collections, without files and without vectors. It asks each page as a reviewer, those about rights as a superuser,
and with ``--every`` also all that the addresses of the site have without a row's id, and the page of one row of each
list in the administration, as a superuser, through Django's test client, with all of the hub's middleware. The first
look at each page is not counted. Prints what `benchmarks.pages` prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.pages import fill, measure_page, search_cycles_as_the_web_does
from benchmarks.scratch import scratch_hub

if TYPE_CHECKING:
    from django.test import Client

CHECKS, OWN, WAIVED, PEOPLE, COLLECTIONS = 5, 3_000, 600, 500, 100
PART = "/admin/review/review/{key}/triage/{finding}/"  # a script of the page before it fetches it
PAGES = (
    *("/", "/own-work/", "/admin/", "/admin/own-work/", "/reviews/", "/reviews/{id}/", "/admin/review/review/"),
    *("/admin/review/review/?q=19950", "/admin/review/review/?verdict__exact=warning"),
    *("/admin/review/review/{key}/change/", "/admin/review/review/{key}/triage/"),
    *(PART, "/admin/review/review/{key}/diff/"),
    *("/admin/versions/{document}/compare/", "/admin/review/scenario/", "/admin/knowledge/document/"),
)
PAGES_OF_RIGHTS = ("/admin/rights/", "/admin/rights/?page=5&columns=3", "/admin/rights/{user}/")


def main() -> None:
    """Start a scratch hub, fill it, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk_pages", description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--findings", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=40, help="looks at each page")
    parser.add_argument("--folder", type=Path, help="keep the hub here, and use it again")
    parser.add_argument("--slowest", type=int, default=0, help="print as many of the slowest statements of each page")
    parser.add_argument("--only", default="", help="measure the pages whose address has this in it")
    parser.add_argument("--every", action="store_true", help="also each page without a row's id, and each list's row")
    arguments = parser.parse_args()
    with scratch_hub(arguments.folder, ALLOWED_HOSTS="testserver"):
        from review.models import Finding

        if not Finding.objects.exists():
            fill(arguments.documents)
            _add_findings(arguments.findings)
            _add_people()
        _measure(arguments.rounds, arguments.slowest, arguments.only, is_every=arguments.every)


def _add_findings(number: int) -> None:
    """Give each review its share of the findings, on CHECKS checks, and some of them to the reviewer."""
    from django.contrib.auth.models import User
    from django.db import connection

    from knowledge.models import DocumentVersion, VersionContent
    from review.models import CheckItemVersion, CheckResult, Finding, Review

    user = User.objects.get(username="担当")
    User.objects.filter(pk=user.pk).update(is_staff=True)
    items = list(CheckItemVersion.objects.order_by("pk")[:CHECKS])
    reviews = list(Review.objects.order_by("pk"))
    Review.objects.filter(pk__gt=reviews[-1].pk - 1_000).update(requested_by=user)
    results = CheckResult.objects.bulk_create(
        (
            CheckResult(review=review, item_version=item, position=place, verdict="warning", strategy_used="rules")
            for review in reviews
            for place, item in enumerate(items)
        ),
        batch_size=2_000,
    )
    share = number // len(results)
    evidence = {"quote": "基本設計", "document_id": "", "start_offset": 6, "end_offset": 10, "verified": True}
    first = Finding.objects.create(
        result=results[0],
        fingerprint="0",
        rule_id="wording.ambiguous",
        severity="minor",
        message_ja="程度や条件のあいまいな語があります: 必要に応じて",
        message_en="The words are vague: as needed",
        location={"section_path": ["目的"], "page_number": 1, "line_range": [1, 1], "start_offset": 6, "end_offset": 10}
        | {"cell": None},
        evidence=[evidence],
    )
    columns = [field.column for field in Finding._meta.concrete_fields if field.column != "id"]
    other = {"public_id": "'fnd_' || r.id || '_' || n", "result_id": "r.id", "ordinal": "n", "fingerprint": "n::text"}
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO review_finding ({', '.join(map(connection.ops.quote_name, columns))})"  # noqa: S608
            f" SELECT {', '.join(other.get(name, f't.{connection.ops.quote_name(name)}') for name in columns)}"
            " FROM review_checkresult r, generate_series(1, %s) n, review_finding t WHERE t.id = %s",
            [share, first.pk],
        )
        cursor.execute(
            "UPDATE review_finding SET assignee_id = %s, due_on = current_date + (id %% 60)::int - 20"
            " WHERE id %% %s = 0",
            [user.pk, max(number // OWN, 1)],
        )
        cursor.execute(
            "UPDATE review_finding SET triage = 'waived', expires_at = now() + make_interval(days => (id %% 90)::int)"
            " WHERE id %% %s = 0",
            [max(number // WAIVED, 1)],
        )
    content = VersionContent.objects.select_related("version__document").get()
    version: Any = content.version
    version.pk, version.public_id, version.number = None, f"{version.public_id}2", 2
    names = [field.attname for field in version._meta.concrete_fields if field.attname != "id"]
    fields = {name: getattr(version, name) for name in names}
    second = DocumentVersion.objects.create(**fields)
    VersionContent.objects.create(version=second, markdown=content.markdown.replace("本書は", "この文書は"))


def _add_people() -> None:
    """Add people, each with a role in one of the collections of theirs."""
    from django.contrib.auth.models import User
    from django.db import connection

    from hub.access.permissions import Role
    from knowledge.models import Collection, CollectionGrant

    User.objects.create_superuser("総括")
    people = User.objects.bulk_create(User(username=f"職員{number}") for number in range(PEOPLE))
    where = Collection.objects.bulk_create(
        Collection(slug=f"section-{number}", name=f"第{number}係") for number in range(COLLECTIONS)
    )
    CollectionGrant.objects.bulk_create(
        CollectionGrant(user=one, collection=where[number % COLLECTIONS], role=Role.READER)
        for number, one in enumerate(people)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _measure(rounds: int, slowest: int, only: str, *, is_every: bool) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from knowledge.models import VersionContent
    from review.models import Finding, Review

    review = Review.objects.latest("pk")
    given = {
        "key": review.pk,
        "id": review.public_id,
        "finding": Finding.objects.filter(result__review=review)[0].public_id,
        "document": VersionContent.objects.order_by("pk")[0].version.document.public_id,
        "user": User.objects.get(username="職員7").pk,
    }
    for person, pages in (("担当", PAGES), ("総括", PAGES_OF_RIGHTS)):
        client = Client(headers={"Accept-Language": "ja", "Accept-Encoding": "gzip"})
        client.force_login(User.objects.get(username=person))
        more = _every_page(client) if is_every and pages is PAGES_OF_RIGHTS else []
        search_cycles_as_the_web_does()
        for page in (one for one in (*pages, *more) if only in one):
            address = page.format(**given)
            headers = {"X-Requested-With": "fetch"} if page == PART else {}
            client.get(address, headers=headers)
            measure_page(client, page, address, rounds=rounds, slowest=slowest, headers=headers)


def _every_page(client: Client) -> list[str]:
    """Addresses that open for the person as whole pages: all that name no row, and one row's of each admin list."""
    from django.urls import get_resolver

    addresses = dict.fromkeys((*_addresses(get_resolver().url_patterns, "/"), *_pages_of_a_row()))
    answers = ((one, client.get(one, headers={"Accept-Encoding": "identity"})) for one in addresses)
    return [one for one, answer in answers if answer.status_code == 200 and not answer.streaming and _is_whole(answer)]


def _pages_of_a_row() -> Iterator[str]:
    """The admin's page of the latest row of each model that has rows; addresses of a scratch hub, its numbers."""
    from django.contrib.admin import site
    from django.urls import reverse

    for model in site._registry:
        row = model._default_manager.order_by("-pk").first()
        if row is not None:
            yield reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])


def _is_whole(answer: Any) -> bool:
    return bool(answer.headers["Content-Type"].startswith("text/html") and b"<html" in answer.content[:2000])


def _addresses(patterns: list[Any], start: str) -> Iterator[str]:
    from django.urls import URLResolver
    from django.urls.resolvers import RoutePattern

    for one in patterns:
        address = f"{start}{one.pattern}"
        if isinstance(one, URLResolver):
            yield from _addresses(one.url_patterns, address)
        elif isinstance(one.pattern, RoutePattern) and "<" not in address:
            yield address


if __name__ == "__main__":
    main()
