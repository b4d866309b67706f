"""What attackers tried, and what they were answered: every line of ``tries.txt``, at REST, MCP and the admin.

Each runs in a transaction of its own that is taken back. With ``--long`` each of twenty guards is taken out in turn,
and some try has to notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from hub.access.models import AccessToken
from knowledge.models import Chunk, Collection, Document, GraphNode
from tests.access.hidden import THEIRS, hide
from tests.access.people import PERSONS, PeopledHub, make_peopled_hub
from tests.attacks.guards import GUARDS, Guard
from tests.attacks.tries import Attacker, Try, read_tries

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1800)]
TRIES = read_tries()


@pytest.fixture(scope="module")
def attacker(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Attacker]:
    """A hub of two offices with people of every role; taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        hub = make_peopled_hub(tmp_path_factory.mktemp("attacks"))
        hidden = hide(tmp_path_factory.mktemp("hidden"))
        yield Attacker(hub, named_things(hub, hidden))
        transaction.set_rollback(True)


def named_things(hub: PeopledHub, hidden: dict[str, list[Any]]) -> dict[str, dict[str, str]]:
    """Ids by whose they are and what of."""
    people = {name: str(user.pk) for name, user in hub.users.items()}
    mine = {name: str(value) for name, value in hub.examples.items() if isinstance(value, str)}
    found = {"mine": {**mine, **people, "me": people["hub_user_administrator"]}}
    theirs, secret = Document.objects.filter(public_id__in=hidden["document_id"]).order_by("collection__slug")[::-1]
    found["theirs"] = {**_of_document(theirs), "slug": THEIRS, "source": "theirs", "dataset": "theirs"}
    found["secret"] = _of_document(secret)
    for owner, number in (("theirs", 0), ("secret", 1)):
        found[owner]["review_id"] = hidden["review_id"][number]
    found["theirs"]["finding_id"] = hidden["finding_id"][0]
    found["theirs"]["collection_pk"] = str(Collection.objects.get(slug=THEIRS).pk)
    found["theirs"]["token"] = str(AccessToken.objects.filter(user=hidden["user"][0]).latest("pk").pk)
    return found


def _of_document(document: Document) -> dict[str, str]:
    chunk = Chunk.objects.filter(version__document=document).earliest("pk")
    node = GraphNode.objects.filter(public_id=document.public_id).first()
    return {
        "document_id": document.public_id,
        "document_pk": str(document.pk),
        "chunk_id": chunk.public_id,
        "node_pk": str(node.pk if node else 0),
    }


def test_there_are_at_least_150_tries_by_every_role() -> None:
    assert len({(one.row, one.send, one.body, one.headers) for one in TRIES}) >= 150
    assert set(PERSONS) <= {one.person for one in TRIES}


@pytest.mark.parametrize("tried", TRIES, ids=lambda one: str(one)[:80])
def test_a_try_is_answered_as_the_table_says(attacker: Attacker, tried: Try) -> None:
    attacker.check(tried)


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS, ids=lambda one: one.name)
def test_without_a_guard_some_try_gets_through(
    attacker: Attacker, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A suite that passes without the guard would not notice that it is gone."""
    guard.take_out(monkeypatch)
    for tried in TRIES:
        try:
            attacker.check(tried)
        except Exception:  # noqa: BLE001 (whatever happens without the guard, the suite fails)
            return
    pytest.fail(f"nothing notices that this guard is out: {guard.name}")
