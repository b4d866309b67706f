"""Values for the fields of REST calls that lead to something in a hub that has a reviewed document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from hub.access.principals import local_operator
from hub.evaluation.models import EvaluationCase, EvaluationRun
from knowledge.documents.sources import create_source
from knowledge.models import Chunk, EmbeddingSet, GuidelineEdition, Source, UploadBatch
from review.evaluation.datasets import create_dataset
from review.models import Finding, GuidelineMapping, Review, Scenario

TURTLE = (
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    '<urn:x> a skos:Concept ; skos:prefLabel "予約"@ja , "booking"@en .\n'
)

SOURCE_ADDRESSES = tuple(f"/api/v1/sources/{{name}}{rest}" for rest in ("", "/scan", "/undo"))
BATCH_ADDRESSES = tuple(f"/api/v1/batches/{{name}}{rest}" for rest in ("", "/documents", "/retry", "/undo"))
SCAN, FILES = "scan_of_the_tests", "files"


def examples_of(review: Review, folder: Path, *, dataset_code: str = "cases") -> dict[str, Any]:
    """Rows of every kind, so that a path with an id leads to something. ``+name`` is a field that may be left out."""
    operator = local_operator()
    finding = Finding.objects.filter(result__review=review).first()
    assert finding is not None
    assert review.version is not None
    document = review.version.document
    source = create_source(
        principal=operator,
        name="watched",
        kind="folder",
        location=str(folder),
        collection=document.collection.slug,
    )
    undo = {"batch": SCAN, "at": "2026-03-31T09:00:00+09:00", "new": 0, "changed": 0}
    Source.objects.filter(pk=source.pk).update(report={"undo": undo})  # of a scan that took nothing in
    UploadBatch.objects.create(owner=None, name=SCAN)
    for owner in User.objects.filter(is_superuser=True):
        UploadBatch.objects.create(owner=owner, name=FILES)
    dataset = create_dataset(principal=operator, code=dataset_code, name="cases")
    case = EvaluationCase.objects.create(
        dataset=dataset,
        kind="retrieval",
        digest="0",
        input={"query": "予約"},
        expected={"relevant": [{"document": "設計書.md"}]},
    )
    run = EvaluationRun.objects.create(
        dataset=dataset, kind="review", subject="x", parameters={"last_case": 0, "as_system": True}, principal="x"
    )
    mapping = GuidelineMapping.objects.select_related("check_item").first()
    scenario = Scenario.objects.filter(status="published").first()
    edition = GuidelineEdition.objects.select_related("guideline").first()
    assert mapping is not None
    assert edition is not None
    assert scenario is not None
    step = scenario.steps.first()
    assert step is not None
    return {
        "document_id": document.public_id,
        "document_ids": [document.public_id],
        "+document_ids": True,
        "collection": document.collection.slug,
        "slug": document.collection.slug,
        "post /api/v1/collections slug": "made-now",
        "review_id": review.public_id,
        "base": review.public_id,
        "finding_id": finding.public_id,
        "finding_ids": [finding.public_id],
        "check_item_id": finding.result.item_version.item.code,
        "verdict": "pass",
        "+triage": True,
        "triage": "waived",
        "+expires_at": True,
        "expires_at": "2099-03-31T00:00:00+09:00",
        "+reason": True,
        "reason": "次期で対応",
        "+chunk_unit": True,
        "chunk_unit": "characters",
        "chunk_id": Chunk.objects.filter(version=review.version).values_list("public_id", flat=True)[0],
        "+user": True,
        "user": "all-scopes",
        "role": "reader",
        "query": "予約",
        "text": "予約を行う。",
        "entity": "図書予約システム",
        "cypher_query": "MATCH (n) RETURN n LIMIT 1",
        "candidate": "checklist:basic-design@1",
        "article": mapping.article_code,
        "check_item": mapping.check_item.code,
        "relation": "direct",
        "guideline": edition.guideline.code,
        "number": edition.number,
        "/api/v1/guidelines/{guideline}/editions/{number}/diff base": edition.number,
        "/api/v1/embedding-sets/compare candidate": EmbeddingSet.objects.values_list("name", flat=True)[0],
        "/api/v1/ontologies/{domain} domain": "system_design",
        "domain": "system_design",
        "/api/v1/ontologies/{domain}/diff base": 1,
        "/api/v1/checklists/{code}/versions/{number}/diff base": 1,
        "code": "basic-design",
        "post /api/v1/checklists code": "made-now",
        "post /api/v1/evaluation/datasets code": "made-now",
        **{
            f"{address} code": dataset.code
            for address in (
                "/api/v1/evaluation/datasets/{code}",
                "/api/v1/evaluation/datasets/{code}/readers",
                "/api/v1/evaluation/datasets/{code}/cases",
                "/api/v1/evaluation/datasets/{code}/cases/import",
                "/api/v1/evaluation/datasets/{code}/cases/import/preview",
                "/api/v1/evaluation/datasets/{code}/cases/from-finding",
                "/api/v1/evaluation/datasets/{code}/cases/from-result",
                "/api/v1/evaluation/datasets/{code}/cases/{case_id}",
            )
        },
        "case_id": case.pk,
        "dataset": dataset.code,
        "run_id": run.public_id,
        "/api/v1/evaluation/runs/{run_id}/compare base": run.public_id,
        "name": EmbeddingSet.objects.values_list("name", flat=True)[0],
        **{f"{address} name": source.name for address in SOURCE_ADDRESSES},
        **{f"{address} name": FILES for address in BATCH_ADDRESSES},
        "post /api/v1/sources name": "another",
        "post /api/v1/sources location": str(folder.parent),
        "post /api/v1/sources/preview location": str(folder),
        "kind": "judge",
        "post /api/v1/sources kind": "folder",
        "post /api/v1/sources/preview kind": "folder",
        "post /api/v1/sources/{name}/undo scan": SCAN,
        "scenario_id": scenario.code,
        "action": step.action,
        "wait_seconds": 0,
        "+wait_seconds": True,
        "body": TURTLE,
    }
