"""People and groups by collections: what counts now, to those who may be shown it, in a fixed number of statements."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent, Clearance, HubRoleGrant
from hub.access.principals import Classification, HubRole, Role, local_operator
from hub.access.services import principal_for_user
from hub.people.matrix import roles_of_groups, roles_of_people
from hub.people.unseen import unseen_collections, whom_to_ask
from knowledge.models import Collection, CollectionGrant
from tests.factories import make_holder, new_collection, new_user
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db


def page(user: User, **query: str) -> str:
    response = client_of(user).get(reverse("admin:hub_rights"), query)
    assert response.status_code == 200
    return str(response.content.decode().split('id="hub-people"')[1])


def test_a_cell_has_the_roles_in_force_with_the_group_that_brings_them() -> None:
    one, other = new_collection(), new_collection(name="秘の資料", classification=Classification.C3)
    person, gone = new_user(), new_user(is_active=False)
    group = Group.objects.create(name="審査課")
    group.user_set.add(person, gone)
    grant(person, Role.REVIEWER, one)
    CollectionGrant.objects.create(user=person, collection=one, role=Role.CURATOR, until=timezone.now())
    CollectionGrant.objects.create(group=group, collection=other, role=Role.READER)
    grant(gone, Role.READER, one)
    assert f'data-label="{other.name}"' in page(make_user("管理者", is_superuser=True))
    rows = roles_of_people(local_operator(), [person, gone], [one, other])
    (own, brought), nothing = (row.cells for row in rows)
    assert [(role.role, role.by) for role in own.roles] == [(Role.REVIEWER, "")]
    assert [(role.role, role.by) for role in brought.roles] == [(Role.READER, "審査課")]
    assert (own.is_above_ceiling, brought.is_above_ceiling) == (False, True)
    assert all(cell.roles == () for cell in nothing)
    Clearance.objects.create(user=person, ceiling=Classification.C3)
    assert not roles_of_people(local_operator(), [person], [other])[0].cells[0].is_above_ceiling
    (of_group,) = roles_of_groups(local_operator(), [group], [one, other])
    assert [len(cell.roles) for cell in of_group.cells] == [0, 1]


def test_the_page_shows_who_administers_a_collection_only_that_collection_and_its_people() -> None:
    mine, other = new_collection(), new_collection()
    chief, member, stranger = make_user("課長"), make_user("係員"), make_user("他課")
    group, theirs = Group.objects.create(name="審査課"), Group.objects.create(name="他の課")
    grant(chief, Role.ADMINISTRATOR, mine)
    grant(member, Role.READER, mine)
    for where in (mine, other):
        CollectionGrant.objects.create(group=group, collection=where, role=Role.READER)
    CollectionGrant.objects.create(group=theirs, collection=other, role=Role.READER)
    grant(stranger, Role.READER, other)
    shown = page(chief)
    assert "係員" in shown
    assert "審査課" in shown
    assert reverse("admin:hub_collection_grants", args=[mine.slug]) in shown
    for hidden in ("他課", "他の課", other.slug):
        assert hidden not in shown
    line = AuditEvent.objects.filter(action="RIGHTS_READ", resource="people").latest("pk")
    assert set(line.details["names"]) == {"課長", "係員"}


def test_who_administers_people_and_no_collection_is_shown_the_roles_of_the_hub() -> None:
    boss, curator, member = (make_user(name) for name in ("人事", "編集", "班員"))
    make_holder(boss, HubRole.USER_ADMINISTRATOR)
    group = Group.objects.create(name="編集班")
    group.user_set.add(member)
    make_holder(curator, HubRole.CURATOR)
    HubRoleGrant.objects.create(group=group, role=HubRole.CURATOR)
    shown = page(boss)
    label = str(HubRole.CURATOR.label)
    assert shown.count(f">{label}</span>") == 3
    assert '<span class="hub-second">編集班</span>' in shown
    assert "表示できるコレクションがありません" in shown
    own = new_collection()
    grant(curator, Role.ADMINISTRATOR, own)
    assert f">{label}</span>" not in page(curator)


def test_names_are_written_as_their_people_write_them() -> None:
    boss = make_user("総括", is_superuser=True)
    new_user(username="sato", first_name="花子", last_name="佐藤")
    new_user(username="jsmith", first_name="John", last_name="Smith")
    shown = page(boss)
    assert "佐藤 花子" in shown
    assert "John Smith" in shown


@pytest.mark.parametrize("asked", ["sato", "佐藤", "花子", "佐藤 花子", "花子\u3000佐藤", "佐藤花子"])
def test_people_are_found_by_the_names_that_the_page_shows(asked: str) -> None:
    sato = new_user(username="h-sato", last_name="佐藤", first_name="花子", email="kakusu@example.jp")
    other = new_user(username="t-suzuki", last_name="鈴木", first_name="太郎")
    boss = make_user("総括", is_superuser=True)
    address = {one: reverse("admin:hub_rights_of", args=[one.pk]) for one in (sato, other)}
    shown = page(boss, q=asked)
    assert [address[one] in shown for one in (sato, other)] == [True, False]
    assert address[sato] not in page(boss, q="kakusu")  # the page does not show it
    assert address[sato] not in page(boss, q="佐藤 太郎")


def test_five_hundred_people_and_a_hundred_collections_take_the_statements_of_a_few() -> None:
    boss = make_user("総括", is_superuser=True)

    def add(people: int, collections: int) -> None:
        made = User.objects.bulk_create(User(username=f"p{people}-{number}") for number in range(people))
        where = Collection.objects.bulk_create(
            Collection(slug=f"c{collections}-{number}", name=f"集{number}") for number in range(collections)
        )
        CollectionGrant.objects.bulk_create(
            CollectionGrant(user=user, collection=where[number % collections], role=Role.READER)
            for number, user in enumerate(made)
        )

    def statements(**query: Any) -> int:
        client = client_of(boss)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(reverse("admin:hub_rights"), query).status_code == 200
        return len(queries)

    add(3, 2)
    few = statements()
    add(500, 100)
    assert statements() == few
    assert statements(page=5, columns=3) == few
    assert "?page=4&amp;columns=2" not in page(boss)
    assert "columns=2&amp;page=3" in page(boss, columns="2", page="2")


def test_a_part_of_the_name_finds_people_groups_and_collections() -> None:
    boss = make_user("総括", is_superuser=True)
    Collection.objects.create(slug="keiyaku", name="契約書")
    new_collection()
    make_user("佐藤")
    Group.objects.create(name="佐藤班")
    shown = page(boss, q="佐藤", c="契約")
    assert shown.count("佐藤班") == 1
    assert "総括" not in shown.split("<table")[1].split("</table>")[0]
    assert shown.split("<thead>")[1].split("</thead>")[0].count('scope="col"') == 3


def test_what_a_person_does_not_see_names_who_gives_roles_there() -> None:
    seen, closed, high = new_collection(), new_collection(), new_collection(classification=Classification.C3)
    person, owner = new_user(), new_user()
    grant(person, Role.READER, seen)
    grant(person, Role.READER, high)
    grant(owner, Role.ADMINISTRATOR, closed)
    boss = principal_for_user(make_user("総括", is_superuser=True))
    found = {one.collection: one for one in whom_to_ask(person, list(unseen_collections(boss, person)))}
    assert seen not in found
    assert (found[closed].owners, found[closed].is_above_ceiling) == ((owner.username,), False)
    assert (found[high].owners, found[high].is_above_ceiling) == ((), True)
    administrator = new_user()
    make_holder(administrator, HubRole.USER_ADMINISTRATOR)
    assert not unseen_collections(principal_for_user(administrator), person).exists()
    shown = client_of(User.objects.get(username="総括")).get(reverse("admin:hub_rights_of", args=[person.pk]))
    assert owner.username in shown.content.decode()
