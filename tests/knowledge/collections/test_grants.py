"""Roles in a collection over REST: who may give them, what they open, and that all of it is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from knowledge.collections import create_collection
from knowledge.models import Collection
from tests.hub.admin.support import grant, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def rules() -> Collection:
    return create_collection(principal=local_operator(), slug="rules", name="規程")


def asker(user: User) -> Any:
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]

    def ask(method: str, path: str, body: object = None, **query: str) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Accept-Language": "ja"}
        data = json.dumps(body).encode() if body is not None else b""
        path = f"/api/v1/collections{path}"
        return Client().generic(
            method, path, data, content_type="application/json", headers=headers, query_params=query
        )

    return ask


def test_an_administrator_gives_and_takes_roles_and_what_they_open_follows(rules):
    chief, reader = make_user("課長"), make_user("担当者")
    grant(chief, Role.ADMINISTRATOR, rules)
    ask, other = asker(chief), asker(reader)
    assert other("GET", "/rules").status_code == 404

    given = {"user": "担当者", "role": "reader"}
    first, second = (ask("PUT", "/rules/grants", given) for _ in range(2))

    assert first.status_code == 200
    assert first.json()["given_at"]
    assert first.json() | {"given_at": None} == {
        "user": "担当者",
        "group": None,
        "role": "reader",
        "until": None,
        "delegated_by": None,
        "reason": "",
        "given_by": "課長",
        "given_at": None,
        "ended_by": None,
    }
    assert second.status_code == 200
    assert other("GET", "/rules").status_code == 200
    roles = [(row["user"], row["role"]) for row in ask("GET", "/rules/grants").json()]
    assert roles == [("担当者", "reader"), ("課長", "administrator")]
    assert AuditEvent.objects.filter(action="CONFIG_CHANGE", resource="collection:rules").count() == 1

    assert ask("DELETE", "/rules/grants", user="担当者", role="reader").status_code == 204
    assert other("GET", "/rules").status_code == 404
    assert ask("DELETE", "/rules/grants", user="担当者", role="reader").json()["code"] == "grant_not_found"


def test_a_group_gets_a_role_for_all_its_people(rules):
    Group.objects.create(name="品質管理室")
    person = make_user("佐藤")
    person.groups.add(Group.objects.get(name="品質管理室"))
    chief = make_user("課長")
    grant(chief, Role.ADMINISTRATOR, rules)

    assert asker(chief)("PUT", "/rules/grants", {"group": "品質管理室", "role": "reviewer"}).status_code == 200

    assert asker(person)("GET", "/rules").status_code == 200


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"user": "いない人", "role": "reader"}, "いない人"),
        ({"group": "ない課", "role": "reader"}, "ない課"),
        ({"user": "課長", "role": "owner"}, "owner"),
        ({"role": "reader"}, "user"),
        ({"user": "課長", "group": "品質管理室", "role": "reader"}, "user"),
    ],
)
def test_unknown_people_groups_and_roles_are_422_and_named(rules, given, named):
    chief = make_user("課長")
    grant(chief, Role.ADMINISTRATOR, rules)
    answer = asker(chief)("PUT", "/rules/grants", given)
    assert answer.status_code == 422
    assert named in json.dumps(answer.json(), ensure_ascii=False)


@pytest.mark.parametrize("role", [None, Role.READER, Role.CURATOR])
def test_others_neither_see_nor_give_roles(rules, role):
    person = make_user("担当者")
    if role:
        grant(person, role, rules)
    ask = asker(person)
    for answer in (
        ask("GET", "/rules/grants"),
        ask("PUT", "/rules/grants", {"user": "担当者", "role": "reader"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "collection_not_found")
