"""People, texts and looks for the tests of what is withheld."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.test import Client
from django.urls import reverse

from hub.access.models import Clearance
from hub.access.principals import ALL_SCOPES, Classification, Principal, Role, local_operator
from hub.access.services import create_token, principal_for_user
from knowledge.models import CollectionGrant, Document
from mcp_bridge.caller import Caller, caller_context
from review.models import Finding, Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, start_review
from tests.factories import new_user

OPERATOR = local_operator()
CANARIES = ("FR-901", "FR-902")
REQUIREMENTS = """# 要件定義書

## 3. 機能要件

| 要件ID | 要件名 |
|---|---|
| FR-001 | 利用者が図書を予約できること |
| FR-901 | 秘密の監視機能 |
| FR-902 | 秘密の記録機能 |
"""
DESIGN = """# 図書予約 基本設計書

## 3. 機能設計

予約登録画面は FR-001 を満たす。

- 起動時間: 3秒以内

## 4. 性能

- 起動時間: 5秒以内
"""
ITEMS = ("BD-B02", "BD-E01")


class Person:
    """Somebody with a token and a browser."""

    def __init__(self, name: str, role: Role, *shelves: Any, ceiling: Classification = Classification.C2) -> None:
        self.user = new_user(username=name, is_staff=True)
        Clearance.objects.create(user=self.user, ceiling=ceiling)
        for shelf in shelves:
            CollectionGrant.objects.create(collection=shelf, user=self.user, role=role)
        scopes = frozenset(ALL_SCOPES)
        token = create_token(principal=OPERATOR, user=self.user, name="t", scopes=scopes)[1]
        self.rest = Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})
        self.browser = Client(headers={"Accept-Language": "en"})
        self.browser.force_login(self.user)

    @property
    def principal(self) -> Principal:
        return principal_for_user(self.user)

    def get(self, path: str) -> Any:
        return self.rest.get(f"/api/v1{path}")

    def send(self, method: str, path: str, body: object) -> Any:
        call = getattr(self.rest, method)
        return call(f"/api/v1{path}", data=json.dumps(body), content_type="application/json")

    def page(self, name: str, *arguments: object, **query: str) -> Any:
        return self.browser.get(reverse(f"admin:review_review_{name}", args=arguments), query)


def reviewed(person: Person | None, document: Document, *related: Document) -> Review:
    principal = person.principal if person else OPERATOR
    options = ReviewOptions(related_documents=tuple(each.public_id for each in related), check_items=ITEMS)
    started = start_review(principal=principal, document_id=document.public_id, options=options)
    assert execution.execute(started.pk)
    return Review.objects.get(pk=started.pk)


def hidden_finding(review: Review) -> Finding:
    (found,) = Finding.objects.filter(result__review=review, data__identifiers=list(CANARIES))
    return found


def open_finding(review: Review) -> Finding:
    return Finding.objects.filter(result__review=review, rule_id="consistency.conflicting_value").get()


def names_nothing(text: str, *documents: Document) -> bool:
    return not any(word in text for word in (*CANARIES, "秘密の", *(each.public_id for each in documents)))


def as_mcp(person: Person, call: Callable[[], Any]) -> Any:
    with caller_context(Caller(principal=person.principal)):
        return call()
