"""What is compressed on its way to a browser, and what is not: what holds a secret."""

from __future__ import annotations

import gzip

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from knowledge.models import Collection, Document
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db
GZIP = {"Accept-Encoding": "gzip"}
MOST_BYTES = 60_000


@pytest.fixture
def person() -> User:
    return make_user("佐藤", is_superuser=True)


def test_lists_of_fifty_come_in_less_than_sixty_kilobytes(person: User) -> None:
    collection = Collection.objects.get(slug="default")
    for number in range(60):
        Document.objects.create(
            collection=collection, path=f"案件/設計書{number}.md", title=f"基本設計書 {number}", owner=person
        )
    client = client_of(person)
    for address in ("/documents/", reverse("admin:knowledge_document_changelist"), reverse("admin:index")):
        plain = client.get(address)
        packed = client.get(address, headers=GZIP)
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert len(packed.content) < MOST_BYTES
        assert gzip.decompress(packed.content).startswith(plain.content[:200])


def test_styles_and_scripts_are_compressed(person: User) -> None:
    for name in ("hub/home.css", "hub/home.js", "unfold/css/styles.css"):
        answer = client_of(person).get(f"/static/{name}", headers=GZIP)
        assert answer.headers["Content-Encoding"] == "gzip", name
        assert gzip.decompress(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
        for close in answer._resource_closers:  # type: ignore[attr-defined]  # closing the answer would close the test's connection, too
            close()


@pytest.mark.parametrize("address", ["/admin/second-factor/", "/admin/access/accesstoken/add/", "/admin/login/"])
def test_what_holds_a_secret_is_not(person: User, address: str) -> None:
    client = Client() if "login" in address else client_of(person)
    answer = client.get(address, headers=GZIP)
    assert answer.status_code == 200
    assert "Content-Encoding" not in answer.headers


def test_nothing_of_the_interfaces_for_programs_is(person: User) -> None:
    assert "Content-Encoding" not in client_of(person).get("/api/v1/openapi.json", headers=GZIP).headers
