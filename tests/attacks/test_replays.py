"""What was good once, or for somebody else, sent again: codes, proofs, keys of repeats, cursors, previews.

What comes from an identity provider (codes, states, nonces, tokens) is sent again in tests/hub/access/providers.
"""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hub.access.models import AccessToken, IdempotencyRecord
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.second_factor import STEP_S, begin, code_at, confirm
from hub.access.services import create_token, principal_for_user
from knowledge.models import CollectionGrant
from tests.factories import new_collection, new_user, upload_text
from tests.hub.admin.support import PASSWORD, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
ADD_TOKEN = "/admin/access/accesstoken/add/"
CONFIRM = f"/admin/confirm/?next={ADD_TOKEN}"


def caller_of(user: User) -> Client:
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def signed_in(user: User, **more: str) -> Client:
    browser = Client()
    browser.post("/admin/login/", {"username": user.username, "password": PASSWORD, "next": "/admin/", **more})
    return browser


def is_in(browser: Client) -> bool:
    return browser.get("/admin/").status_code == 200


def grow_old(browser: Client) -> None:
    session = browser.session
    session["confirmed_at"] = time.time() - settings.CONFIG.hub_confirm_minutes * 60 - 1
    session.save()


def is_asked(browser: Client) -> bool:
    return "/confirm/" in browser.post(ADD_TOKEN, {"name": "t"}).headers.get("Location", "")


@pytest.fixture
def boss() -> User:
    return make_user("課長", is_superuser=True)


def test_a_code_that_opened_the_door_is_no_proof_at_the_next_one(boss: User) -> None:
    secret = begin(boss)
    confirm(principal_for_user(boss), boss, code_at(secret, int(time.time()) // STEP_S - 1))
    code = code_at(secret, int(time.time()) // STEP_S)
    browser = signed_in(boss, code=code)
    assert is_in(browser)
    assert not is_in(signed_in(boss, code=code))
    grow_old(browser)
    browser.post(CONFIRM, {"password": PASSWORD, "code": code})
    assert is_asked(browser)
    browser.post(CONFIRM, {"password": PASSWORD, "code": code_at(secret, int(time.time()) // STEP_S + 1)})
    assert not is_asked(browser)


def test_a_proof_counts_in_its_own_session(boss: User) -> None:
    here, there = signed_in(boss), signed_in(boss)
    for browser in (here, there):
        grow_old(browser)
    before = here.session.session_key
    here.post(CONFIRM, {"password": PASSWORD})
    assert not is_asked(here)
    assert is_asked(there)
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = before
    assert not is_in(thief), "the session that was confirmed has another key"
    other = signed_in(make_user("係長", is_superuser=True))
    grow_old(other)
    assert is_asked(other)


def test_another_person_s_key_of_a_repeat_gives_nothing_of_their_answer(boss: User) -> None:
    made = {"slug": "repeated", "name": "人事の文書"}
    sent: dict[str, Any] = {"data": made, "content_type": "application/json", "headers": {"Idempotency-Key": "k-1"}}
    assert caller_of(boss).post("/api/v1/collections", **sent).status_code == 201
    answer = caller_of(new_user()).post("/api/v1/collections", **sent)
    assert answer.status_code == 403
    assert "人事" not in answer.content.decode()
    assert "Idempotent-Replayed" not in answer
    assert IdempotencyRecord.objects.filter(key="k-1", status=201).count() == 1


def test_a_token_of_the_same_person_that_may_less_is_not_given_the_answer(boss: User) -> None:
    made = {"slug": "repeated", "name": "人事の文書"}
    sent: dict[str, Any] = {"data": made, "content_type": "application/json", "headers": {"Idempotency-Key": "k-1"}}
    assert caller_of(boss).post("/api/v1/collections", **sent).status_code == 201
    User.objects.filter(pk=boss.pk).update(is_superuser=False)
    answer = caller_of(User.objects.get(pk=boss.pk)).post("/api/v1/collections", **sent)
    assert answer.status_code == 409, "the answer of before is no longer given, and nothing is done"
    assert "人事" not in answer.content.decode()


def test_another_person_s_cursor_shows_what_one_may_read_oneself(boss: User, tmp_path) -> None:
    reader, mine = new_user(), new_collection()
    CollectionGrant.objects.create(collection=mine, user=reader, role=Role.READER)
    for number, slug in enumerate((mine.slug, "default", "default", mine.slug)):
        upload_text(local_operator(), tmp_path, f"# 文書{number}\n", name=f"{number}.md", collection=slug)
    page = caller_of(boss).get("/api/v1/documents?limit=1").json()
    cursor = page["next_cursor"]
    own = caller_of(reader)
    shown = own.get(f"/api/v1/documents?limit=100&cursor={cursor}").json()
    assert {one["collection"] for one in shown["items"]} == {mine.slug}
    assert own.get(f"/api/v1/reviews?cursor={cursor}").status_code in (400, 422)


def test_a_preview_is_stored_by_who_was_shown_it_alone_and_for_a_day(boss: User, monkeypatch) -> None:
    other = make_user("係長", is_superuser=True)
    given = {"code": "replayed", "name_ja": "指針", "name_en": "x", "article_prefix": "RP-"}
    page = "/admin/knowledge/guideline/import/"
    first, second = signed_in(boss), signed_in(other)
    with_file = {**given, "file": _file("# 第1条 目的\n\nこの指針は、監視を定める。\n")}
    shown = first.post(page, with_file).content.decode()
    carried = re.search(r'name="carried" value="([^"]+)"', shown)
    assert carried, shown[-2000:]
    sent = {**given, "store": "1", "carried": carried[1]}
    refused = second.post(page, sent)
    assert refused.status_code == 200, "the preview is another's"
    now = time.time()
    with monkeypatch.context() as later:
        later.setattr("django.core.signing.time.time", lambda: now + 2 * 86_400)
        assert first.post(page, sent).status_code == 200, "the preview is old"
    assert first.post(page, sent).status_code == 302


def _file(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("指針.md", text.encode())


def test_a_token_that_was_shown_once_is_nowhere_shown_again(boss: User) -> None:
    browser = signed_in(boss)
    shown = browser.post(
        ADD_TOKEN, {"name": "t", "user": boss.pk, "scopes": ["read"], "expires_at_0": "", "expires_at_1": ""}
    )
    (token,) = set(re.findall(r"hub_[\w-]{30,}", shown.content.decode()))
    row = AccessToken.objects.get()
    assert "no-store" in shown["Cache-Control"]
    for page in ("/admin/access/accesstoken/", f"/admin/access/accesstoken/{row.pk}/change/", ADD_TOKEN):
        assert token not in browser.get(page).content.decode()
