"""The pages of roles that end: given with a reason, handed on, ended at once, and kept in a list of what ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent, HubRoleGrant
from hub.access.people import delegate_hub_role, end_hub_role
from hub.access.principals import HubRole, Role, Scope, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Conflict, Forbidden, NotFound
from knowledge.grants import Grantee, delegate_role, end_role, grant_role
from knowledge.models import Collection, CollectionGrant
from tests.factories import make_holder, new_collection, new_user
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db
SOON = timedelta(hours=1)
HUB_PAGE = "admin:hub_role_grants"


def page_of(collection: Collection) -> str:
    return reverse("admin:hub_collection_grants", args=[collection.slug])


def form(**given: object) -> dict[str, object]:
    until = timezone.localtime(timezone.now() + SOON)
    return {"until": f"{until:%Y-%m-%dT%H:%M}", "reason": "出張中の代理", "user": "", "group": "", **given}


@pytest.fixture
def collection():
    return new_collection()


@pytest.fixture
def chief(collection):
    user = make_user("課長")
    CollectionGrant.objects.create(collection=collection, user=user, role=Role.ADMINISTRATOR)
    return user


def words_of(client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_role_is_given_until_a_moment_and_ended_at_once_and_stays_in_the_list(collection, chief):
    client, reader = client_of(chief), new_user()
    answer = client.post(page_of(collection), form(user=reader.username, role="reader"))
    assert answer.status_code == 302
    (row,) = CollectionGrant.objects.filter(user=reader)
    assert (row.given_by, row.reason, row.delegator) == (chief, "出張中の代理", None)
    assert Collection.objects.visible_to(principal_for_user(reader)).filter(pk=collection.pk).exists()
    before = words_of(client, page_of(collection))
    assert all(text in before for text in (reader.username, "出張中の代理", "課長", "今すぐ終了"))

    client.post(page_of(collection), {"end": row.pk, "confirmed": "1"})
    assert not Collection.objects.visible_to(principal_for_user(reader)).filter(pk=collection.pk).exists()
    row.refresh_from_db()
    assert row.ended_by == chief
    after = words_of(client, page_of(collection))
    assert reader.username in after
    assert "今すぐ終了" not in after
    lines = AuditEvent.objects.filter(resource=f"collection:{collection.slug}").order_by("pk")
    assert [sorted(set(line.details) & {"granted", "ended", "reason"}) for line in lines] == [
        ["granted", "reason"],
        ["ended"],
    ]
    client.post(page_of(collection), {"end": row.pk, "confirmed": "1"})
    assert lines.count() == 2, "it has ended"


def test_a_role_is_handed_on_and_does_not_count_without_its_giver(collection, chief):
    client, deputy = client_of(chief), make_user("代理")
    CollectionGrant.objects.create(collection=collection, user=new_user(), role=Role.ADMINISTRATOR)
    client.post(page_of(collection), form(user=deputy.username, role="administrator", hand_on="on"))
    row = CollectionGrant.objects.get(user=deputy)
    assert row.delegator == chief
    assert "数えられません" not in words_of(client, page_of(collection))
    assert client_of(deputy).post(page_of(collection), form(user="課長", role="reader")).status_code == 200
    assert not CollectionGrant.objects.filter(user=chief, role="reader").exists(), "what was handed on gives nothing"
    CollectionGrant.objects.filter(user=chief).update(until=timezone.now() - SOON)
    boss = client_of(make_user("部長", is_superuser=True))
    assert "数えられません" in words_of(boss, page_of(collection))
    assert client_of(deputy).get(page_of(collection)).status_code == 404


def test_what_is_refused_says_why_and_what_was_typed_stays(collection, chief):
    client = client_of(chief)
    for wrong, said in (
        ({"user": "だれか", "role": "reader"}, "だれか"),
        ({"user": "課長", "role": "reader", "reason": ""}, 'name="reason"'),
        ({"user": "課長", "role": "reviewer", "hand_on": "on"}, "自分に与えられた"),
        ({"user": "課長", "role": "reader", "until": "2020-01-01T00:00"}, "2020-01-01T00:00"),
    ):
        answer = client.post(page_of(collection), form(**wrong))
        assert answer.status_code == 200
        assert said in answer.content.decode()
    assert CollectionGrant.objects.filter(collection=collection).count() == 1


def test_nobody_else_is_shown_the_page_or_ends_anything(collection, chief):
    outsider = make_holder(make_user("操作員"), HubRole.OPERATOR)
    auditor = make_user("監査人")
    CollectionGrant.objects.create(collection=collection, user=auditor, role=Role.AUDITOR, until=timezone.now() + SOON)
    for user in (outsider, auditor):
        assert client_of(user).get(page_of(collection)).status_code == 404
        assert client_of(user).get(reverse(HUB_PAGE)).status_code == 403
    mine = CollectionGrant.objects.create(
        collection=new_collection(), user=auditor, role=Role.READER, until=timezone.now() + SOON
    )
    client_of(chief).post(page_of(collection), {"end": mine.pk, "confirmed": "1"})
    mine.refresh_from_db()
    assert mine.ended_by is None


def test_who_handed_a_role_on_ends_it_and_nobody_else_s(collection, chief):
    curator, deputy, other = new_user(), new_user(), new_user()
    CollectionGrant.objects.create(collection=collection, user=curator, role=Role.CURATOR)
    CollectionGrant.objects.create(collection=collection, user=other, role=Role.CURATOR, until=timezone.now() + SOON)
    by, until = principal_for_user(curator), timezone.now() + SOON
    told = {"principal": by, "slug": collection.slug, "role": "curator"}
    delegate_role(to=deputy.username, until=until, **told)
    with pytest.raises((Forbidden, NotFound)):
        end_role(to=Grantee(user=other.username), **told)
    assert end_role(to=Grantee(user=deputy.username), **told).ended_by == curator
    assert not principal_for_user(deputy).is_superuser
    assert not Collection.objects.visible_to(principal_for_user(deputy), Scope.CURATE).exists()
    delegate_role(to=deputy.username, until=until, **told)
    assert Collection.objects.visible_to(principal_for_user(deputy), Scope.CURATE).exists()


def test_what_has_ended_may_be_handed_on_by_somebody_else(collection, chief):
    deputy = new_user()
    ended = timezone.now() - SOON
    CollectionGrant.objects.create(collection=collection, user=deputy, role=Role.ADMINISTRATOR, until=ended)
    by = principal_for_user(chief)
    row = delegate_role(
        principal=by, slug=collection.slug, to=deputy.username, role="administrator", until=timezone.now() + SOON
    )
    assert row.delegator == chief


def test_what_was_handed_on_is_ended_though_nobody_else_administers_for_good(collection, chief):
    CollectionGrant.objects.filter(user=chief).update(until=timezone.now() + 2 * SOON)
    deputy, by = make_user("代理"), principal_for_user(chief)
    told = {"slug": collection.slug, "role": Role.ADMINISTRATOR.value}
    delegate_role(principal=by, to="代理", until=timezone.now() + SOON, **told)
    assert end_role(principal=by, to=Grantee(user="代理"), **told).ended_by == chief
    assert not Collection.objects.visible_to(principal_for_user(deputy), Scope.ADMIN).exists()


def test_what_somebody_ended_is_not_handed_on_behind_their_back(collection, chief):
    reader, other = make_user("閲覧"), make_user("異動")
    for person in (reader, other):
        CollectionGrant.objects.create(collection=collection, user=person, role=Role.READER)
    end_role(principal=principal_for_user(chief), slug=collection.slug, to=Grantee(user="異動"), role=Role.READER.value)
    by, until = principal_for_user(reader), timezone.now() + SOON
    with pytest.raises(Conflict, match="終了"):
        delegate_role(principal=by, slug=collection.slug, to="異動", role=Role.READER.value, until=until)
    assert not Collection.objects.visible_to(principal_for_user(other)).exists()


def test_roles_of_the_hub_are_given_and_ended_by_who_administers_people(collection):
    chief, clerk = make_holder(make_user("人事"), HubRole.USER_ADMINISTRATOR, HubRole.EVALUATOR), new_user()
    client, address = client_of(chief), reverse(HUB_PAGE)
    client.post(address, form(user=clerk.username, role="operator"))
    client.post(address, form(user=clerk.username, role="evaluator", hand_on="on"))
    assert {row.role: row.delegator for row in HubRoleGrant.objects.filter(user=clerk)} == {
        "operator": None,
        "evaluator": chief,
    }
    assert principal_for_user(clerk).hub_roles == {HubRole.OPERATOR, HubRole.EVALUATOR}
    refused = client.post(address, form(user=clerk.username, role="user_administrator"))
    assert refused.status_code == 200
    own = client.post(address, form(user="人事", role="operator"))
    assert own.status_code == 200
    for row in HubRoleGrant.objects.filter(user=clerk):
        client.post(address, {"end": row.pk, "confirmed": "1"})
    assert not principal_for_user(clerk).hub_roles
    assert AuditEvent.objects.filter(resource="hub_roles", details__has_key="ended").count() == 2
    with pytest.raises(Forbidden):
        end_hub_role(principal=principal_for_user(new_user()), grant_id=HubRoleGrant.objects.filter(user=clerk)[0].pk)


def test_who_handed_a_role_of_the_hub_on_ends_it(collection):
    giver, deputy = make_holder(new_user(), HubRole.EVALUATOR), new_user()
    by = principal_for_user(giver)
    row = delegate_hub_role(principal=by, to=deputy, role=HubRole.EVALUATOR, until=timezone.now() + SOON)
    assert end_hub_role(principal=by, grant_id=row.pk).ended_by == giver
    assert not principal_for_user(deputy).hub_roles


def test_the_pages_are_linked_from_the_rights_and_ask_who_is_there(collection, chief, monkeypatch):
    client = client_of(chief)
    reader = new_user()
    grant_role(principal=local_operator(), slug=collection.slug, to=Grantee(user=reader.username), role="reader")
    for address in (reverse("admin:hub_rights"), reverse("admin:hub_rights_of", args=[reader.pk])):
        assert page_of(collection) in words_of(client, address)
        assert reverse(HUB_PAGE) not in words_of(client, address)
    monkeypatch.setattr("hub.admin_site.confirming.is_confirmed", lambda _request: False)
    asked = client.post(page_of(collection), form(user=reader.username, role="curator"))
    assert asked.status_code == 302
    assert reverse("admin:hub_confirm") in asked.headers["Location"]


def test_queries_do_not_grow_with_the_grants(collection, chief, django_assert_max_num_queries):
    until = timezone.now() + SOON
    CollectionGrant.objects.bulk_create(
        CollectionGrant(collection=collection, user=new_user(), role="reader", until=until, given_by=chief)
        for _number in range(15)
    )
    client = client_of(chief)
    client.get(page_of(collection))
    with django_assert_max_num_queries(14):
        client.get(page_of(collection))
