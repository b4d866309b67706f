"""People and documents for the tests of the admin."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import Role, local_operator
from knowledge.documents.uploads import Upload, create_document, hash_file
from knowledge.documents.workers import work_through
from knowledge.models import Collection, CollectionGrant, Document
from tests.factories import make_hub_curator

PASSWORD = "長いパスワード-2025"

DESIGN = """# 受発注システム 基本設計書

## 1. 目的

本書は、受発注システムの基本設計を定める。

## 2. 性能要件

### 2.1 応答時間

画面の応答時間は通常時3秒以内とする。<script>alert("本文")</script>

### 2.3 同時利用者数

同時に200人が利用できること。詳細は表9-9による。

## 3. セキュリティ

利用者の認証には多要素認証を用いる。
"""


def make_user(username: str, *, is_superuser: bool = False) -> User:
    """A member of staff, or a superuser."""
    return User.objects.create_user(username, password=PASSWORD, is_staff=True, is_superuser=is_superuser)


def grant(user: User, role: Role, collection: Collection) -> None:
    CollectionGrant.objects.create(user=user, role=role, collection=collection)


def client_of(user: User, *, language: str = "ja") -> Client:
    """A browser in which the person is signed in."""
    client = Client(headers={"Accept-Language": language})
    client.force_login(user)
    return client


def curator_client() -> Client:
    """A browser in which a curator of the hub is signed in, who curates the default collection as well."""
    curator = make_hub_curator(make_user("担当"))
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    return client_of(curator)


def second_client() -> Client:
    """A browser in which another curator of the hub is signed in, who publishes what the first one wrote."""
    return client_of(make_hub_curator(make_user("承認")))


def add_document(
    folder: Path,
    *,
    filename: str = "基本設計書.md",
    text: str = DESIGN,
    collection: str = "default",
    document_type: str = "basic_design",
    work: bool = True,
) -> Document:
    """Take in a document and, with ``work``, bring it through the whole pipeline here."""
    file = folder / filename
    file.write_text(text, encoding="utf-8")
    sha256, size_bytes = hash_file(file)
    upload = Upload(
        file=file,
        filename=filename,
        sha256=sha256,
        size_bytes=size_bytes,
        collection=collection,
        document_type=document_type,
    )
    document = create_document(principal=local_operator(), upload=upload).document
    if work:
        work_through([document.latest_version_id or 0])
    document.refresh_from_db()
    return document
