"""Changing what is said of a document, and who may put it under a legal hold."""

from __future__ import annotations

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import Classification, Role, local_operator
from hub.core.errors import Forbidden, InvalidInput
from knowledge.documents.editing import set_legal_hold, update_document
from knowledge.search.hybrid import search
from knowledge.types.search import SearchFilter, SearchQuery
from tests.factories import new_collection, principal_with, upload_text
from tests.knowledge.documents.contract import TEXT

pytestmark = pytest.mark.django_db


def test_only_a_curator_sets_or_lifts_a_hold_and_both_are_written_down(tmp_path):
    collection = new_collection()
    uploader = principal_with(Role.REVIEWER, collection)
    document = upload_text(uploader, tmp_path, TEXT, collection=collection.slug).document
    with pytest.raises(Forbidden):
        set_legal_hold(principal=uploader, document_id=document.public_id, reason="隠したい")
    curator = principal_with(Role.CURATOR, collection)
    set_legal_hold(principal=curator, document_id=document.public_id, reason="監査")
    set_legal_hold(principal=curator, document_id=document.public_id, reason="監査")
    with pytest.raises(Forbidden):
        update_document(principal=uploader, document_id=document.public_id, legal_hold="")
    set_legal_hold(principal=curator, document_id=document.public_id, reason="")
    events = AuditEvent.objects.filter(action__startswith="LEGAL_HOLD").order_by("pk")
    assert [(event.action, event.details["reason"]) for event in events] == [
        ("LEGAL_HOLD_SET", "監査"),
        ("LEGAL_HOLD_LIFT", "監査"),
    ]


def test_a_hold_without_end_is_refused_as_too_long(document):
    with pytest.raises(InvalidInput, match="legal_hold"):
        set_legal_hold(principal=local_operator(), document_id=document.public_id, reason="長" * 301)


def test_what_is_said_of_a_document_can_be_changed_and_search_knows_it_at_once(document):
    changed = update_document(
        principal=local_operator(),
        document_id=document.public_id,
        title="富岡製糸場貸与契約",
        document_type="guideline",
        metadata={"部署": "法務"},
        classification=Classification.C3,
    )
    assert (changed.title, changed.document_type_id, changed.classification) == ("富岡製糸場貸与契約", "guideline", 3)
    hits = search(
        local_operator(),
        SearchQuery(
            text="製糸場", filter=SearchFilter(metadata={"部署": "法務"}, document_types=("guideline",)), detail=True
        ),
    ).hits
    assert hits[0].legs["lexical"].rank == 1
    event = AuditEvent.objects.get(action="DOCUMENT_CHANGE")
    assert event.details["changed"] == ["classification", "document_type_id", "metadata", "title"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"title": " "}, InvalidInput),
        ({"title": "題" * 501}, InvalidInput),
        ({"document_type": "novel"}, InvalidInput),
        ({"document_type": ""}, InvalidInput),
    ],
)
def test_changes_that_can_not_be_are_refused_and_nothing_is_changed(document, changes, error):
    with pytest.raises(error):
        update_document(principal=local_operator(), document_id=document.public_id, metadata={"a": 1}, **changes)
    document.refresh_from_db()
    assert document.metadata == {}


def test_nobody_classifies_above_their_ceiling_and_a_reader_changes_nothing(tmp_path):
    collection = new_collection()
    document = upload_text(local_operator(), tmp_path, TEXT, collection=collection.slug).document
    with pytest.raises(Forbidden):
        update_document(
            principal=principal_with(Role.CURATOR, collection),
            document_id=document.public_id,
            classification=Classification.C3,
        )
    with pytest.raises(Forbidden):
        update_document(
            principal=principal_with(Role.READER, collection), document_id=document.public_id, title="変える"
        )
