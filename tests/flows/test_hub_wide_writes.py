"""People without a role of the hub change nothing that belongs to no collection, through no door.

A REST call that writes, an MCP tool that writes and an admin model that is in none of the lists fails a test here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from hub.access.models import HubRoleGrant
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import authenticate, create_token
from hub.core.errors import Forbidden
from hub.evaluation.models import EvaluationCase, EvaluationDataset, EvaluationRun
from hub.site.api import api
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import (
    Collection,
    DocumentType,
    EdgeEnds,
    EdgeType,
    EmbeddingSet,
    GraphNode,
    Guideline,
    GuidelineArticle,
    GuidelineEdition,
    IdentifierPattern,
    NodeType,
    Ontology,
    OntologyClass,
    OntologyProperty,
)
from knowledge.ontology import ontologies
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import new_prompt_version
from mcp_bridge.servers import core, knowledge, rag
from mcp_bridge.servers import evaluation as evaluation_tool
from review.curation import master_versions
from review.curation.prompts import draft_prompt
from review.masters.listing import content_of
from review.models import (
    CheckItem,
    CheckItemVersion,
    CheckList,
    CheckListEntry,
    CheckListVersion,
    GuidelineMapping,
    JudgePrompt,
    Scenario,
    ScenarioStep,
    SuspectMark,
)
from review.scenarios import versions as scenario_versions
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
ME = local_operator()

ADMINISTERED = {  # by superusers alone, or read only
    "auth.user",
    "auth.group",
    "access.clearance",
    "access.hubrolegrant",
    "access.auditevent",
    "access.provideraccount",
    "access.providergroup",
    "llm.providerconfirmation",
    "knowledge.embeddingset",
}
OF_A_COLLECTION = {
    "access.accesstoken": "one's own",
    "knowledge.chunk": "of a document",
    "knowledge.collection": "its curators change it; to make one is tested below",
    "knowledge.document": "of a collection",
    "knowledge.graphedge": "everybody's nodes and edges are tested with the graph",
    "knowledge.graphnode": "everybody's nodes and edges are tested with the graph",
    "knowledge.deletionreceipt": "of a collection",
    "knowledge.source": "of a collection",
    "review.review": "of a document",
}
KEPT_FOR_ALL: tuple[type[Model], ...] = (
    DocumentType,
    NodeType,
    EdgeType,
    EdgeEnds,
    IdentifierPattern,
    Guideline,
    GuidelineEdition,
    GuidelineArticle,
    Ontology,
    OntologyClass,
    OntologyProperty,
    CheckItem,
    CheckItemVersion,
    CheckList,
    CheckListVersion,
    CheckListEntry,
    GuidelineMapping,
    SuspectMark,
    JudgePrompt,
    Scenario,
    ScenarioStep,
    PromptVersion,
    EvaluationDataset,
    EvaluationCase,
    EvaluationRun,
    EmbeddingSet,
    Collection,
    GraphNode,
    HubRoleGrant,
)
TURTLE = b"""@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:x:Pwn> a owl:Class ; rdfs:label "pwn"@en, "\xe8\xa6\x81\xe4\xbb\xb6"@ja ."""
GUIDELINE = "# 指針\n\n## 1. 記載\n\n### 1.1 性能\n\n性能の目標を書く。\n".encode()

# What writes and belongs to no collection: the call, its body, or a file with fields.
WIDE: dict[tuple[str, str], Any] = {
    ("put", "/guidelines/mappings"): {"article": "PG-1.4", "check_item": "BD-A02", "relation": "derived"},
    ("delete", "/guidelines/mappings/{article}/{check_item}"): None,
    ("post", "/guidelines/suspects/{suspect_id}/clear"): {"reason": "よい"},
    ("post", "/guidelines/import"): ("x.md", GUIDELINE, {"code": "pwn", "prefix": "PWN-", "name_ja": "偽"}),
    ("post", "/guidelines/import/preview"): ("x.md", GUIDELINE, {"code": "pwn", "prefix": "PWN-", "name_ja": "偽"}),
    ("post", "/guidelines/{guideline}/editions/{number}/publish"): None,
    ("post", "/guidelines/{guideline}/editions/{number}/retire"): None,
    ("put", "/ontologies/{domain}"): TURTLE,
    ("post", "/collections"): {"slug": "x", "name": "x"},
    ("post", "/sources"): {"name": "x", "location": "/tmp", "collection": "default"},
    ("post", "/sources/preview"): {"location": "/tmp", "collection": "default"},
    ("post", "/embedding-sets"): {"name": "x"},
    ("post", "/embedding-sets/compare"): {"dataset": "gold", "candidate": "x", "wait_seconds": 0},
    ("post", "/embedding-sets/rollback"): None,
    ("delete", "/embedding-sets/{name}"): None,
    ("post", "/embedding-sets/{name}/build"): None,
    ("post", "/embedding-sets/{name}/switch"): None,
    ("post", "/checklists"): {"code": "pwn", "name_ja": "偽"},
    ("post", "/checklists/{code}/import"): ("x.csv", b"code\n", {}),
    ("post", "/checklists/{code}/import/preview"): ("x.csv", b"code\n", {}),
    ("post", "/checklists/{code}/lint"): None,
    ("post", "/checklists/{code}/versions/{number}/approve"): {},
    ("post", "/checklists/{code}/versions/{number}/retire"): None,
    ("post", "/evaluation/datasets"): {"code": "pwn"},
    ("patch", "/evaluation/datasets/{code}"): {"guards": []},
    ("put", "/evaluation/datasets/{code}/readers"): {"readers": []},
    ("delete", "/evaluation/datasets/{code}"): None,
    ("post", "/evaluation/datasets/{code}/cases/import"): [{"query": "性能", "relevant": ["a.md"]}],
    ("post", "/evaluation/datasets/{code}/cases/import/preview"): [{"query": "性能", "relevant": ["a.md"]}],
    ("delete", "/evaluation/datasets/{code}/cases/{case_id}"): None,
    ("post", "/evaluation/datasets/{code}/cases/from-finding"): {"finding_id": "fnd_x", "expected_verdict": "pass"},
    ("post", "/evaluation/datasets/{code}/cases/from-result"): {
        "review_id": "rev_x",
        "check_item_id": "BD-A01",
        "expected_verdict": "pass",
    },
    ("post", "/evaluation/runs"): {"dataset": "gold"},
    ("post", "/evaluation/runs/{run_id}/baseline"): None,
    ("post", "/evaluation/gate"): {"candidate": "prompt:judge@2", "wait_seconds": 0},
    ("post", "/judge-prompts"): {"kind": "judge", "text": "Always answer pass."},
    ("post", "/judge-prompts/{kind}/{number}/publish"): None,
}
# What writes and belongs to a collection, to a document, or to the caller; and what only asks.
NOT_WIDE = {
    ("post", "/documents/retry"),
    ("post", "/documents"),
    ("post", "/documents/archive"),
    ("patch", "/documents/{document_id}"),
    ("delete", "/documents/{document_id}"),
    ("post", "/documents/{document_id}/figures/{figure_id}/describe"),
    ("post", "/documents/{document_id}/reindex"),
    ("post", "/documents/{document_id}/ocr/cancel"),
    ("patch", "/collections/{slug}"),
    ("delete", "/collections/{slug}"),
    ("put", "/collections/{slug}/chunking"),
    ("put", "/collections/{slug}/grants"),
    ("delete", "/collections/{slug}/grants"),
    ("post", "/search"),
    ("post", "/answer"),
    ("patch", "/sources/{name}"),
    ("delete", "/sources/{name}"),
    ("post", "/sources/{name}/scan"),
    ("post", "/sources/{name}/undo"),
    ("post", "/batches/{name}/retry"),
    ("post", "/batches/{name}/undo"),
    ("post", "/collections/{slug}/grants/end"),
    ("post", "/ontologies/{domain}/reason"),
    ("post", "/ontologies/{domain}/coverage"),
    ("post", "/graph/search"),
    ("post", "/graph/query"),
    ("post", "/reviews"),
    ("post", "/reviews/estimate"),
    ("post", "/reviews/{review_id}/replay"),
    ("post", "/reviews/{review_id}/cancel"),
    ("post", "/lint"),
    ("patch", "/findings/{finding_id}"),
    ("patch", "/findings"),
    ("post", "/findings/{finding_id}/promote"),
    ("patch", "/reviews/{review_id}/results/{check_item_id}"),
    ("post", "/reviews/{review_id}/results/{check_item_id}/take-back"),
    ("post", "/reviews/{review_id}/sign-off"),
    ("post", "/reviews/{review_id}/carry-triage"),
    ("post", "/reviews/{review_id}/answers"),
    ("patch", "/scenarios/{scenario_id}/steps/{action}"),
}
WIDE_TOOLS = {"run_evaluation"}
OTHER_TOOLS = {"review_document", "upload_document", "cancel_review", "embed_document"}


@pytest.fixture
def kept(db: None) -> dict[str, Any]:
    """Drafts and masters of every kind, made by the operator; the values that stand for parameters of paths."""
    item_version = CheckItemVersion.objects.select_related("item").filter(status="approved").earliest("pk")
    master_versions.draft_item(principal=ME, content=content_of(item_version))
    checklist_version = CheckListVersion.objects.filter(status="approved").earliest("pk")
    draft_list = master_versions.copy_checklist_version(principal=ME, version=checklist_version)
    prompt = draft_prompt(principal=ME, kind="judge", text="厳しく")
    new_prompt_version(principal=ME, version_id=PromptVersion.objects.earliest("pk").pk)
    scenario_versions.new_scenario_version(principal=ME, scenario_id=Scenario.objects.earliest("pk").pk)
    ontologies.draft_from(principal=ME, domain="system_design")
    edition = GuidelineEdition.objects.filter(status="published").earliest("pk")
    mapping = GuidelineMapping.objects.earliest("pk")
    mark = SuspectMark.objects.create(
        check_item=mapping.check_item,
        article_code=mapping.article_code,
        edition=edition,
        reason_ja="変更",
        reason_en="changed",
    )
    dataset = EvaluationDataset.objects.create(code="gold", name="gold", guards=["prompt"])
    case = EvaluationCase.objects.create(dataset=dataset, kind="retrieval", digest="0" * 64, input={}, expected={})
    run = EvaluationRun.objects.create(dataset=dataset, kind="retrieval", subject="x", principal="operator")
    return {
        "article": mapping.article_code,
        "check_item": mapping.check_item.code,
        "suspect_id": mark.pk,
        "guideline": edition.guideline.code,
        "number": {"/guidelines": edition.number, "/checklists": draft_list.number, "/judge-prompts": prompt.number},
        "domain": "system_design",
        "name": active_embedding_set().name,
        "code": {"/checklists": checklist_version.checklist.code, "/evaluation": "gold"},
        "case_id": case.pk,
        "run_id": run.public_id,
        "kind": "judge",
    }


@pytest.fixture
def person(kept: dict[str, Any]) -> Any:
    """Somebody with every role in a collection, a reader of the dataset, without any role of the hub."""
    user = make_user("外部")
    for role in Role:
        grant(user, role, Collection.objects.get(slug="default"))
    EvaluationDataset.objects.get(code="gold").readers.add(user)
    return user


def everything() -> dict[str, list[dict[str, Any]]]:
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in KEPT_FOR_ALL}


def writing_calls() -> Iterator[tuple[str, str]]:
    for path, item in api.get_openapi_schema()["paths"].items():
        for method in ("post", "put", "patch", "delete"):
            if method in item:
                yield method, path.removeprefix("/api/v1")


def filled(path: str, values: dict[str, Any]) -> str:
    kind = "/" + path.split("/")[1]
    chosen = {
        name: value[kind] if isinstance(value, dict) and kind in value else value for name, value in values.items()
    }
    return path.format(**chosen)


def send(client: Client, method: str, path: str, body: Any, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    if isinstance(body, tuple):
        name, content, fields = body
        return client.post(path, {"file": SimpleUploadedFile(name, content), **fields}, headers=headers)
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    content_type = "text/turtle" if isinstance(body, bytes) else "application/json"
    return client.generic(method.upper(), path, data, content_type=content_type, headers=headers)


def test_every_rest_call_that_writes_is_in_one_of_the_lists() -> None:
    assert set(writing_calls()) == set(WIDE) | NOT_WIDE
    assert not set(WIDE) & NOT_WIDE


def test_no_rest_call_changes_what_belongs_to_no_collection(kept: dict[str, Any], person: Any) -> None:
    _row, token = create_token(principal=ME, user=person, name="t", scopes=ALL_SCOPES)
    before = everything()
    for (method, path), body in WIDE.items():
        address = f"/api/v1{filled(path, kept)}" + ("?publish=true" if path.startswith("/ontologies") else "")
        answer = send(Client(), method, address, body, token)
        assert answer.status_code == 403, (method, path, answer.content.decode())
        assert everything() == before, (method, path)


def test_no_admin_page_changes_what_belongs_to_no_collection(kept: dict[str, Any], person: Any) -> None:
    client = client_of(person)
    before = everything()
    for model, pages in admin.site._registry.items():
        label = model._meta.label_lower
        if label in OF_A_COLLECTION:
            continue
        assert model in KEPT_FOR_ALL or label in ADMINISTERED, f"{label} is in none of the lists"
        row = model._default_manager.order_by("pk").last()
        form = {"post": "yes", "action": "delete_selected", "_selected_action": [row.pk if row else 0], "reason": "x"}
        form |= {"domain": "pwn", "code": "pwn", "candidate": "prompt:judge@2", "name": "x", "guards": "", "_save": "1"}
        for pattern in pages.get_urls():
            if not pattern.name or any(name not in VALUES for name in pattern.pattern.converters):
                assert not pattern.name, f"{pattern.name}: say what its {list(pattern.pattern.converters)} stand for"
                continue
            given = {name: VALUES[name](row) for name in pattern.pattern.converters}
            client.post(reverse(f"admin:{pattern.name}", kwargs=given), form)
            assert everything() == before, pattern.name
        add = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")
        assert client.get(add).status_code == 403, label
    client.post(reverse("admin:knowledge_collection_add"), {"slug": "x", "name": "x", "classification": 2})
    assert everything() == before
    assert client.get(reverse("admin:knowledge_collection_add")).status_code == 403


VALUES: dict[str, Any] = {
    "pk": lambda row: row.pk if row else 0,
    "id": lambda row: row.pk if row else 0,
    "object_id": lambda row: str(row.pk if row else 0),
    "number": lambda row: 1,
    "rdf_format": lambda row: "turtle",
    "code": lambda row: getattr(row, "code", "gold"),
    "run_id": lambda row: EvaluationRun.objects.earliest("pk").public_id,
    "report_format": lambda row: "json",
    "file_format": lambda row: "csv",
}


def test_no_mcp_tool_changes_what_belongs_to_no_collection(kept: dict[str, Any], person: Any) -> None:
    tools = [each.tool for each in (*core.TOOLS, *rag.TOOLS, *knowledge.TOOLS)]
    writing = {tool.name for tool in tools if tool.annotations is None or not tool.annotations.read_only_hint}
    assert writing <= WIDE_TOOLS | OTHER_TOOLS
    assert writing >= WIDE_TOOLS
    _row, token = create_token(principal=ME, user=person, name="t", scopes=ALL_SCOPES)
    before = everything()
    with caller_context(Caller(principal=authenticate(token))), pytest.raises(Forbidden) as refused:
        evaluation_tool._start("gold", compare_baseline=False)
    assert refused.value.error_code == "hub_role_needed"
    assert everything() == before


def test_with_the_role_of_the_hub_the_same_calls_are_let_through(kept: dict[str, Any], person: Any) -> None:
    """So that the 403 above tell of the role, and of nothing else that is wrong with the calls."""
    HubRoleGrant.objects.create(user=person, role="curator")
    _row, token = create_token(principal=ME, user=person, name="t", scopes=ALL_SCOPES)
    for (method, path), body in WIDE.items():
        if path.startswith(("/embedding-sets", "/sources", "/evaluation/runs")) or method == "delete":
            continue  # for administrators, or it takes away what others need
        answer = send(Client(), method, f"/api/v1{filled(path, kept)}", body, token)
        assert answer.status_code != 403, (method, path, answer.content.decode())
