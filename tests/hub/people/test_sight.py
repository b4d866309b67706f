"""See as a person: what both may read, looked at only, and noted."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from hub.access.models import AuditEvent, HubRoleGrant
from hub.access.principals import Classification, HubRole, Role, local_operator
from hub.access.services import principal_for_user
from hub.people.sight import seen_by
from knowledge.models import CollectionGrant, Document
from tests.factories import new_collection, new_user
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def library():
    """Two collections, the first with a document for everybody and a confidential one, the second with one."""
    first, second = new_collection(), new_collection()
    for collection, name, level in [
        (first, "open", Classification.C2),
        (first, "confidential", Classification.C3),
        (second, "other", Classification.C2),
    ]:
        Document.objects.create(collection=collection, path=name, title=name, classification=level)
    return first, second


def give(user, collection, role=Role.READER):
    CollectionGrant.objects.create(collection=collection, user=user, role=role)


def titles(seen):
    return {one.title for one in seen.documents}


def test_a_superuser_sees_what_the_person_sees_and_the_trail_says_so(library):
    user = new_user()
    give(user, library[0])
    seen = seen_by(local_operator(), user)
    assert titles(seen) == {"open"}
    assert [(one.collection, one.documents, one.reviews) for one in seen.collections] == [(library[0], 1, 0)]
    assert seen.document_count == 1
    line = AuditEvent.objects.latest("pk")
    assert (line.action, line.principal, line.resource) == ("SEEN_AS", "operator", f"user:{user.pk}")


def test_nobody_sees_more_by_it_than_before(library):
    superuser, asking = new_user(is_superuser=True), new_user()
    HubRoleGrant.objects.create(user=asking, role=HubRole.USER_ADMINISTRATOR)
    assert titles(seen_by(principal_for_user(asking), superuser)) == set()
    give(asking, library[0])
    seen = seen_by(principal_for_user(asking), superuser)
    assert titles(seen) == {"open"}
    assert seen.document_count == 1
    assert [one.collection for one in seen.collections] == [library[0]]


def test_who_administers_a_collection_looks_at_that_one_alone(library):
    user, asking = new_user(), new_user()
    give(asking, library[0], Role.ADMINISTRATOR)
    give(asking, library[1])
    for collection in library:
        give(user, collection)
    assert titles(seen_by(local_operator(), user)) == {"open", "other"}
    assert titles(seen_by(principal_for_user(asking), user)) == {"open"}


def test_a_person_who_may_not_sign_in_sees_nothing(library):
    user = new_user(is_superuser=True)
    User.objects.filter(pk=user.pk).update(is_active=False)
    user.refresh_from_db()
    assert titles(seen_by(local_operator(), user)) == set()


def test_the_pages_show_the_table_the_person_and_what_they_see(library):
    user, client = new_user(username="山田"), client_of(make_user("長", is_superuser=True), language="en")
    give(user, library[0], Role.REVIEWER)
    found = client.get("/admin/rights/", {"q": "山"}).content.decode()
    assert f"/admin/rights/{user.pk}/" in found
    assert "give and take roles in the collection" in found
    assert "User administrator" in found
    rights = client.get(f"/admin/rights/{user.pk}/").content.decode()
    assert "Reviewer: given to the person" in rights
    assert "1 document" in rights, "the confidential one"
    sees = client.get(f"/admin/rights/{user.pk}/sees/").content.decode()
    assert "open" in sees
    assert "confidential" not in sees
    for path in ("", f"{user.pk}/", f"{user.pk}/sees/"):
        assert client.post(f"/admin/rights/{path}").status_code == 405
        assert client_of(make_user(f"nobody{path}")).get(f"/admin/rights/{path}").status_code == 403
    assert client.get("/admin/rights/0/").status_code == 404


def test_a_superuser_may_ask_at_rest_by_the_name(library, client):
    from hub.access.principals import ALL_SCOPES
    from hub.access.services import create_token

    user, asking = new_user(), new_user(is_superuser=True)
    give(user, library[0])
    token = create_token(principal=local_operator(), user=asking, name="t", scopes=ALL_SCOPES)[1]
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.get(f"/api/v1/people/{user.username}/rights", headers=headers).json()
    assert answer["collections"][0]["may"] == ["read", "search"]
    assert answer["collections"][0]["documents_above"] == 1
    assert answer["collections"][0]["reasons"][0]["kind"] == "own"
    assert client.get("/api/v1/people/none/rights", headers=headers).status_code == 404
