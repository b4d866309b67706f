"""Access tokens: shown once, stored as hashes, scoped, expiring, revocable."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from hub.access.models import AccessToken, AuditEvent, Clearance
from hub.access.principals import ALL_SCOPES, Classification, Scope, local_operator, parse_scopes
from hub.access.services import authenticate, create_token, local_principal, principal_for_user, revoke_token
from hub.core.errors import Forbidden, HubError, NotFound, Unauthenticated
from tests.factories import new_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return new_user()


def issue(user, **more) -> tuple[AccessToken, str]:
    scopes = more.pop("scopes", frozenset({Scope.READ, Scope.SEARCH}))
    return create_token(principal=local_operator(), user=user, name="test", scopes=scopes, **more)


def test_a_token_authenticates_its_owner_with_its_scopes_only(user):
    _row, token = issue(user)
    principal = authenticate(token)
    assert principal.user_id == user.pk
    assert principal.scopes == {Scope.READ, Scope.SEARCH}
    with pytest.raises(Forbidden, match="upload"):
        principal.require(Scope.UPLOAD)


def test_the_token_itself_is_not_stored(user):
    row, token = issue(user)
    stored = " ".join(str(value) for value in AccessToken.objects.filter(pk=row.pk).values_list()[0])
    assert token not in stored


@pytest.mark.parametrize("spoil", ["unknown", "expired", "revoked", "inactive", "surrogate"])
def test_every_useless_token_gets_the_same_answer(user, spoil):
    row, token = issue(user, expires_at=timezone.now() + timedelta(days=1))
    if spoil == "unknown":
        token = token[:-1] + ("A" if token[-1] != "A" else "B")
    elif spoil == "expired":
        AccessToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif spoil == "revoked":
        revoke_token(principal=local_operator(), token_id=row.pk)
    elif spoil == "inactive":
        type(user).objects.filter(pk=user.pk).update(is_active=False)
    else:
        token = "hub_\ud800"
    with pytest.raises(Unauthenticated) as caught:
        authenticate(token)
    assert caught.value.error_code == "unauthenticated"


def test_last_use_is_written_at_most_once_a_minute(user):
    row, token = issue(user)
    now = timezone.now()
    authenticate(token, now=now)
    authenticate(token, now=now + timedelta(seconds=30))
    row.refresh_from_db()
    assert row.last_used_at == now
    authenticate(token, now=now + timedelta(seconds=61))
    row.refresh_from_db()
    assert row.last_used_at == now + timedelta(seconds=61)


def test_authenticating_costs_one_query_and_one_write_a_minute(user, django_assert_max_num_queries):
    _row, token = issue(user)
    with django_assert_max_num_queries(2):
        authenticate(token)
    with django_assert_max_num_queries(1):
        authenticate(token)


def test_nobody_makes_a_token_that_can_do_more_than_they_can(user):
    _row, token = issue(user, scopes=frozenset({Scope.READ}))
    with pytest.raises(Forbidden, match="curate"):
        create_token(principal=authenticate(token), user=user, name="x", scopes=frozenset({Scope.CURATE}))


def test_only_an_administrator_makes_tokens_for_others(user):
    other = principal_for_user(new_user())
    with pytest.raises(Forbidden):
        create_token(principal=other, user=user, name="x", scopes=frozenset({Scope.READ}))


def test_the_scope_admin_alone_gives_nobody_a_say_over_the_tokens_of_others(user):
    """As with a reader's token that has the scope admin, at the command line: only superusers."""
    superuser, reader = new_user(is_superuser=True), new_user()
    theirs, _token = issue(superuser)
    _row, token = issue(reader, scopes=ALL_SCOPES)
    with pytest.raises(Forbidden):
        create_token(principal=authenticate(token), user=superuser, name="x", scopes=frozenset({Scope.READ}))
    with pytest.raises(NotFound):
        revoke_token(principal=authenticate(token), token_id=theirs.pk)
    for arguments in (
        ["create", "--user", superuser.username, "--scopes", "admin"],
        ["list"],
        ["revoke", str(theirs.pk)],
    ):
        with pytest.raises((HubError, CommandError)):
            call_command("token", *arguments, "--token", token)
    assert superuser.access_tokens.get().revoked_at is None
    _row, limited = issue(superuser)
    with pytest.raises(Forbidden, match="admin"):
        create_token(principal=authenticate(limited), user=reader, name="x", scopes=frozenset({Scope.READ}))


def test_a_token_of_another_person_can_not_be_revoked_or_noticed(user):
    row, _token = issue(user)
    with pytest.raises(NotFound):
        revoke_token(principal=principal_for_user(new_user()), token_id=row.pk)


def test_the_ceiling_is_c2_unless_a_clearance_says_otherwise(user):
    assert principal_for_user(user).ceiling == Classification.C2
    Clearance.objects.create(user=user, ceiling=Classification.C3)
    assert principal_for_user(user).ceiling == Classification.C3


def test_making_and_revoking_tokens_is_in_the_audit_trail(user):
    row, _token = issue(user)
    revoke_token(principal=local_operator(), token_id=row.pk)
    revoke_token(principal=local_operator(), token_id=row.pk)
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True)) == ["TOKEN_CREATE", "TOKEN_REVOKE"]


def test_unknown_scopes_are_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"fly.*known: read"):
        parse_scopes(["read", "fly"])


def test_on_an_embedded_database_the_command_line_is_the_operator(settings):
    settings.EMBEDDED_DATABASE = True
    assert local_principal().scopes == ALL_SCOPES


def test_on_a_shared_database_the_command_line_needs_a_token(settings, user):
    settings.EMBEDDED_DATABASE = False
    with pytest.raises(Unauthenticated, match="HUB_TOKEN"):
        local_principal()
    _row, token = issue(user)
    assert local_principal(token).user_id == user.pk


def test_a_token_costs_one_query_and_brings_its_owners_groups_and_ceiling(user, django_assert_num_queries):
    row, token = issue(user)
    group = Group.objects.create(name="審査班")
    user.groups.add(group)
    Clearance.objects.create(user=user, ceiling=Classification.C3)
    authenticate(token)  # writes when it was last used
    with django_assert_num_queries(1):
        principal = authenticate(token)
    assert (principal.group_ids, principal.ceiling) == (frozenset({group.pk}), Classification.C3)
    assert (principal.name, principal.token_id) == (user.username, row.pk)
