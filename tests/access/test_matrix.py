"""Every door of the hub as people of every kind: REST calls, MCP, admin pages, their actions, filters and fields.

What is there is listed by the hub itself, what it asks for by ``matrix.txt``. A door that is not in the table fails
here, and so does a line whose door is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from hub.access.permissions import ALL_SCOPES, HubRight, HubRole, Role, Scope
from tests.access.admin_doors import Browser, addresses, admin_answers, empty_templates
from tests.access.answers import Answer, Observed, who_may, who_sees
from tests.access.asked import AskedAs, distinguishing, everybody, few
from tests.access.mcp_doors import doors_of_servers, mcp_answers, mcp_doors, one_connection, tokens_of
from tests.access.people import PERSONS, PeopledHub, make_peopled_hub, person_of
from tests.access.rest_doors import REFUSED, Sender, every_operation, rest_answers
from tests.access.table import Line, every_right, read_table, who_has

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1200)]
FEW_OR_EVERYBODY = [pytest.param(False, id="few"), pytest.param(True, id="everybody", marks=pytest.mark.long)]
OF_MCP = frozenset({"tool", "resource", "template", "completion", "prompt", "argument", "list"})


@pytest.fixture(scope="module")
def hub(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PeopledHub]:
    """One of everything, and people of every kind; taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_peopled_hub(tmp_path_factory.mktemp("matrix"))
        transaction.set_rollback(True)


def lines_of(kind: str) -> dict[str, Line]:
    """The table's lines for ``rest``, ``mcp`` or ``admin``, by their doors."""
    found = [line for line in read_table() if kind_of(line.door) == kind]
    by_door = {line.door: line for line in found}
    assert len(by_door) == len(found), "a door is listed twice"
    return by_door


def kind_of(door: str) -> str:
    first, _space, rest = door.partition(" ")
    if rest.startswith("/") and first.isupper():
        return "rest"
    return "mcp" if first in OF_MCP else "admin"


def differences(observed: Observed, table: dict[str, Line]) -> list[str]:
    """Say where the hub and the table differ, a line for each door."""
    found = [f"not in the table: {door}" for door in observed if door not in table]
    found += [f"in the table, but gone: {door}" for door in table if door not in observed]
    for door, answers in observed.items():
        line = table.get(door)
        if line is None:
            continue
        if wrong := who_may(answers) ^ (who_has(line.right) & set(answers)):
            told = {person: answers[person].told for person in sorted(wrong)}
            found.append(f"{door}: the table says {line.right}, it is otherwise for {told}")
        sees, shown = who_sees(answers), who_has(line.shown or line.right) & set(answers)
        if (sees or line.shown) and (wrong := sees ^ shown):
            found.append(f"{door}: shown to {line.shown or line.right}, it is otherwise for {sorted(wrong)}")
    return found


def people_for(table: dict[str, Line], *, all_of_them: bool) -> AskedAs:
    return everybody if all_of_them else few(table)


@pytest.mark.parametrize("all_of_them", FEW_OR_EVERYBODY)
def test_every_rest_call_asks_for_what_the_table_says(hub: PeopledHub, all_of_them: bool) -> None:
    table = lines_of("rest")
    found = differences(rest_answers(hub, people_for(table, all_of_them=all_of_them)), table)
    assert not found, "\n".join(found)


def test_everything_of_mcp_asks_for_what_the_table_says(hub: PeopledHub) -> None:
    with one_connection():
        doors = mcp_doors(hub)
        for server, listed in doors_of_servers(hub).items():
            assert listed <= set(doors), server
        observed = mcp_answers(hub, doors, tokens_of(hub))
    found = differences(observed, lines_of("mcp"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("all_of_them", FEW_OR_EVERYBODY)
def test_every_page_action_filter_and_field_asks_for_what_the_table_says(hub: PeopledHub, all_of_them: bool) -> None:
    table = lines_of("admin")
    found = differences(admin_answers(hub, people_for(table, all_of_them=all_of_them)), table)
    assert not found, "\n".join(found)


def test_a_slow_machine_is_not_asked_again_who_is_there(hub: PeopledHub, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, form = Browser(hub, "superuser"), addresses(hub)["page access.accesstoken create"]
    with empty_templates():
        assert browser.send(form).status_code == 200  # the form again, with what it lacks
        later = time.time() + 60 * (settings.CONFIG.hub_confirm_minutes + 1)
        monkeypatch.setattr("hub.access.sessions.time.time", lambda: later)
        assert browser.send(form).status_code == 200


def test_a_token_needs_the_scopes_of_the_table_and_no_others(hub: PeopledHub) -> None:
    """A superuser's token that lacks one of them is refused, and one that has nothing else is let in."""
    wrong = []
    operations, sender = every_operation(hub.examples), Sender()
    for door, line in lines_of("rest").items():
        asked = operations[door].ordinary_call()
        for lacking in lacking_scopes(line):
            if (status := sender.send(asked, hub.narrow_token(lacking))[0]) not in REFUSED:
                wrong.append(f"{door}: {status} with {sorted(lacking)}")
        for needed in line.scopes:
            if (status := sender.send(asked, hub.narrow_token(needed))[0]) in REFUSED:
                wrong.append(f"{door}: {status} with {sorted(needed)} alone")
    assert not wrong, "\n".join(wrong)


def test_the_people_of_the_tests_are_those_of_the_table_and_each_right_opens_something() -> None:
    """A role that nobody of the tests has, or a right that no door asks for, would go untested."""
    assert {person_of(role) for role in HubRole} | {role.value for role in Role} <= set(PERSONS)
    asked = " ".join(f"{line.right} {line.shown}" for line in read_table())
    assert [right.value for right in HubRight if f"hub:{right.value}" not in asked] == []


@pytest.mark.parametrize("wrong", ["hub:everything", "administrate", "hub", "read+hub:all", ""])
def test_a_line_that_names_none_of_the_table_fails(wrong: str) -> None:
    with pytest.raises(KeyError):
        who_has(wrong)


def lacking_scopes(line: Line) -> Iterator[frozenset[Scope]]:
    """All scopes but one of each way in."""
    yield from {ALL_SCOPES - frozenset(picked) for picked in product(*line.scopes)} if line.scopes else ()


def test_few_people_distinguish_each_right_from_every_other() -> None:
    for right in every_right():
        among, mine = distinguishing(right), who_has(right)
        assert len(among) < len(PERSONS) / 2, right
        alike = [one for one in every_right() if who_has(one) & among == mine & among]
        assert {who_has(one) for one in alike} == {mine}, (right, alike)


def test_a_door_that_asks_for_another_right_is_found_with_the_few() -> None:
    table = {"GET /made": Line(right="hub:masters", shown="", scopes=(), door="GET /made")}
    asked = few(table)("GET /made")
    for right in every_right():
        observed = {"GET /made": {one: Answer(is_open=one in who_has(right)) for one in asked}}
        assert bool(differences(observed, table)) is (who_has(right) != who_has("hub:masters")), right
    assert few(table)("GET /new") == PERSONS


def test_a_page_of_a_model_is_opened_as_those_who_distinguish_the_rights_of_its_parts() -> None:
    page, part = "page review.scenario change", "field review.scenario change reason"
    table = lines_of("admin")
    assert table[page].right != table[part].right
    assert distinguishing(table[part].right) <= set(few(table)(page))
    assert not distinguishing(table[part].right) <= distinguishing(table[page].right)
