"""What one person may do, and why: what is said is what decides, and nobody is shown more than they may be."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent, Clearance, HubRoleGrant
from hub.access.people import delegate_hub_role
from hub.access.principals import Classification, HubRight, HubRole, Role, Scope, local_operator
from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.services import principal_for_user
from hub.core.errors import Forbidden, NotFound
from hub.evaluation.models import EvaluationDataset
from hub.people.rights import ReasonKind, find_person, people_shown_to, rights_of_person
from knowledge.grants import delegate_role
from knowledge.models import Collection, CollectionGrant
from tests.factories import make_holder, new_collection, new_user
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db
SOON = timedelta(hours=1)


def user_administrator():
    user = new_user()
    HubRoleGrant.objects.create(user=user, role=HubRole.USER_ADMINISTRATOR)
    return principal_for_user(user)


def the_one(found, slug):
    (one,) = [one for one in found.collections if one.slug == slug]
    return one


def people_of_every_kind():
    """People with roles of every kind in several collections, of which some are classified above some ceilings."""
    collections = [new_collection(classification=level) for level in Classification]
    group = Group.objects.create(name="審査課")
    made = [new_user(), new_user(is_superuser=True), new_user(is_superuser=True)]
    Clearance.objects.create(user=made[2], ceiling=Classification.C1)
    for number, role in enumerate(Role):
        own, member = new_user(), new_user()
        CollectionGrant.objects.create(collection=collections[number % 3], user=own, role=role)
        ended = Role.READER if role == Role.ADMINISTRATOR else Role.ADMINISTRATOR
        CollectionGrant.objects.create(collection=collections[0], user=own, role=ended, until=timezone.now())
        CollectionGrant.objects.create(collection=collections[(number + 1) % 3], group=group, role=role)
        member.groups.add(group)
        Clearance.objects.create(user=member, ceiling=1 + number % 3)
        made += [own, member]
    for hub_role in HubRole:
        user = new_user()
        HubRoleGrant.objects.create(user=user, role=hub_role)
        made.append(user)
    delegate = new_user()
    until = timezone.now() + SOON
    giver = User.objects.get(pk=made[3].pk)
    given = CollectionGrant.objects.get(user=giver, until=None)
    delegate_role(
        principal=principal_for_user(giver),
        slug=given.collection.slug,
        to=delegate.username,
        role=given.role,
        until=until,
    )
    return [*made, delegate]


def test_what_is_said_of_everybody_is_what_decides():
    people = people_of_every_kind()
    decided_hub = decided = 0
    for user in people:
        said, person = rights_of_person(local_operator(), user), principal_for_user(user)
        assert {one.right for one in said.hub} == person.hub_rights
        decided_hub += len(said.hub)
        for scope in Scope:
            allowed = set(Collection.objects.visible_to(person, scope).values_list("slug", flat=True))
            assert {one.slug for one in said.collections if scope in one.scopes} == allowed, (user, scope)
            decided += len(allowed)
        assert all(one.reasons for one in said.hub)
        assert all(one.reasons for one in said.collections)
    assert decided_hub > 20
    assert decided > 40


def test_each_reason_is_named_with_its_end():
    collection, group, user, giver = new_collection(), Group.objects.create(name="審査課"), new_user(), new_user()
    brought = Group.objects.create(name="庁内")
    until = timezone.now() + SOON
    user.groups.add(group, brought)
    ProviderAccount.objects.create(user=user, provider="office", subject="s", groups=["qa", "x"])
    ProviderGroup.objects.create(provider="office", value="qa", group=brought, ceiling=Classification.C3)
    ProviderGroup.objects.create(provider="office", value="others", group=group)
    Clearance.objects.create(user=user, ceiling=Classification.C3)
    CollectionGrant.objects.create(collection=collection, user=user, role=Role.READER, until=until)
    CollectionGrant.objects.create(collection=collection, group=group, role=Role.REVIEWER)
    CollectionGrant.objects.create(collection=collection, group=brought, role=Role.CURATOR)
    CollectionGrant.objects.create(collection=collection, user=giver, role=Role.AUDITOR)
    HubRoleGrant.objects.create(user=giver, role=HubRole.EVALUATOR)
    by_giver = principal_for_user(giver)
    delegate_role(principal=by_giver, slug=collection.slug, to=user.username, role=Role.AUDITOR, until=until)
    delegate_hub_role(principal=by_giver, to=user, role=HubRole.EVALUATOR, until=until)

    found = rights_of_person(local_operator(), user)
    reasons = {one.role: one for one in the_one(found, collection.slug).reasons}
    assert (reasons["reader"].kind, reasons["reader"].until) == (ReasonKind.OWN, until)
    assert (reasons["reviewer"].kind, reasons["reviewer"].by) == (ReasonKind.GROUP, "審査課")
    assert reasons["curator"].kind is ReasonKind.PROVIDER_GROUP
    assert reasons["curator"].provider_groups == ("office: qa",)
    assert (reasons["auditor"].kind, reasons["auditor"].by) == (ReasonKind.DELEGATION, giver.username)
    (of_hub,) = found.hub
    assert of_hub.right is HubRight.EVALUATION
    assert [one.kind for one in of_hub.reasons] == [ReasonKind.DELEGATION]
    assert "office: qa" in found.ceiling_reason

    CollectionGrant.objects.filter(user=giver).delete()
    HubRoleGrant.objects.filter(user=giver).delete()
    later = rights_of_person(local_operator(), user)
    assert "auditor" not in {one.role for one in the_one(later, collection.slug).reasons}
    assert later.hub == ()


def test_the_ceiling_takes_a_collection_away_and_an_account_that_is_closed_everything():
    collection, user = new_collection(classification=Classification.C3), new_user()
    CollectionGrant.objects.create(collection=collection, user=user, role=Role.READER)
    one = the_one(rights_of_person(local_operator(), user), collection.slug)
    assert (one.is_above_ceiling, one.scopes, [why.role for why in one.reasons]) == (True, (), ["reader"])
    for closed in (user, new_user(is_superuser=True)):
        User.objects.filter(pk=closed.pk).update(is_active=False)
        closed.refresh_from_db()
        said = rights_of_person(local_operator(), closed)
        assert (said.hub, said.collections, said.other_collections) == ((), (), 0)


def test_user_administrators_are_shown_counts_of_what_they_may_not_read():
    collection, user = new_collection(), new_user()
    CollectionGrant.objects.create(collection=collection, user=user, role=Role.READER)
    asking = user_administrator()
    said = rights_of_person(asking, find_person(asking, username=user.username))
    assert (said.collections, said.other_collections, said.ceiling) == ((), 1, Classification.C2)
    CollectionGrant.objects.create(collection=collection, user_id=asking.user_id, role=Role.READER)
    said = rights_of_person(asking, user)
    assert ([one.slug for one in said.collections], said.other_collections) == ([collection.slug], 0)


def test_who_administers_a_collection_is_shown_its_people_in_it_and_nothing_else():
    collection, other, user, stranger = new_collection(), new_collection(), new_user(), new_user()
    administrator = new_user()
    CollectionGrant.objects.create(collection=collection, user=administrator, role=Role.ADMINISTRATOR)
    CollectionGrant.objects.create(collection=other, user=administrator, role=Role.READER)
    for one in (collection, other):
        CollectionGrant.objects.create(collection=one, user=user, role=Role.READER)
    CollectionGrant.objects.create(collection=other, user=stranger, role=Role.READER)
    HubRoleGrant.objects.create(user=user, role=HubRole.OPERATOR)
    asking = principal_for_user(administrator)
    assert set(people_shown_to(asking)) == {administrator, user}
    said = rights_of_person(asking, find_person(asking, pk=user.pk))
    assert [one.slug for one in said.collections] == [collection.slug]
    assert (said.hub, said.ceiling, said.ceiling_reason, said.other_collections) == ((), None, "", None)
    for person in (stranger.pk, 0):
        with pytest.raises(NotFound):
            find_person(asking, pk=person)
    with pytest.raises(Forbidden):
        find_person(principal_for_user(user), pk=user.pk)


def test_who_asked_for_whose_rights_is_in_the_trail_and_queries_do_not_grow_with_the_collections():
    user, operator = new_user(), local_operator()
    counts = []
    for _round in range(2):
        for _number in range(5):
            CollectionGrant.objects.create(collection=new_collection(), user=user, role=Role.READER)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rights_of_person(operator, user)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    line = AuditEvent.objects.latest("pk")
    assert (line.action, line.resource, line.kind) == ("RIGHTS_READ", f"user:{user.pk}", "read")


def test_readers_of_datasets_are_named_to_who_reads_them_too_and_counted_to_others():
    user = new_user()
    mine, other = (EvaluationDataset.objects.create(code=code, name=code) for code in ("ours", "theirs"))
    mine.readers.add(user)
    other.readers.add(user)
    administrator = new_user()
    make_holder(administrator, HubRole.USER_ADMINISTRATOR)
    mine.readers.add(administrator)
    said = rights_of_person(principal_for_user(administrator), user)
    assert (said.datasets, said.other_datasets) == (("ours",), 1)
    user.is_active = False
    user.save()
    said = rights_of_person(principal_for_user(administrator), user)
    assert (said.datasets, said.other_datasets) == ((), 0)


def test_a_superusers_collections_are_shown_in_pages(monkeypatch):
    monkeypatch.setattr("hub.admin.rights_pages.COLLECTIONS_LISTED", 2)
    superuser = make_user("総括", is_superuser=True)
    slugs = [new_collection().slug for _number in range(3)]
    client = client_of(superuser)
    address = reverse("admin:hub_rights_of", args=[superuser.pk])
    pages = [client.get(address, {"page": str(number)}).content.decode() for number in (1, 2, "x")]
    assert "?page=2" in pages[0]
    assert all(any(f"{slug}," in page for page in pages) for slug in slugs)


def test_who_administers_a_collection_finds_the_page_in_the_menu():
    user = make_user("部長")
    front = reverse("admin:hub_assistants")  # of the same door of the menu, whose pages are listed there
    assert reverse("admin:hub_rights") not in client_of(user).get(front).content.decode()
    CollectionGrant.objects.create(collection=new_collection(), user=user, role=Role.ADMINISTRATOR)
    assert reverse("admin:hub_rights") in client_of(user).get(front).content.decode()
