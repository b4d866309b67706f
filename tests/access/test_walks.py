"""People without a role of the hub do anything in any order: nothing hub-wide changes, nothing hidden is shown.

A walk that fails is walked again by its seed; the message names its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.db import transaction

from knowledge.models import Collection
from tests.access.hidden import CANARY, hide, state_of_others
from tests.access.mcp_doors import one_connection
from tests.access.people import COLLECTION, PeopledHub, make_peopled_hub
from tests.access.walks import Walk, pools_of

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3000)]
SHORT, LONG = 150, 1500
STEPS_NAMED = 12


@pytest.fixture(scope="module")
def filled(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PeopledHub, dict[str, list[Any]]]]:
    """A hub with one of everything and with what is to be hidden; taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        hub = make_peopled_hub(tmp_path_factory.mktemp("walks"))
        hidden = hide(tmp_path_factory.mktemp("hidden"))
        yield hub, pools_of(hub, hidden)
        transaction.set_rollback(True)


def walk(hub: PeopledHub, pools: dict[str, list[Any]], seed: int, steps: int) -> dict[int, int]:
    """Walk, looking after each step; gives how many answers had which status."""
    walk = Walk(hub=hub, random=Random(seed), pools=pools)
    collection = Collection.objects.get(slug=COLLECTION)
    before: list[str] = []
    statuses: dict[int, int] = {}
    for _number in range(steps):
        person = walk.next_person()
        kept = state_of_others(hub.users[person], collection)
        step = walk.step(person)
        before = [*before, f"{step.person}: {step.done} -> {step.status}"][-STEPS_NAMED:]
        history = f"seed {seed}:\n" + "\n".join(before)
        assert step.status < 500, f"{history}\n{step.said[:500]!r}"
        assert CANARY.encode().lower() not in step.said.lower(), f"something hidden is shown\n{history}"
        now = state_of_others(hub.users[person], collection)
        changed = sorted(table for table, digest in now.items() if kept[table] != digest)
        assert not changed, f"{changed} were changed\n{history}"
        statuses[step.status] = statuses.get(step.status, 0) + 1
    return statuses


@pytest.mark.parametrize("seed", range(3))
def test_whatever_people_do_they_change_nothing_of_the_hub_and_read_nothing_hidden(filled, seed):
    with one_connection():
        hub, pools = filled
        statuses = walk(hub, pools, seed, SHORT)
    done = sum(count for status, count in statuses.items() if status < 400)
    assert done > SHORT // 4, statuses  # a walk in which everything is refused would say little


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_whatever_people_do_for_long_they_change_nothing_of_the_hub_and_read_nothing_hidden(filled, seed):
    with one_connection():
        hub, pools = filled
        walk(hub, pools, seed, LONG)
