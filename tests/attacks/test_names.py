"""Whether somebody of a name is there is said to nobody who may give that one nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token
from knowledge.models import Collection, CollectionGrant
from tests.factories import new_user

pytestmark = pytest.mark.django_db
LATER = (timezone.now() + timedelta(days=3)).isoformat()
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("post", "grants/end", {"role": "reader"}),
    ("post", "grants/end", {"role": "administrator"}),
    ("put", "grants", {"role": "curator", "delegate": True, "until": LATER, "reason": "出張"}),
    ("put", "grants", {"role": "reader"}),
]


@pytest.fixture
def reader() -> Client:
    user = new_user(username="読む人")
    CollectionGrant.objects.create(collection=Collection.objects.get(slug="default"), user=user, role=Role.READER)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})


@pytest.mark.parametrize(("method", "address", "body"), ASKED)
@pytest.mark.parametrize("kind", ["user", "group"])
def test_a_reader_is_told_the_same_of_a_name_that_is_there_and_of_one_that_is_not(
    reader: Client, kind: str, method: str, address: str, body: dict[str, Any]
) -> None:
    new_user(username="there")
    Group.objects.create(name="there")
    said = [
        getattr(reader, method)(
            f"/api/v1/collections/default/{address}", {kind: name, **body}, content_type="application/json"
        )
        for name in ("there", "nowhere")
    ]
    there, nowhere = ((one.status_code, one.json()["code"], one.json()["detail"]) for one in said)
    assert there == nowhere
    assert there[0] in (403, 404, 422)
    assert not CollectionGrant.objects.exclude(user__username="読む人").exists()
