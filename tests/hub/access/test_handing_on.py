"""Roles of the hub that are given, handed on and ended: what is refused, and what repeating it does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError
from django.utils import timezone

from hub.access import people
from hub.access.models import AuditEvent, Clearance, HubRoleGrant
from hub.access.people import (
    LONGEST_DELEGATION,
    check_group_may_change,
    delegate_hub_role,
    end_hub_role,
    give_hub_role,
    remove_ceiling,
    save_ceiling,
)
from hub.access.principals import Classification, HubRole, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Conflict, Forbidden, HubError, InvalidInput, NotFound
from tests.factories import make_holder, new_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator() -> User:
    return make_holder(new_user(username="整備"), HubRole.CURATOR)


def hand_on(giver: User, to: User, **given: Any) -> HubRoleGrant:
    wanted = {"role": HubRole.CURATOR, "until": timezone.now() + timedelta(days=7), **given}
    return delegate_hub_role(principal=principal_for_user(giver), to=to, **wanted)


def test_nothing_is_handed_on_to_oneself_to_who_may_not_sign_in_for_too_long_or_into_the_past(curator):
    other, gone = new_user(), new_user()
    User.objects.filter(pk=gone.pk).update(is_active=False)
    gone.refresh_from_db()
    now = timezone.now()
    refused: list[tuple[str, dict[str, Any]]] = [
        ("user", {"to": curator}),
        ("user", {"to": gone}),
        ("until", {"to": other, "until": now - timedelta(seconds=1)}),
        ("until", {"to": other, "until": now + LONGEST_DELEGATION + timedelta(minutes=1)}),
    ]
    for field, given in refused:
        with pytest.raises(InvalidInput) as error:
            hand_on(curator, **given)
        assert error.value.data["field"] == field, given
    assert HubRoleGrant.objects.get().user == curator


def test_who_has_the_role_by_another_gets_it_from_nobody_else_and_what_was_handed_on_is_prolonged(curator):
    holder, other = make_holder(new_user(), HubRole.CURATOR), new_user()
    with pytest.raises(Conflict) as error:
        hand_on(curator, holder)
    assert error.value.error_code == "has_role"
    first = hand_on(curator, other)
    later = timezone.now() + timedelta(days=30)
    assert hand_on(curator, other, until=later).pk == first.pk
    assert HubRoleGrant.objects.get(user=other).until == later
    with pytest.raises(Conflict) as error:
        hand_on(holder, other)
    assert error.value.error_code == "has_role"


def test_a_role_is_ended_once_and_what_is_not_there_is_told(curator):
    grant, root = HubRoleGrant.objects.get(user=curator), principal_for_user(new_user(is_superuser=True))
    for _time in range(2):
        assert end_hub_role(principal=root, grant_id=grant.pk).ended_by_id == root.user_id
    assert AuditEvent.objects.filter(details__has_key="ended").count() == 1
    with pytest.raises(NotFound) as error:
        end_hub_role(principal=root, grant_id=0)
    assert error.value.error_code == "grant_not_found"


def test_who_gives_a_role_that_somebody_else_gives_just_now_is_told_to_look_again(monkeypatch):
    def given_by_another(**_given: Any) -> HubRoleGrant:
        raise IntegrityError("duplicate key")

    monkeypatch.setattr(people, "save_hub_role", given_by_another)
    with pytest.raises(Conflict) as error:
        give_hub_role(principal=local_operator(), role=HubRole.CURATOR, user=new_user())
    assert error.value.error_code == "given_meanwhile"


def test_a_group_that_carries_a_role_is_renamed_by_superusers_alone():
    manager = principal_for_user(make_holder(new_user(), HubRole.USER_ADMINISTRATOR))
    plain, carrying = Group.objects.create(name="課"), Group.objects.create(name="運用")
    HubRoleGrant.objects.create(group=carrying, role=HubRole.OPERATOR)
    check_group_may_change(manager, plain)
    check_group_may_change(principal_for_user(new_user(is_superuser=True)), carrying)
    with pytest.raises(Forbidden) as error:
        check_group_may_change(manager, carrying)
    assert error.value.error_code == "group_carries_more"
    with pytest.raises(Forbidden):
        check_group_may_change(principal_for_user(new_user()), plain)


def test_a_ceiling_goes_to_another_person_only_where_both_may_be_changed_and_the_default_comes_back():
    manager = make_holder(new_user(), HubRole.USER_ADMINISTRATOR)
    principal, other, root = principal_for_user(manager), new_user(), new_user(is_superuser=True)
    ours = Clearance.objects.create(user=other, ceiling=Classification.C1)
    theirs = Clearance.objects.create(user=root, ceiling=Classification.C1)
    theirs.user = other
    with pytest.raises(HubError) as error:
        save_ceiling(principal=principal, clearance=theirs)
    assert error.value.error_code == "superuser_needed"
    remove_ceiling(principal=principal, clearance=ours)
    assert principal_for_user(other).ceiling == Classification.C2
    assert AuditEvent.objects.latest("pk").details["ceiling"] == "default"
    with pytest.raises(Forbidden):
        remove_ceiling(principal=principal, clearance=Clearance.objects.get(user=root))
    save_ceiling(principal=principal_for_user(root), clearance=Clearance(user=other, ceiling=Classification.C3))
    assert principal_for_user(other).ceiling == Classification.C3
