"""What is said of documents, changed on the pages: one, several, by two people at once; the history; kept views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hub.access.permissions import Role
from hub.access.principals import Classification, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Conflict, Forbidden, NotFound
from knowledge.documents.editing import update_document
from knowledge.documents.history import MOST_CHANGES, document_history
from knowledge.documents.reading import list_versions
from knowledge.documents.views import MOST_VIEWS, document_views, keep_view
from knowledge.models import Collection, Document, DocumentEdit, DocumentGraph
from knowledge.questions import ask_owner, note_question
from knowledge.search import search_sources
from knowledge.types.search import SearchFilter, SearchQuery
from review.models import Review
from review.runs.reviews import start_review
from tests.factories import new_collection, new_user
from tests.hub.admin.support import add_document, client_of, grant

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator() -> User:
    made = new_user(username="担当")
    grant(made, Role.CURATOR, Collection.objects.get(slug="default"))
    return made


@pytest.fixture(scope="module")
def read_once(
    django_db_setup: None, django_db_blocker: Any, queue: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """A document that is read once for all tests here, in a transaction that is taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield add_document(tmp_path_factory.mktemp("design")).pk
        transaction.set_rollback(True)


@pytest.fixture
def document(read_once: int, db: None) -> Document:
    return Document.objects.select_related("collection", "latest_version__blob", "current_version").get(pk=read_once)


def form_of(client: Client, document: Document) -> dict[str, str]:
    """The values of the form that changes a document, as a browser would send them."""
    page = unescape(client.get(f"/documents/{document.public_id}/").content.decode())
    form = re.search(r'(?s)<form method="post" action="[^"]+/change/".*?</form>', page)
    assert form
    values = dict(re.findall(r'<input[^>]* name="(\w+)" value="([^"]*)"', form[0]))
    values |= dict(re.findall(r'(?s)<select name="(\w+)">.*?<option value="([^"]*)" selected>', form[0]))
    (metadata,) = re.findall(r"(?s)<textarea[^>]*>(.*?)</textarea>", form[0])
    return {**values, "metadata": metadata}


def save(client: Client, document: Document, **changed: str) -> tuple[int, str]:
    answer = client.post(f"/documents/{document.public_id}/change/", {**form_of(client, document), **changed})
    return answer.status_code, unescape(answer.content.decode())


def test_what_is_said_of_a_document_is_changed_on_its_page_and_told_in_its_history(curator, document):
    client, document_title = client_of(curator), document.title
    changed = {"title": "新しい題名", "document_type": "test_plan", "metadata": '{"年度": "令和7年度"}'}
    assert save(client, document, **changed)[0] == 302
    document.refresh_from_db()
    said = (document.title, document.document_type_id, document.metadata)
    assert said == ("新しい題名", "test_plan", {"年度": "令和7年度"})
    page = unescape(client.get(f"/documents/{document.public_id}/history/").content.decode())
    assert "<del>基本設計書</del> → <ins>テスト計画書</ins>" in page
    assert f"<del>{document_title}</del> → <ins>新しい題名</ins>" in page
    assert "年度: なし → <ins>令和7年度</ins>" in page
    assert "担当" in page


def test_values_of_where_one_may_not_read_are_withheld_from_the_history(curator, document):
    secret = new_collection(slug="secret", name="秘密の部屋")
    mover = new_user(username="移す人")
    for collection in (secret, document.collection):
        grant(mover, Role.CURATOR, collection)
    moved = {"principal": principal_for_user(mover), "document_id": document.public_id}
    update_document(**moved, collection="secret", title="極秘の題名")
    update_document(**moved, metadata={"値": "極秘の値"})
    update_document(**moved, collection="default", title="公開の題名")
    update_document(**moved, title="次の題名")
    page = unescape(client_of(curator).get(f"/documents/{document.public_id}/history/").content.decode())
    assert "極秘" not in page
    assert "秘密の部屋" not in page
    assert page.count("閲覧できないもの") == 5  # twice title and collection, and metadata
    assert "<del>公開の題名</del> → <ins>次の題名</ins>" in page
    page = unescape(client_of(mover).get(f"/documents/{document.public_id}/history/").content.decode())
    assert "<del>極秘の題名</del> → <ins>公開の題名</ins>" in page
    assert "値: なし → <ins>極秘の値</ins>" in page


def test_values_of_a_higher_classification_are_withheld_too(curator, document):
    operator = {"principal": local_operator(), "document_id": document.public_id}
    update_document(**operator, classification=Classification.C3)
    update_document(**operator, title="機密の題名")
    update_document(**operator, classification=Classification.C2)
    lines = document_history(principal_for_user(curator), document.public_id)
    assert [line.written for line in lines[:3]] == [{}, None, {}]


def test_what_is_kept_of_changes_is_bounded_and_goes_with_the_document(document):
    operator = {"principal": local_operator(), "document_id": document.public_id}
    for number in range(MOST_CHANGES + 2):
        update_document(**operator, title=f"題名 {number}")
    assert document.edits.count() == MOST_CHANGES
    update_document(**operator, title=f"題名 {MOST_CHANGES + 1}")
    assert document.edits.count() == MOST_CHANGES
    assert document.edits.latest("pk").values == {"title": [f"題名 {MOST_CHANGES}", f"題名 {MOST_CHANGES + 1}"]}
    document.delete()
    assert not DocumentEdit.objects.exists()


def test_what_can_not_be_kept_comes_back_with_all_that_was_typed(curator, document):
    status, page = save(client_of(curator), document, title="残るはず", metadata="{壊れた")
    assert status == 422
    assert 'value="残るはず"' in page
    assert "{壊れた</textarea>" in page
    assert 'role="alert"' in page


def test_the_second_of_two_is_told_who_saved_what_and_merges(curator, document):
    client = client_of(curator)
    typed = form_of(client, document)
    other = new_user(username="同僚")
    grant(other, Role.CURATOR, Collection.objects.get(slug="default"))
    assert save(client_of(other), document, title="同僚の題名")[0] == 302
    answer = client.post(f"/documents/{document.public_id}/change/", {**typed, "title": "私の題名"})
    page = unescape(answer.content.decode())
    assert answer.status_code == 409
    assert "同僚" in page
    assert "同僚の題名" in page
    assert 'value="私の題名"' in page
    document.refresh_from_db()
    assert document.title == "同僚の題名"
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest
    typed |= {"title": "二人の題名", "digest": digest[1]}
    assert client.post(f"/documents/{document.public_id}/change/", typed).status_code == 302
    document.refresh_from_db()
    assert document.title == "二人の題名"


def test_readers_see_no_form_and_no_history(document):
    reader = new_user()
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    client = client_of(reader)
    assert "/change/" not in client.get(f"/documents/{document.public_id}/").content.decode()
    assert client.get(f"/documents/{document.public_id}/history/").status_code == 403
    assert client.post(f"/documents/{document.public_id}/change/", {"title": "x"}).status_code in (403, 409)
    with pytest.raises(Forbidden):
        document_history(principal_for_user(reader), document.public_id)


def test_a_document_moves_only_to_where_one_may_upload_and_is_found_there(curator, document):
    principal = principal_for_user(curator)
    target = new_collection(slug="target", name="移す先")
    with pytest.raises(NotFound):
        update_document(principal=principal, document_id=document.public_id, collection="target")
    grant(curator, Role.REVIEWER, target)
    principal = principal_for_user(curator)
    update_document(principal=principal, document_id=document.public_id, collection="target")
    document.refresh_from_db()
    assert document.collection_id == target.pk
    assert not DocumentGraph.objects.filter(document=document).exists()  # it is read again for the new collection
    found = search_sources(principal, SearchQuery(text="応答時間", filter=SearchFilter(collections=("target",))))
    assert found.hits
    assert not search_sources(
        principal, SearchQuery(text="応答時間", filter=SearchFilter(collections=("default",)))
    ).hits


def test_a_place_that_is_taken_and_a_watched_sources_document_are_refused(curator, document, tmp_path):
    target = new_collection(slug="target")
    grant(curator, Role.REVIEWER, target)
    Document.objects.create(
        collection=target, path=document.path, title="先客", classification=Classification(document.classification)
    )
    principal = principal_for_user(curator)
    with pytest.raises(Conflict) as refused:
        update_document(principal=principal, document_id=document.public_id, collection="target")
    assert refused.value.error_code == "path_taken"
    Document.objects.filter(pk=document.pk).update(source_root="/資料")
    with pytest.raises(Conflict) as refused:
        update_document(principal=principal, document_id=document.public_id, collection="target")
    assert refused.value.error_code == "document_of_source"


def test_several_documents_are_changed_alike_and_what_is_refused_is_told(curator, document, tmp_path):
    new_collection(slug="secret")
    hidden = add_document(tmp_path, filename="秘密.md", collection="secret", work=False)
    client = client_of(curator)
    chosen = {"document": [document.public_id, hidden.public_id], "document_type": "requirements", "query": "q=a"}
    answer = client.post("/documents/change/", chosen)
    assert answer.headers["Location"] == "/documents/?q=a"
    page = unescape(client.get("/documents/").content.decode())
    assert "1 件を変更" in page
    assert hidden.public_id in page  # as one that is not there
    document.refresh_from_db()
    hidden.refresh_from_db()
    assert (document.document_type_id, hidden.document_type_id) == ("requirements", "basic_design")


def test_the_list_is_sorted_by_each_of_its_columns_over_all_pages(curator, document, monkeypatch):
    monkeypatch.setattr("hub.home.documents.PER_PAGE", 2)
    for name in "かきくけ":
        Document.objects.create(collection=document.collection, path=f"{name}.md", title=name, owner=curator)
    client = client_of(curator)
    for order in ("title", "-title", "size", "-size", "uploader", "-uploader", "updated", "-updated"):
        seen: list[str] = []
        address = f"/documents/?order={order}"
        while address:
            page = client.get(address).content.decode()
            seen += re.findall(r'<td class="first"><a href="/documents/([^/]+)/"', page)
            following = re.search(r'<a href="([^"]+)" rel="next">', page)
            address = f"/documents/{unescape(following[1])}" if following else ""
        assert len(seen) == len(set(seen)) == 5
        if order.endswith("size"):
            assert (seen[0] if order == "-size" else seen[-1]) == document.public_id


def test_a_view_is_kept_for_oneself_and_forgotten(curator, document):
    client = client_of(curator)
    query = "document_type=basic_design&order=-size"
    client.post("/documents/views/", {"name": "大きい設計書", "query": query})
    page = unescape(client.get(f"/documents/?{query}").content.decode())
    assert f'<a href="?{query}" aria-current="true">大きい設計書</a>' in page
    assert "大きい設計書" not in client_of(new_user()).get("/documents/").content.decode()
    client.post("/documents/views/", {"forget": "大きい設計書", "query": ""})
    assert "大きい設計書" not in client.get("/documents/").content.decode()
    principal = principal_for_user(curator)
    for number in range(MOST_VIEWS):
        keep_view(principal, str(number), "")
    with pytest.raises(Conflict):
        keep_view(principal, "もう一つ", "")
    keep_view(principal, "0", "q=a")
    assert len(document_views(principal)) == MOST_VIEWS


@pytest.mark.parametrize(
    ("address", "most"),
    [
        *(("/", 8), ("/documents/", 12), ("/documents/?order=title", 12), ("/documents/?order=uploader", 12)),
        *(("/documents/?q=設計書", 12), ("/documents/?document_type=basic_design&status=ready", 13)),
        *(("/documents/upload/", 8), ("/reviews/", 6), ("/reviews/start/", 6), ("/own-work/", 9)),
        *(("/questions/", 9), ("/questions/unanswered/", 10)),
    ],
)
def test_a_page_costs_as_many_queries_for_two_hundred_documents_as_for_one(curator, document, address, most):
    client = client_of(curator)
    read = principal_for_user(curator)
    kept, _versions = list_versions(read, document.public_id)
    review = start_review(principal=read, document_id=kept.public_id)
    note_question(read, "一つ目の質問", SearchFilter(), is_answered=False)
    ask_owner(read, "default", "一つ目の質問")

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        return len(seen)

    queries()
    few = queries()
    assert few <= most
    Document.objects.bulk_create(
        Document(collection=kept.collection, path=f"設計書{number}.md", title=f"設計書 {number}", owner=curator)
        for number in range(200)
    )
    same = {"version": review.version, "version_number": 1, "checklist_version": review.checklist_version}
    Review.objects.bulk_create(Review(document_id_text=kept.public_id, **same) for _n in range(200))
    for number in range(8):
        note_question(read, f"{number} つ目の質問", SearchFilter(), is_answered=False)
        ask_owner(read, "default", f"{number} つ目の質問")
    assert queries() == few
    assert len(client.get(address).content) < 60_000


@pytest.mark.parametrize(
    ("order", "index"), [("updated", "document_by_change"), ("-title", "document_by_title"), ("", "document_by_change")]
)
def test_a_page_of_the_list_is_read_from_an_index_in_its_order(curator, document, order, index):
    client = client_of(curator)
    with CaptureQueriesContext(connection) as seen:
        client.get(f"/documents/?order={order}")
    (listing,) = [one["sql"] for one in seen.captured_queries if 'AS "uploader"' in (one["sql"] or "")]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")  # as with thousands of rows
        cursor.execute(f"EXPLAIN {listing}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert index in plan
