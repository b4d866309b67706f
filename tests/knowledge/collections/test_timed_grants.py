"""Grants that end, and roles that people hand on: what counts, by the database's clock, in the next query."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from hub.access.models import AuditEvent, HubRoleGrant
from hub.access.people import delegate_hub_role, save_hub_role
from hub.access.principals import ALL_SCOPES, HubRole, Role, Scope, local_operator
from hub.access.services import authenticate, create_token, principal_for_user
from hub.core.errors import Conflict, Forbidden, InvalidInput
from knowledge.grants import (
    Grantee,
    carried_by_groups,
    carried_by_person,
    delegate_role,
    grant_role,
    withdraw_role,
)
from knowledge.models import Collection, CollectionGrant
from tests.factories import make_holder, new_user, principal_with

pytestmark = pytest.mark.django_db
SOON, PAST = timedelta(hours=1), timedelta(seconds=-1)


@pytest.fixture
def collection():
    return Collection.objects.get(slug="default")


def sees(principal, scope=Scope.READ):
    return Collection.objects.visible_to(principal, scope).exists()


def end(rows):
    assert rows.update(until=timezone.now() + PAST)


def test_a_grant_counts_until_its_end_and_no_longer(collection):
    reader = principal_with(None, collection)
    to = Grantee(user=reader.name)
    grant_role(principal=local_operator(), slug="default", to=to, role=Role.READER, until=timezone.now() + SOON)
    assert sees(reader)
    end(CollectionGrant.objects.filter(user=reader.user_id))
    assert not sees(reader)
    past = timezone.now() + PAST
    with pytest.raises(InvalidInput):
        grant_role(principal=local_operator(), slug="default", to=to, role=Role.READER, until=past)
    grant_role(principal=local_operator(), slug="default", to=to, role=Role.READER)
    assert sees(reader), "given again, for good"


def test_a_role_of_the_hub_ends_at_the_same_one_query_of_a_token(django_assert_num_queries):
    user = new_user()
    grant = HubRoleGrant(user=user, role=HubRole.OPERATOR, until=timezone.now() + SOON)
    save_hub_role(principal=local_operator(), grant=grant)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    authenticate(token)
    with django_assert_num_queries(1):
        assert authenticate(token).hub_roles == {HubRole.OPERATOR}
    end(HubRoleGrant.objects.all())
    assert not authenticate(token).hub_roles


def test_who_administers_because_it_was_handed_on_puts_nobody_into_a_group_with_roles_there(collection):
    giver, taker = principal_with(Role.ADMINISTRATOR, collection), principal_with(None, collection)
    until = timezone.now() + SOON
    delegate_role(principal=giver, slug="default", to=taker.name, role=Role.ADMINISTRATOR, until=until)
    group, member = Group.objects.create(name="審査課"), new_user()
    CollectionGrant.objects.create(collection=collection, group=group, role=Role.READER)
    member.groups.add(group)
    assert sees(taker, Scope.ADMIN)
    for who, may in ((giver, True), (taker, False), (local_operator(), True)):
        assert (not carried_by_groups(who, [group.pk])) == may
        assert (not carried_by_person(who, member.pk)) == may


def test_a_role_that_was_handed_on_lasts_as_long_as_its_giver_has_it(collection):
    giver, taker = principal_with(Role.CURATOR, collection), principal_with(None, collection)
    until = timezone.now() + SOON
    delegate_role(principal=giver, slug="default", to=taker.name, role=Role.CURATOR, until=until)
    assert sees(taker, Scope.CURATE)
    line = AuditEvent.objects.filter(details__has_key="delegated").latest("pk")
    assert (line.details["by"], line.details["to"]) == (giver.name, taker.name)
    own = CollectionGrant.objects.filter(user=giver.user_id)
    for change, back in (
        (lambda: own.update(until=timezone.now() + PAST), lambda: own.update(until=None)),
        (
            lambda: User.objects.filter(pk=giver.user_id).update(is_active=False),
            lambda: User.objects.filter(pk=giver.user_id).update(is_active=True),
        ),
    ):
        change()
        assert not sees(taker, Scope.CURATE)
        back()
        assert sees(taker, Scope.CURATE)
    withdraw_role(principal=local_operator(), slug="default", to=Grantee(user=giver.name), role=Role.CURATOR)
    assert not sees(taker)


def test_what_was_handed_on_is_not_handed_on_and_gives_no_roles(collection):
    giver, taker, third = (principal_with(role, collection) for role in (Role.ADMINISTRATOR, None, None))
    until = timezone.now() + SOON
    asked: dict[str, Any] = {"slug": "default", "role": Role.ADMINISTRATOR, "until": until}
    delegate_role(principal=giver, to=taker.name, **asked)
    with pytest.raises(Forbidden) as refused:
        delegate_role(principal=taker, to=third.name, **asked)
    assert refused.value.error_code == "not_your_role"
    for to in (taker.name, third.name):
        with pytest.raises(Forbidden):
            grant_role(principal=taker, slug="default", to=Grantee(user=to), role=Role.READER)
    with pytest.raises(Conflict):  # who has it handed on does not count as somebody who administers it
        withdraw_role(principal=giver, slug="default", to=Grantee(user=giver.name), role=Role.ADMINISTRATOR)


def test_a_role_of_the_hub_is_handed_on_but_never_that_of_a_user_administrator():
    user, other = make_holder(new_user(), HubRole.OPERATOR, HubRole.USER_ADMINISTRATOR), new_user()
    giver, until = principal_for_user(user), timezone.now() + SOON
    delegate_hub_role(principal=giver, to=other, role=HubRole.OPERATOR, until=until)
    assert principal_for_user(other).hub_roles == {HubRole.OPERATOR}
    with pytest.raises(Forbidden):
        delegate_hub_role(principal=giver, to=other, role=HubRole.USER_ADMINISTRATOR, until=until)
    with pytest.raises(InvalidInput):
        delegate_hub_role(principal=giver, to=user, role=HubRole.OPERATOR, until=until)
    HubRoleGrant.objects.filter(user=user).delete()
    assert not principal_for_user(other).hub_roles


def test_a_call_without_the_scopes_of_a_role_does_not_hand_it_on(collection):
    giver, taker = principal_with(Role.ADMINISTRATOR, collection), principal_with(None, collection)
    asked: dict[str, Any] = {"slug": "default", "to": taker.name, "until": timezone.now() + SOON}
    with pytest.raises(Forbidden):
        delegate_role(principal=replace(giver, scopes=frozenset({Scope.READ})), role=Role.ADMINISTRATOR, **asked)
    assert not sees(taker)
