from __future__ import annotations

import re

import pytest
from django.urls import reverse

from hub.access.models import AccessToken, AuditEvent
from hub.access.principals import Role, Scope, local_operator
from hub.access.services import authenticate, create_token
from hub.core.errors import Unauthenticated
from knowledge.models import Collection
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db
ADD = "admin:access_accesstoken_add"
LIST = "admin:access_accesstoken_changelist"


def test_a_new_token_is_shown_once_and_works() -> None:
    user = make_user("佐藤", is_superuser=True)
    client = client_of(user)
    asked = {"name": "検索用", "user": user.pk, "scopes": ["search", "read"], "expires_at_0": "", "expires_at_1": ""}
    response = client.post(reverse(ADD), asked)
    assert "no-store" in response["Cache-Control"]
    token = re.search(r'id="hub-token"[^>]*>(hub_[^<]+)<', response.content.decode())
    assert token is not None
    principal = authenticate(token[1])
    assert (principal.name, principal.scopes) == ("佐藤", frozenset({Scope.READ, Scope.SEARCH}))
    row = AccessToken.objects.get()
    for page in (reverse(LIST), reverse("admin:access_accesstoken_change", args=[row.pk])):
        shown = client.get(page).content.decode()
        assert token[1] not in shown
        assert row.digest not in shown
        assert row.hint in shown
    assert AuditEvent.objects.filter(action="TOKEN_CREATE", door="admin", principal="佐藤").exists()


def test_staff_make_tokens_for_themselves_only_and_with_the_scopes_of_their_roles() -> None:
    other = make_user("鈴木")
    user = make_user("高橋")
    grant(user, Role.CURATOR, Collection.objects.get(slug="default"))
    client = client_of(user)
    asked = {"name": "自分用", "user": other.pk, "scopes": ["read"], "expires_at_0": "", "expires_at_1": ""}
    client.post(reverse(ADD), asked)
    assert AccessToken.objects.get().user == user
    refused = client.post(reverse(ADD), {**asked, "scopes": ["admin"]})
    assert "scopes" in refused.context["adminform"].form.errors
    assert AccessToken.objects.count() == 1


def test_staff_see_their_own_tokens_only() -> None:
    user, other = make_user("高橋"), make_user("鈴木")
    for owner, name in ((user, "自分の鍵"), (other, "他人の鍵")):
        create_token(principal=local_operator(), user=owner, name=name, scopes=frozenset({Scope.READ}))
    client = client_of(user)
    shown = client.get(reverse(LIST)).content.decode()
    assert "自分の鍵" in shown
    assert "他人の鍵" not in shown
    hidden = AccessToken.objects.get(user=other)
    assert client.get(reverse("admin:access_accesstoken_change", args=[hidden.pk])).status_code == 302


def test_revoking_in_the_list_makes_the_token_useless() -> None:
    user = make_user("佐藤", is_superuser=True)
    row, token = create_token(principal=local_operator(), user=user, name="鍵", scopes=frozenset({Scope.READ}))
    asked = {"action": "revoke", "_selected_action": [row.pk], "index": 0}
    shown = client_of(user).post(reverse(LIST), asked, follow=True).content.decode()
    assert "失効させました: 1 件" in shown
    with pytest.raises(Unauthenticated):
        authenticate(token)


def test_a_token_is_neither_edited_nor_deleted() -> None:
    user = make_user("佐藤", is_superuser=True)
    row, _token = create_token(principal=local_operator(), user=user, name="鍵", scopes=frozenset({Scope.READ}))
    client = client_of(user)
    assert client.post(reverse("admin:access_accesstoken_change", args=[row.pk]), {"name": "x"}).status_code == 403
    assert client.post(reverse("admin:access_accesstoken_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
