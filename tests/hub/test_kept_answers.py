"""What is kept of an answer under its Idempotency-Key: nothing of reads, and of writes nothing for who lost a right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hub.access.models import Clearance, HubRoleGrant, IdempotencyRecord
from hub.access.principals import ALL_SCOPES, Classification, HubRole, Role, Scope, local_operator
from hub.access.rights import sees_all_named
from hub.access.services import create_token, principal_for_user
from hub.rest.idempotency import WRITE_METHODS, is_read
from hub.site.api import api
from knowledge.models import Collection, CollectionGrant, Document
from review.models import Finding, Review
from review.runs import execution
from tests.factories import new_collection, upload_text, work_through

pytestmark = pytest.mark.django_db
SECRET = "利用者検索の応答時間は3秒以内とする。"
# Calls whose method is one of writes and that change nothing.
READS = {
    "search",
    "answer_question",
    "search_graph",
    "query_graph",
    "reason",
    "coverage",
    "lint",
    "lint_checklist",
    "estimate_review",
    "preview_guideline",
    "preview_cases",
    "preview_import",
}


class Person:
    """Somebody with a token, who sends every request with the same Idempotency-Key."""

    def __init__(self, name: str, scopes: frozenset[Scope] = ALL_SCOPES) -> None:
        self.user, _is_new = User.objects.get_or_create(username=name)
        Clearance.objects.get_or_create(user=self.user, defaults={"ceiling": Classification.C2})
        _row, token = create_token(principal=local_operator(), user=self.user, name="t", scopes=scopes)
        self.headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k1"}

    def post(self, path: str, body: Any) -> Any:
        return Client().post(f"/api/v1{path}", body, content_type="application/json", headers=self.headers)

    def upload(self, collection: Collection) -> Any:
        file = SimpleUploadedFile("設計.md", f"# 設計\n\n{SECRET}\n".encode(), content_type="text/markdown")
        fields = {"file": file, "collection": collection.slug}
        return Client().post("/api/v1/documents", fields, headers=self.headers)


@pytest.fixture
def collection(queue) -> Collection:
    return new_collection()


@pytest.fixture
def heidi(collection) -> Person:
    person = Person("heidi")
    CollectionGrant.objects.create(collection=collection, user=person.user, role=Role.REVIEWER)
    return person


def operations() -> list[Any]:
    views = [view for router in api._get_bound_routers() for view in router.path_operations.values()]
    found = [operation for view in views for operation in view.operations]
    return [one for one in found if WRITE_METHODS.intersection(one.methods)]


def test_every_call_that_only_reads_is_marked():
    """A new one belongs into the list above, or it writes."""
    marked = {operation.view_func.__name__ for operation in operations() if is_read(operation.view_func)}
    assert marked == READS
    offered = api.get_openapi_schema(path_prefix="")["paths"].values()
    keyed = {
        operation["operationId"]
        for methods in offered
        for operation in methods.values()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    }
    assert keyed == {operation.view_func.__name__ for operation in operations()} - READS


def test_a_read_is_answered_as_rights_are_now_and_leaves_nothing(heidi, collection, tmp_path):
    upload = upload_text(local_operator(), tmp_path, f"# 設計\n\n{SECRET}\n", collection=collection.slug)
    work_through(upload.document)
    asked = {"query": "応答時間", "mode": "lexical"}
    assert SECRET in heidi.post("/search", asked).content.decode()
    CollectionGrant.objects.all().delete()
    again = heidi.post("/search", asked)
    assert (again.status_code, again.json()["results"]) == (200, [])
    assert "Idempotent-Replayed" not in again
    assert not IdempotencyRecord.objects.exists()


def lose_grant(person: Person) -> None:
    CollectionGrant.objects.filter(user=person.user).delete()


def lose_clearance(person: Person) -> None:
    Clearance.objects.filter(user=person.user).update(ceiling=Classification.C1)


def leave_group(person: Person) -> None:
    person.user.groups.clear()


def lose_hub_role(person: Person) -> None:
    HubRoleGrant.objects.filter(user=person.user).delete()


def stop_being_superuser(person: Person) -> None:
    User.objects.filter(pk=person.user.pk).update(is_superuser=False)


def classify_higher(_person: Person) -> None:
    Document.objects.update(classification=Classification.C3)


def move_away(_person: Person) -> None:
    Document.objects.update(collection=new_collection())


CHANGES = [lose_grant, lose_clearance, leave_group, lose_hub_role, stop_being_superuser, classify_higher, move_away]


@pytest.mark.parametrize("change", CHANGES)
def test_a_kept_answer_ends_with_the_right_to_it(heidi, collection, change):
    heidi.user.groups.add(Group.objects.create(name="設計"))
    HubRoleGrant.objects.create(user=heidi.user, role=HubRole.CURATOR)
    if change is stop_being_superuser:
        User.objects.filter(pk=heidi.user.pk).update(is_superuser=True)
    first = heidi.upload(collection)
    assert first.status_code == 202, first.content
    assert heidi.upload(collection)["Idempotent-Replayed"] == "true"
    change(heidi)
    again = heidi.upload(collection)
    assert (again.status_code, again.json()["code"]) == (409, "answer_withheld")
    assert first.json()["document_id"] not in again.content.decode()
    assert Document.objects.count() == 1


def test_more_rights_than_before_take_no_answer_away(heidi, collection):
    first = heidi.upload(collection)
    CollectionGrant.objects.create(collection=new_collection(), user=heidi.user, role=Role.CURATOR)
    Clearance.objects.filter(user=heidi.user).update(ceiling=Classification.C3)
    assert heidi.upload(collection).content == first.content


def test_who_makes_a_collection_gets_its_answer_again(heidi):
    HubRoleGrant.objects.create(user=heidi.user, role=HubRole.CURATOR)
    first, again = (heidi.post("/collections", {"slug": "neu", "name": "新"}) for _time in range(2))
    assert first.status_code == again.status_code == 201, first.content
    assert again["Idempotent-Replayed"] == "true"


def test_a_token_that_only_uploads_gets_its_answer_again(heidi, collection):
    uploader = Person("heidi", frozenset({Scope.UPLOAD}))
    assert uploader.upload(collection).content == uploader.upload(collection).content


def test_the_receipt_of_a_deletion_is_given_again(heidi, collection):
    CollectionGrant.objects.create(collection=collection, user=heidi.user, role=Role.CURATOR)
    document_id = json.loads(heidi.upload(collection).content)["document_id"]
    headers = {**heidi.headers, "Idempotency-Key": "k2"}
    answers = [Client().delete(f"/api/v1/documents/{document_id}", headers=headers) for _time in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].content == answers[0].content


def test_what_an_older_version_kept_is_given_to_nobody(heidi, collection):
    heidi.upload(collection)
    IdempotencyRecord.objects.update(rights=None)
    assert heidi.upload(collection).json()["code"] == "answer_withheld"


def test_ids_of_reviews_and_findings_are_looked_up_too(heidi, collection, tmp_path):
    upload = upload_text(local_operator(), tmp_path, f"# 設計\n\n{SECRET}\n", collection=collection.slug)
    work_through(upload.document)
    asked = {"document_id": upload.document.public_id, "checklist": "basic-design", "options": {"judge": "rules"}}
    started = heidi.post("/reviews", asked)
    review = Review.objects.get(public_id=started.json()["review_id"])
    assert execution.execute(review.pk)
    finding = Finding.objects.filter(result__review=review).first()
    named = [review.public_id.encode(), finding.public_id.encode()]
    person = principal_for_user(heidi.user)
    assert [sees_all_named(person, one) for one in named] == [True, True]
    classify_higher(heidi)
    assert [sees_all_named(person, one) for one in named] == [False, False]
    assert heidi.post("/reviews", asked).json()["code"] == "answer_withheld"
