"""A hub with something in it, and a superuser with every scope: what every value is tried at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from knowledge.models import Collection, CollectionGrant
from tests.properties.examples import examples_of
from tests.review.conftest import DESIGN, review_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A superuser's token, and values for the operations' fields by name (see Operation)."""

    user: User
    token: str
    examples: dict[str, Any]


@pytest.fixture(scope="module")
def filled(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Filled]:
    """A hub with a reviewed document; what was done to it is taken back at the end."""
    folder = tmp_path_factory.mktemp("design")
    with django_db_blocker.unblock(), transaction.atomic():
        user = User.objects.create_superuser("all-scopes", password="x")
        token = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset(ALL_SCOPES))[1]
        CollectionGrant.objects.create(collection=Collection.objects.get(slug="default"), user=user, role="reader")
        examples = examples_of(review_text(folder, DESIGN), folder)
        examples["username"] = user.username
        examples["put /api/v1/evaluation/datasets/{code}/readers readers"] = [user.username]
        yield Filled(user=user, token=token, examples=examples)
        transaction.set_rollback(True)
