"""`manage.py token`: what it makes, lists and revokes, and what it refuses."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from hub.access.models import AccessToken
from hub.access.principals import ALL_SCOPES, HubRole, Scope, local_operator
from hub.access.services import authenticate, create_token
from hub.core.errors import Unauthenticated
from tests.factories import make_holder, new_user

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    said = StringIO()
    call_command("token", *arguments, stdout=said)
    return said.getvalue()


def listed(*arguments: str) -> dict[str, str]:
    """The state of each token that the command lists, by the token's name."""
    rows = [line.split("\t") for line in run("list", *arguments).splitlines()]
    return {row[6]: row[4] for row in rows}


def test_a_token_is_made_listed_and_revoked():
    user = new_user(username="dave")
    plain = run("create", "--user", "dave", "--scopes", "read", "--expires", "7", "--name", "帳票").strip()
    assert authenticate(plain).scopes == {Scope.READ}
    told = json.loads(run("create", "--user", "dave", "--name", "機械", "--json"))
    assert authenticate(told["token"]).token_id == told["token_id"]
    old = create_token(principal=local_operator(), user=user, name="古い", scopes=frozenset({Scope.READ}))[0]
    AccessToken.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "revoked" in run("revoke", str(told["token_id"]))
    with pytest.raises(Unauthenticated):
        authenticate(told["token"])
    assert listed() == {"帳票": "active", "機械": "revoked", "古い": "expired"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["create", "--user", "nobody"], "nobody"),
        (["create", "--user", "dave", "--scopes", "read,fly"], "fly"),
        (["revoke"], "by its number"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_made(arguments, named):
    new_user(username="dave")
    with pytest.raises(CommandError, match=named):
        run(*arguments)
    assert not AccessToken.objects.exists()


def test_the_list_is_of_one_person_where_one_is_named_and_names_no_superuser_to_others():
    root, dave = new_user(username="root", is_superuser=True), new_user(username="dave")
    manager = make_holder(new_user(username="人事"), HubRole.USER_ADMINISTRATOR)
    tokens = {
        user.username: create_token(principal=local_operator(), user=user, name=user.username, scopes=ALL_SCOPES)[1]
        for user in (root, dave, manager)
    }
    assert set(listed()) == {"root", "dave", "人事"}
    assert set(listed("--user", "dave")) == {"dave"}
    assert set(listed("--token", tokens["人事"])) == {"dave", "人事"}
    assert set(listed("--token", tokens["root"])) == {"root", "dave", "人事"}
