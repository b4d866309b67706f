from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from tests.hub.rest.conftest import Caller
from tests.hub.rest.test_problems import assert_problem


def test_a_valid_token_gives_the_handler_its_principal(caller: Caller):
    assert caller.get("/whoami").json() == {"name": "佐藤"}


def test_the_scheme_is_read_in_any_case(caller: Caller):
    response = caller.client.get("/api/v1/whoami", headers={"Authorization": f"bearer {caller.token}"})

    assert response.status_code == 200


def test_no_token_is_refused_with_a_bare_challenge(db):
    response = Client().get("/api/v1/whoami")

    assert_problem(response, 401, "unauthenticated")
    metadata = f"{settings.CONFIG.public_url}/.well-known/oauth-protected-resource/api/v1"
    assert response["WWW-Authenticate"] == f'Bearer realm="hub", resource_metadata="{metadata}"'


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer hub_wrong", "Basic YTpi", "hub_token", "Bearer あ"])
def test_a_useless_authorization_header_is_refused(db, header: str):
    response = Client().get("/api/v1/whoami", headers={"Authorization": header})

    assert_problem(response, 401, "unauthenticated")
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


def test_a_revoked_token_stops_working(caller: Caller):
    caller.row.revoked_at = timezone.now()
    caller.row.save()

    assert_problem(caller.get("/whoami"), 401, "unauthenticated")


def test_the_token_is_checked_before_the_body_is_read(db):
    response = Client().post("/api/v1/things", b"{broken", content_type="application/json")

    assert_problem(response, 401, "unauthenticated")


def test_a_session_of_the_admin_is_no_token(admin_client: Client):
    assert_problem(admin_client.get("/api/v1/whoami"), 401, "unauthenticated")
