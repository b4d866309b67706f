"""What people of a walk may not see, with a word that is nowhere else, and the state that they may not change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from hub.access.models import Clearance
from hub.access.principals import Classification, Role, Scope, local_operator
from hub.access.services import create_token, record_event
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.ingest.graph import update_graph_now
from knowledge.models import (
    Collection,
    CollectionGrant,
    DeletionReceipt,
    Document,
    GraphNode,
    OntologyClass,
    Source,
)
from review.models import Finding, JudgePrompt, Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, start_review
from tests.access.people import COLLECTION
from tests.factories import upload_text, work_through

CANARY = "KANARIYA"
SECRET = f"""# {CANARY} 要件定義書

## 1. 目的

{CANARY} の監視を行う。極秘計画の記録は5秒以内とする。必要に応じて適切に対応する。

| 要件ID | 要件名 |
|---|---|
| FR-901 | {CANARY} 照会 |
"""
THEIRS = "neighbours"


def hide(folder: Path) -> dict[str, list[Any]]:
    """Make what is to be hidden from everybody below c3 who is not in THEIRS; gives ids to guess with, by field."""
    theirs = Collection.objects.get(slug=THEIRS)
    Collection.objects.filter(pk=theirs.pk).update(name=f"{CANARY} 営業部", description=CANARY)
    alice = User.objects.create(username=f"{CANARY}-alice", is_staff=True)
    CollectionGrant.objects.create(collection=theirs, user=alice, role=Role.CURATOR)
    Clearance.objects.create(user=alice, ceiling=Classification.C3)
    create_token(principal=local_operator(), user=alice, name=CANARY, scopes=frozenset({Scope.READ}))
    reviews = [_reviewed(folder, THEIRS, "他.md"), _reviewed(folder, COLLECTION, "秘.md", Classification.C3)]
    source = Source.objects.create(name="theirs", location=f"/{CANARY}", collection=theirs)
    DeletionReceipt.objects.create(
        document_id="doc_theirs", collection_slug=THEIRS, collection_key=theirs.pk, principal=CANARY
    )
    OntologyClass.objects.filter(ontology__status="draft").update(label_en=CANARY, definition_en=CANARY)
    JudgePrompt.objects.filter(status="draft").update(text=CANARY)
    dataset = EvaluationDataset.objects.create(code="theirs", name=CANARY)
    EvaluationCase.objects.create(
        dataset=dataset, kind="retrieval", digest="1" * 64, input={"query": CANARY}, expected={}
    )
    documents = [review.version.document for review in reviews if review.version]
    findings = Finding.objects.filter(result__review__in=reviews).order_by("pk")
    return {
        "document_id": [document.public_id for document in documents],
        "review_id": [review.public_id for review in reviews],
        "finding_id": [finding.public_id for finding in findings[:2]],
        "entity": [
            "FR-901",
            *GraphNode.objects.filter(public_id__in=[d.public_id for d in documents]).values_list(
                "public_id", flat=True
            ),
        ],
        "slug": [THEIRS],
        "collection": [THEIRS],
        "source": [source.name],
        "dataset": [dataset.code],
        "user": [alice.pk],
    }


def _reviewed(folder: Path, collection: str, name: str, level: Classification = Classification.C2) -> Review:
    operator = local_operator()
    text = SECRET + collection
    uploaded = upload_text(
        operator, folder, text, name=name, collection=collection, document_type="basic_design", classification=level
    )
    document = work_through(uploaded.document)
    Document.objects.filter(pk=document.pk).update(title=f"{CANARY} 要件定義書")
    update_graph_now(document.pk)
    options = ReviewOptions(check_items=("BD-A01", "BD-B02"))
    started = start_review(principal=operator, document_id=document.public_id, options=options)
    execution.execute(started.pk)
    record_event(principal=operator, action="DOCUMENT_CHANGE", resource=f"document:{document.public_id}", why=CANARY)
    return get_review(operator, started.public_id)


# Tables that belong to no collection, or to others: what no one of the walk may change. {ours} is the key of the
# collection of theirs, {me} that of who acts, {own} the collection's documents that they may see.
KEPT: dict[str, str] = {
    "knowledge_ontology": "true",
    "knowledge_ontologyclass": "true",
    "knowledge_ontologyproperty": "true",
    "knowledge_guideline": "true",
    "knowledge_guidelineedition": "true",
    "knowledge_guidelinearticle": "true",
    "knowledge_documenttype": "true",
    "knowledge_nodetype": "true",
    "knowledge_edgetype": "true",
    "knowledge_edgeends": "true",
    "knowledge_identifierpattern": "true",
    "knowledge_embeddingset": "true",
    "knowledge_source": "true",
    "knowledge_collection": "id <> {ours}",
    "knowledge_collectiongrant": "collection_id <> {ours}",
    "knowledge_document": "collection_id <> {ours} OR classification > 2",
    "knowledge_graphnode": "collection_id IS NULL OR collection_id <> {ours}",
    "review_checkitem": "true",
    "review_checkitemversion": "true",
    "review_checklist": "true",
    "review_checklistversion": "true",
    "review_checklistentry": "true",
    "review_guidelinemapping": "true",
    "review_suspectmark": "true",
    "review_judgeprompt": "true",
    "review_scenario": "true",
    "review_scenariostep": "true",
    "mcp_bridge_promptversion": "true",
    "evaluation_evaluationdataset": "true",
    "evaluation_evaluationcase": "dataset_id = (SELECT id FROM evaluation_evaluationdataset WHERE code = 'theirs')",
    "evaluation_evaluationrun": "true",
    "access_hubrolegrant": "true",
    "access_clearance": "true",
    "access_accesstoken": "user_id <> {me}",
    "auth_group": "true",
    "auth_user": "id <> {me}",
    "auth_user_groups": "true",
    "llm_providerconfirmation": "true",
}


def state_of_others(person: User, collection: Collection) -> dict[str, str]:
    """A digest of the rows of each table that the person may not change. One query."""
    parts = [
        f"SELECT '{table}', md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) FROM {table} t WHERE "  # noqa: S608
        + condition.format(ours=collection.pk, me=person.pk)
        for table, condition in KEPT.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())
