"""Administering people without rising: what a user administrator does, and what stays with superusers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from hub.access.models import AccessToken, AuditEvent, Clearance, HubRoleGrant
from hub.access.people import check_groups, may_set_password, save_ceiling, save_hub_role, withdraw_hub_role
from hub.access.principals import ALL_SCOPES, Classification, HubRole, Role, Scope, local_operator
from hub.access.provider_models import ProviderAccount
from hub.access.services import create_token, principal_for_user, revoke_token
from hub.access.sign_in import end_wait
from hub.core.errors import Forbidden, NotFound
from knowledge.models import Collection
from tests.factories import make_holder, new_user
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return make_holder(make_user("人事"), HubRole.USER_ADMINISTRATOR)


@pytest.fixture
def root():
    return make_user("root", is_superuser=True)


def refused(code, act, **given):
    with pytest.raises(Forbidden) as error:
        act(**given)
    assert error.value.error_code == code


def test_a_user_administrator_gives_and_takes_roles_of_the_hub_but_not_that_one_and_not_to_themselves(manager):
    principal, other = principal_for_user(manager), new_user()
    own_group, group = Group.objects.create(name="管理課"), Group.objects.create(name="課")
    manager.groups.add(own_group)
    principal = principal_for_user(manager)
    row = save_hub_role(principal=principal, grant=HubRoleGrant(user=other, role=HubRole.OPERATOR))
    assert principal_for_user(other).hub_roles == {HubRole.OPERATOR}
    save_hub_role(principal=principal, grant=HubRoleGrant(group=group, role=HubRole.AUDITOR))
    withdraw_hub_role(principal=principal, grant=row)
    assert not principal_for_user(other).hub_roles
    for holder in ({"user": manager}, {"group": own_group}):
        grant = HubRoleGrant(**holder, role=HubRole.OPERATOR)
        refused("own_rights", save_hub_role, principal=principal, grant=grant)
    for holder in ({"user": other}, {"group": group}):
        grant = HubRoleGrant(**holder, role=HubRole.USER_ADMINISTRATOR)
        refused("superuser_needed", save_hub_role, principal=principal, grant=grant)


def test_a_grant_is_not_turned_into_what_may_not_be_given(manager):
    principal = principal_for_user(manager)
    row = save_hub_role(principal=principal, grant=HubRoleGrant(user=new_user(), role=HubRole.OPERATOR))
    row.role = HubRole.USER_ADMINISTRATOR
    refused("superuser_needed", save_hub_role, principal=principal, grant=row)
    row.role, row.user = HubRole.OPERATOR, manager
    refused("own_rights", save_hub_role, principal=principal, grant=row)
    theirs = HubRoleGrant.objects.get(user=manager)
    theirs.user = new_user()
    refused("superuser_needed", save_hub_role, principal=principal, grant=theirs)


def test_nobody_is_put_into_a_group_that_carries_what_the_giver_may_not_give(manager):
    principal, other = principal_for_user(manager), new_user()
    plain, of_others, high = (Group.objects.create(name=name) for name in ("課", "閲覧", "管理"))
    collection = Collection.objects.get(slug="default")
    collection.grants.create(group=of_others, role=Role.READER)
    HubRoleGrant.objects.create(group=high, role=HubRole.USER_ADMINISTRATOR)
    check_groups(principal, other, [plain])
    refused("group_carries_more", check_groups, principal=principal, user=other, groups=[of_others])
    refused("group_carries_more", check_groups, principal=principal, user=other, groups=[plain, high])
    refused("own_rights", check_groups, principal=principal, user=manager, groups=[plain])
    collection.grants.create(user=manager, role=Role.ADMINISTRATOR)
    check_groups(principal, other, [of_others])


def test_nobodys_ceiling_rises_above_that_of_who_sets_it_and_ones_own_is_set_by_others(manager, root):
    principal, other = principal_for_user(manager), new_user()
    save_ceiling(principal=principal, clearance=Clearance(user=other, ceiling=Classification.C1))
    assert principal_for_user(other).ceiling == Classification.C1
    for code, user, ceiling in (
        ("above_own_ceiling", new_user(), Classification.C3),
        ("own_rights", manager, Classification.C1),
        ("superuser_needed", root, Classification.C1),
    ):
        refused(code, save_ceiling, principal=principal, clearance=Clearance(user=user, ceiling=ceiling))


def test_tokens_of_others_are_revoked_but_not_made_and_superusers_keep_theirs(manager, root):
    principal, other = principal_for_user(manager), new_user()
    made = {
        user: create_token(principal=local_operator(), user=user, name="x", scopes=ALL_SCOPES)[0]
        for user in (other, root)
    }
    assert revoke_token(principal=principal, token_id=made[other].pk).revoked_at
    with pytest.raises(NotFound):
        revoke_token(principal=principal, token_id=made[root].pk)
    with pytest.raises(Forbidden):
        create_token(principal=principal, user=other, name="x", scopes=frozenset({Scope.READ}))
    shown = client_of(manager).get(reverse("admin:access_accesstoken_changelist")).context_data["cl"].queryset
    assert set(shown) == {made[other]}
    with pytest.raises(Forbidden):
        end_wait(principal=principal, username=root.username)


def account(user, **changes):
    """What the form of an account sends."""
    fields = {"username": user.username, "first_name": "", "last_name": "", "email": "", "is_staff": "on"}
    return {**fields, "is_active": "on", **changes}


def test_on_its_page_an_account_is_changed_by_a_user_administrator_and_never_raised(manager, root):
    other, browser = make_user("鈴木"), client_of(manager)
    page = reverse("admin:auth_user_change", args=[other.pk])
    assert browser.post(page, account(other, is_superuser="on", last_name="鈴木")).status_code == 302
    other.refresh_from_db()
    assert (other.last_name, other.is_superuser) == ("鈴木", False)
    high = Group.objects.create(name="管理")
    HubRoleGrant.objects.create(group=high, role=HubRole.USER_ADMINISTRATOR)
    assert browser.post(page, account(other, groups=[high.pk])).status_code == 200
    assert not other.groups.exists()
    assert AuditEvent.objects.filter(resource=f"user:{other.pk}", principal="人事").exists()
    for user in (root, manager):
        there = reverse("admin:auth_user_change", args=[user.pk])
        assert browser.get(there).status_code == 200
        assert browser.post(there, account(user, last_name="変更")).status_code == 403
        assert browser.get(reverse("admin:auth_user_password_change", args=[user.pk])).status_code == 403


def test_passwords_of_who_holds_a_role_of_the_hub_are_set_by_superusers_alone(manager, root):
    plain, curator = make_user("一般"), make_holder(make_user("担当"), HubRole.CURATOR)
    pages = {user: reverse("admin:auth_user_password_change", args=[user.pk]) for user in (plain, curator)}
    assert [client_of(manager).get(pages[user]).status_code for user in (plain, curator)] == [200, 403]
    assert client_of(root).get(pages[curator]).status_code == 200


def test_a_group_that_carries_roles_keeps_its_name(manager):
    group = Group.objects.create(name="閲覧")
    browser, page = client_of(manager), reverse("admin:auth_group_change", args=[group.pk])
    assert browser.post(page, {"name": "課"}).status_code == 302
    Collection.objects.get(slug="default").grants.create(group=group, role=Role.READER)
    browser.post(page, {"name": "全員"})
    group.refresh_from_db()
    assert group.name == "課"


def test_an_operator_and_an_auditor_have_no_say_over_people():
    browser = client_of(make_holder(make_user("運用"), HubRole.OPERATOR, HubRole.AUDITOR))
    for name in ("auth_user", "auth_group", "access_clearance", "access_hubrolegrant"):
        assert browser.get(reverse(f"admin:{name}_changelist")).status_code == 403
    assert not AccessToken.objects.exists()


def test_nobody_takes_over_who_sees_more_holds_more_or_comes_from_a_provider(manager):
    def may(user):
        return may_set_password(principal_for_user(manager), user)

    plain, cleared, holder, provided = (new_user() for _ in range(4))
    assert may(plain)
    Clearance.objects.create(user=cleared, ceiling=Classification.C3)
    grant(holder, Role.READER, Collection.objects.get(slug="default"))
    ProviderAccount.objects.create(user=provided, provider="p", subject="s")
    assert [may(one) for one in (cleared, holder, provided)] == [False, False, False]
