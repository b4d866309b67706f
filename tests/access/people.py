"""The people of the matrix, and the hub that they call: one of everything, each made once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model

from hub.access.models import AuditEvent, Clearance, HubRoleGrant
from hub.access.principals import ALL_SCOPES, HubRole, Role, Scope, local_operator
from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.services import create_token, record_event
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from hub.llm.models import ProviderConfirmation
from knowledge.graph.curation import NodeDraft, write_edge, write_node
from knowledge.ingest.graph import update_graph_now
from knowledge.models import (
    Chunk,
    Collection,
    CollectionGrant,
    DeletionReceipt,
    Document,
    Figure,
    GraphEdge,
    GraphNode,
    GuidelineEdition,
    IdentifierPattern,
    Ontology,
    Source,
)
from knowledge.ontology import ontologies
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import new_prompt_version
from review.curation import master_versions
from review.curation.prompts import draft_prompt
from review.masters.listing import content_of
from review.models import (
    CheckItemVersion,
    CheckList,
    CheckListVersion,
    GuidelineMapping,
    JudgePrompt,
    Review,
    Scenario,
    SuspectMark,
)
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, start_review
from review.scenarios import versions as scenario_versions
from tests.factories import upload_text, work_through
from tests.properties.examples import examples_of
from tests.review.conftest import DESIGN

COLLECTION = "dev-4711"
DATASET = "cases-4711"
NOBODY = "nobody"


def person_of(role: HubRole) -> str:
    """The person who has a role of the hub, and nothing else; a role in the collection has the person of its name."""
    return f"hub_{role.value}"


# Nobody has no token and no session; all others are staff.
PERSONS = (
    NOBODY,
    "carol",  # no grant anywhere
    *(role.value for role in Role),
    "neighbour",  # curator of another collection
    *map(person_of, HubRole),
    "superuser",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopledHub:
    """Users and tokens by the person's name, values for fields of REST calls by name, and a row of each model.

    ``marks`` are ids and names of what belongs to the collection: who is shown one sees something of it.
    """

    users: dict[str, User]
    tokens: dict[str, str]
    examples: dict[str, Any]
    rows: dict[str, Any]
    marks: tuple[str, ...]

    def narrow_token(self, scopes: frozenset[Scope]) -> str:
        """Make a token of the superuser with these scopes alone."""
        user = self.users["superuser"]
        return create_token(principal=local_operator(), user=user, name="narrow", scopes=scopes)[1]


def make_peopled_hub(folder: Path) -> PeopledHub:
    """Fill the hub's tables; to be taken back by the caller."""
    collection = Collection.objects.create(slug=COLLECTION, name="開発部")
    others = Collection.objects.create(slug="neighbours", name="営業部")
    users = {name: _user(name) for name in PERSONS if name != NOBODY}
    for role in Role:
        CollectionGrant.objects.create(collection=collection, user=users[role.value], role=role)
    CollectionGrant.objects.create(collection=others, user=users["neighbour"], role=Role.CURATOR)
    for hub_role in HubRole:
        HubRoleGrant.objects.create(user=users[person_of(hub_role)], role=hub_role)
    review = _reviewed(folder)
    examples = examples_of(review, folder, dataset_code=DATASET)
    EvaluationDataset.objects.get(code=DATASET).readers.add(users["curator"], users["hub_curator"])
    EvaluationCase.objects.filter(dataset__code=DATASET).update(expected={"relevant": [{"document": "a.md"}]})
    rows = _rows(review, collection, users["superuser"])
    tokens = {
        name: create_token(principal=local_operator(), user=user, name=f"of {name}", scopes=ALL_SCOPES)[1]
        for name, user in users.items()
    }
    examples |= _more_examples(rows)
    marks: tuple[str, ...] = (COLLECTION, DATASET, rows["knowledge.graphnode"].public_id)
    marks += tuple(examples[name] for name in ("document_id", "review_id", "chunk_id", "finding_id", "run_id"))
    return PeopledHub(users=users, tokens=tokens, examples=examples, rows=rows, marks=marks)


def _reviewed(folder: Path) -> Review:
    """A document of the collection with a review of two checks, so that calls cost little."""
    operator = local_operator()
    uploaded = upload_text(operator, folder, DESIGN, collection=COLLECTION, document_type="basic_design")
    document = work_through(uploaded.document)
    options = ReviewOptions(check_items=("BD-A01", "BD-B02"))
    started = start_review(principal=operator, document_id=document.public_id, options=options)
    execution.execute(started.pk)
    return get_review(operator, started.public_id)


def _user(name: str) -> User:
    is_superuser = name == "superuser"
    user = User.objects.create(username=name, is_staff=True, is_superuser=is_superuser)
    user.set_unusable_password()
    user.save()
    return user


def _rows(review: Review, collection: Collection, superuser: User) -> dict[str, Any]:
    """A row of each model, of the collection where it belongs to one, and a draft of what has drafts."""
    operator = local_operator()
    assert review.version is not None
    document = review.version.document
    update_graph_now(document.pk)
    node = write_node(
        principal=operator,
        draft=NodeDraft(
            type="Requirement", name="FR-777", code="FR-777", aliases=[], properties={}, collection=collection
        ),
    )
    other = write_node(
        principal=operator,
        draft=NodeDraft(
            type="Requirement", name="FR-778", code="FR-778", aliases=[], properties={}, collection=collection
        ),
    )
    write_edge(principal=operator, source=node, edge_type="TRACES_TO", target=other)
    record_event(principal=operator, action="DOCUMENT_CHANGE", resource=f"document:{document.public_id}")
    item_version = CheckItemVersion.objects.select_related("item").filter(status="approved").earliest("pk")
    draft_item = master_versions.draft_item(principal=operator, content=content_of(item_version))
    list_version = CheckListVersion.objects.filter(status="approved", checklist__code="basic-design").latest("pk")
    draft_list = master_versions.copy_checklist_version(principal=operator, version=list_version)
    draft_prompt(principal=operator, kind="judge", text="厳しく")
    new_prompt_version(principal=operator, version_id=PromptVersion.objects.earliest("pk").pk)
    scenario_versions.new_scenario_version(principal=operator, scenario_id=Scenario.objects.earliest("pk").pk)
    ontologies.draft_from(principal=operator, domain="system_design")
    draft = Ontology.objects.filter(domain="system_design").latest("pk")
    mapping = GuidelineMapping.objects.select_related("check_item").earliest("pk")
    edition = GuidelineEdition.objects.select_related("guideline").filter(status="published").earliest("pk")
    mark = SuspectMark.objects.create(
        check_item=mapping.check_item,
        article_code=mapping.article_code,
        edition=edition,
        reason_ja="変更",
        reason_en="changed",
    )
    blob = review.version.blob
    figure = Figure.objects.create(version=review.version, index=0, blob=blob, media_type="image/png", caption="図")
    receipt = DeletionReceipt.objects.create(
        document_id="doc_gone",
        collection_slug=collection.slug,
        collection_key=collection.pk,
        principal="x",
    )
    zoe = User.objects.create(username="zoe", is_staff=True)
    token, _secret = create_token(principal=operator, user=zoe, name="another's", scopes=frozenset({Scope.READ}))
    found: list[Model] = [
        zoe,
        Group.objects.create(name="課"),
        IdentifierPattern.objects.create(pattern="RPT-[0-9]+"),
        Clearance.objects.create(user=zoe, ceiling=1),
        HubRoleGrant.objects.create(user=zoe, role=HubRole.CURATOR),
        ProviderAccount.objects.create(user=zoe, provider="office", subject="zoe"),
        ProviderGroup.objects.create(provider="office", value="qa"),
        token,
        AuditEvent.objects.filter(resource=f"document:{document.public_id}").latest("pk"),
        ProviderConfirmation.objects.create(
            provider="openai", endpoint="https://x.example", evidence="契約書", confirmed_by=superuser
        ),
        Chunk.objects.filter(version=review.version).earliest("pk"),
        collection,
        Document.objects.get(pk=document.pk),
        GraphNode.objects.get(pk=node.pk),
        GraphEdge.objects.filter(source=node).earliest("pk"),
        edition.guideline,
        draft,
        draft.classes.earliest("pk"),
        draft.properties.earliest("pk"),
        receipt,
        Source.objects.get(collection=collection),
        draft_item.item,
        draft_item,
        CheckList.objects.get(pk=draft_list.checklist_id),
        draft_list,
        EvaluationDataset.objects.get(code=DATASET),
        mapping,
        mark,
        JudgePrompt.objects.latest("pk"),
        review,
        Scenario.objects.latest("pk"),
        PromptVersion.objects.latest("pk"),
        figure,
        edition,
    ]
    shipped = [model._default_manager.order_by("pk").first() for model in admin.site._registry]
    return {row._meta.label_lower: row for row in (*shipped, *found) if row is not None}


def _more_examples(rows: dict[str, Any]) -> dict[str, Any]:
    """Values that lead to what the rows add."""
    return {
        "patch /api/v1/documents/{document_id} +title": True,
        "title": "新しい題",
        "post /api/v1/documents +collection": True,
        "post /api/v1/documents/archive +collection": True,
        "patch /api/v1/collections/{slug} +name": True,
        "patch /api/v1/collections/{slug} name": "開発二部",
        "user": "reader",
        "username": "reader",
        "get /api/v1/audit/export format": "jsonl",
        "cypher_query": "MATCH (n) WHERE n.name = 'FR-777' RETURN n",
        "suspect_id": rows["review.suspectmark"].pk,
        "figure_id": rows["knowledge.figure"].public_id,
        "post /api/v1/judge-prompts/{kind}/{number}/publish number": rows["review.judgeprompt"].number,
        "/api/v1/checklists/{code}/versions/{number}/approve number": rows["review.checklistversion"].number,
        "/api/v1/checklists/{code}/versions/{number}/retire number": rows["review.checklistversion"].number,
    }
