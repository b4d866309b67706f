"""Two callers at once: what each alone may do, both together must not."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Role, local_operator
from hub.access.second_factor import STEP_S, accepts, begin, code_at, confirm
from hub.access.services import principal_for_user
from hub.core.errors import HubError
from knowledge.collections import create_collection
from knowledge.grants import Grantee, delegate_role, end_role, grant_role, withdraw_role
from knowledge.models import Collection, CollectionGrant
from review.models import Review, ReviewStatus, Signature
from review.runs.reviews import start_review
from review.triage.signing import sign_off
from tests.factories import hub_curator, new_user, principal_with, upload_text, work_through

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Run the acts in a thread each, beginning together; gives what each returned, or the code of its refusal."""
    ready = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        try:
            ready.wait(timeout=30)
            return act()
        except HubError as error:
            return error.error_code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_two_administrators_who_remove_each_other_one_stays() -> None:
    collection = Collection.objects.get(slug="default")
    first, second = (principal_with(Role.ADMINISTRATOR, collection) for _number in range(2))

    def remove(by: Principal, other: Principal) -> Callable[[], object]:
        to = Grantee(user=other.name)
        return lambda: withdraw_role(principal=by, slug="default", to=to, role=Role.ADMINISTRATOR)

    at_once(remove(first, second), remove(second, first))
    assert collection.grants.filter(role=Role.ADMINISTRATOR).count() == 1


def test_a_slug_is_made_once_and_a_role_is_given_once() -> None:
    curators = [hub_curator(), hub_curator()]
    made = at_once(
        *(lambda who=who: create_collection(principal=who, slug="race", name="x") and "made" for who in curators)
    )
    assert sorted(map(str, made)) == ["conflict", "made"]
    winner = curators[made.index("made")]
    reader = principal_with(None, Collection.objects.get(slug="race"))
    to = Grantee(user=reader.name)
    at_once(*(lambda: grant_role(principal=winner, slug="race", to=to, role=Role.READER) for _number in range(3)))
    assert CollectionGrant.objects.filter(user_id=reader.user_id).count() == 1


def test_a_role_that_two_end_at_once_ends_once() -> None:
    collection = Collection.objects.get(slug="default")
    chiefs = [principal_with(Role.ADMINISTRATOR, collection) for _number in range(2)]
    reader = principal_with(Role.READER, collection)
    to = Grantee(user=reader.name)
    at_once(*(partial(end_role, principal=chief, slug="default", to=to, role=Role.READER) for chief in chiefs))
    (row,) = CollectionGrant.objects.filter(user_id=reader.user_id)
    (line,) = AuditEvent.objects.filter(action="CONFIG_CHANGE", details__has_key="ended")
    assert row.ended_by_id == line.user_id


def test_a_role_handed_on_by_two_at_once_is_one_s() -> None:
    collection = Collection.objects.get(slug="default")
    givers = [principal_with(Role.REVIEWER, collection) for _number in range(2)]
    to = principal_with(None, collection).name
    until = timezone.now() + timedelta(days=1)
    given: dict[str, Any] = {"slug": "default", "to": to, "role": Role.REVIEWER, "until": until}
    made = at_once(*(partial(delegate_role, principal=giver, **given) for giver in givers))
    assert sum(one == "has_role" for one in made) == 1
    assert CollectionGrant.objects.filter(user__username=to).count() == 1


@pytest.mark.parametrize("people_needed", [1, 2])
@pytest.mark.usefixtures("queue")
def test_one_person_signs_once_however_often_at_once(tmp_path: Path, settings: Any, people_needed: int) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_two_person_sign_off": people_needed == 2})
    document = work_through(upload_text(local_operator(), tmp_path, "# 設計\n\n本文。\n").document)
    review = start_review(principal=local_operator(), document_id=document.public_id, checklist="basic-design")
    Review.objects.filter(pk=review.pk).update(status=ReviewStatus.COMPLETED)
    signer = principal_with(Role.REVIEWER, document.collection)
    acts = [partial(sign_off, principal=signer, review_id=review.public_id) for _number in range(3)]
    refused = [one for one in at_once(*acts) if isinstance(one, str)]
    assert len(refused) == 2
    assert Signature.objects.filter(review=review).count() == 1
    assert AuditEvent.objects.filter(action="REVIEW_SIGN_OFF").count() == 1
    review.refresh_from_db()
    assert (review.signed_at is not None) == (people_needed == 1)


def test_a_code_and_a_recovery_code_open_once_of_three_at_once() -> None:
    user = new_user()
    secret = begin(user)
    recovery, *_others = confirm(principal_for_user(user), user, code_at(secret, int(time.time()) // STEP_S - 1))
    for code in (code_at(secret, int(time.time()) // STEP_S), recovery):
        opened = at_once(*(partial(_opens, user, code) for _number in range(3)))
        assert sorted(map(bool, opened)) == [False, False, True], code


@transaction.atomic
def _opens(user: User, code: str) -> bool:
    return accepts(user, code)
