"""Roles of the whole hub: given by administrators, found with the token, and what they let a person do."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from hub.access.models import AuditEvent, HubRoleGrant
from hub.access.principals import ALL_SCOPES, HubRight, HubRole, Role, Scope, local_operator, system_principal
from hub.access.services import authenticate, create_token, principal_for_user, usable_scopes
from hub.core.errors import Forbidden, Unauthenticated
from knowledge.grants import curators_without_hub_role
from knowledge.models import Collection
from tests.factories import hub_curator, make_hub_curator, new_user, principal_with
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db


def token_of(user):
    return create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES - {Scope.ADMIN})[1]


def test_a_role_in_a_collection_brings_no_role_of_the_hub():
    collection = Collection.objects.get(slug="default")
    for role in Role:
        principal = principal_with(role, collection)
        assert not principal.hub_roles
        with pytest.raises(Forbidden, match="管理者") as refused:
            principal.require_hub(HubRight.MASTERS)
        assert refused.value.error_code == "hub_role_needed"


def test_superusers_the_operator_and_the_hubs_own_tasks_have_every_role():
    for principal in (
        principal_for_user(new_user(is_superuser=True)),
        local_operator(),
        system_principal("nightly"),
    ):
        for right in HubRight:
            principal.require_hub(right)


def test_a_token_brings_the_hub_roles_of_its_owner_and_of_their_groups_in_the_same_query(django_assert_num_queries):
    by_group, directly = new_user(), make_hub_curator(new_user())
    group = Group.objects.create(name="品質支援室")
    by_group.groups.add(group)
    HubRoleGrant.objects.create(group=group, role=HubRole.CURATOR)
    for user in (by_group, directly):
        token = token_of(user)
        authenticate(token)  # writes when it was last used
        with django_assert_num_queries(1):
            principal = authenticate(token)
        assert principal.hub_roles == {HubRole.CURATOR}
        with django_assert_num_queries(1):
            assert principal_for_user(user).hub_roles == {HubRole.CURATOR}
    assert not authenticate(token_of(new_user())).hub_roles


def test_a_token_without_the_scope_curate_changes_nothing_of_the_hub():
    user = make_hub_curator(new_user())
    token = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset({Scope.READ}))[1]
    principal = authenticate(token)
    assert not principal.may(HubRight.MASTERS)
    with pytest.raises(Forbidden, match="curate"):
        principal.require_hub(HubRight.MASTERS)


def test_a_role_that_was_taken_back_is_gone_from_the_next_call_on():
    user = make_hub_curator(new_user())
    token = token_of(user)
    assert authenticate(token).may(HubRight.MASTERS)
    user.hub_role_grants.all().delete()
    assert not authenticate(token).may(HubRight.MASTERS)


def test_a_hub_role_is_for_a_user_or_a_group_and_given_once():
    user = make_hub_curator(new_user())
    for wrong in (HubRoleGrant(role="curator"), HubRoleGrant(user=user, role="curator")):
        with pytest.raises(ValidationError):
            wrong.full_clean()


def test_administrators_give_hub_roles_in_the_admin_and_nobody_else():
    page = reverse("admin:access_hubrolegrant_add")
    user = make_user("鈴木")
    asked = {"user": user.pk, "group": "", "role": "curator"}
    curator = make_hub_curator(make_user("担当"))
    assert client_of(curator).post(page, asked).status_code == 403
    assert not user.hub_role_grants.exists()
    admin = client_of(make_user("管理", is_superuser=True))
    assert admin.post(page, asked).status_code == 302
    assert principal_for_user(user).may(HubRight.MASTERS)
    row = user.hub_role_grants.get()
    taken = admin.post(reverse("admin:access_hubrolegrant_delete", args=[row.pk]), {"post": "yes"})
    assert taken.status_code == 302
    assert not principal_for_user(user).may(HubRight.MASTERS)
    lines = AuditEvent.objects.filter(resource="hub_roles").order_by("pk").values_list("details", flat=True)
    assert [sorted(line) for line in lines] == [["granted", "reason", "replaced"], ["withdrawn"]]


def test_doctor_names_whom_an_upgrade_took_the_masters_from_until_somebody_has_the_role(capsys):
    collection = Collection.objects.get(slug="default")
    curator, by_group = new_user(username="sato"), new_user(username="tanaka")
    group = Group.objects.create(name="品質支援室")
    by_group.groups.add(group)
    collection.grants.create(user=curator, role=Role.CURATOR)
    collection.grants.create(group=group, role=Role.ADMINISTRATOR)
    collection.grants.create(user=new_user(username="reader"), role=Role.READER)
    collection.grants.create(user=new_user(username="root", is_superuser=True), role=Role.CURATOR)
    assert curators_without_hub_role() == ["sato", "tanaka"]
    with suppress(SystemExit):
        call_command("doctor")
    assert "sato, tanaka" in capsys.readouterr().out
    make_hub_curator(curator)
    assert curators_without_hub_role() == []


def test_people_give_their_own_tokens_only_what_their_roles_can_use():
    collection = Collection.objects.get(slug="default")
    assert usable_scopes(principal_with(None, collection)) == frozenset()
    assert usable_scopes(principal_with(Role.READER, collection)) == {Scope.READ, Scope.SEARCH}
    assert usable_scopes(hub_curator()) == {Scope.READ, Scope.SEARCH, Scope.CURATE}
    administrator = principal_with(Role.ADMINISTRATOR, collection)
    assert usable_scopes(administrator) == ALL_SCOPES
    assert usable_scopes(local_operator()) == ALL_SCOPES


def test_somebody_without_any_role_makes_no_token_at_any_door():
    user = make_user("外部")
    with pytest.raises(Forbidden) as refused:
        create_token(principal=principal_for_user(user), user=user, name="x", scopes=frozenset({Scope.CURATE}))
    assert refused.value.error_code == "scopes_not_usable"
    page = reverse("admin:access_accesstoken_add")
    asked = {"name": "x", "scopes": ["curate"], "expires_at_0": "", "expires_at_1": ""}
    assert client_of(user).get(page).status_code == 403
    assert client_of(user).post(page, asked).status_code == 403
    assert not user.access_tokens.exists()


def test_the_admin_offers_the_scopes_that_a_persons_roles_can_use():
    user = make_user("閲覧")
    Collection.objects.get(slug="default").grants.create(user=user, role=Role.READER)
    client, page = client_of(user), reverse("admin:access_accesstoken_add")
    shown = client.get(page).content.decode()
    assert 'value="search"' in shown
    assert 'value="curate"' not in shown
    asked = {"name": "x", "scopes": ["read", "curate"], "expires_at_0": "", "expires_at_1": ""}
    assert client.post(page, asked).status_code == 200, "the form comes back with an error"
    assert not user.access_tokens.exists()


def test_who_was_deleted_behind_a_session_has_no_rights():
    person = make_user("office")
    User.objects.filter(pk=person.pk).delete()
    with pytest.raises(Unauthenticated):
        principal_for_user(person)
