"""No page of any model admin names, offers or accepts what the person may not see."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from hub.access.models import AccessToken, Clearance
from hub.access.principals import Classification, Role, Scope, local_operator
from hub.access.services import create_token, principal_for_user, record_event
from hub.admin_site.base import HubModelAdmin
from hub.admin_site.pages import registered_pages
from hub.admin_site.visible import VisibleRelationsMixin
from hub.evaluation.models import EvaluationDataset
from knowledge.graph.curation import NodeDraft, write_edge, write_node
from knowledge.models import (
    Chunk,
    ChunkPolicy,
    Collection,
    CollectionGrant,
    DeletionReceipt,
    DocumentVersion,
    GraphEdge,
    GraphNode,
    Ontology,
    Source,
)
from review.models import CheckListVersion, Review
from tests.factories import make_hub_curator
from tests.hub.admin.support import client_of, grant, make_user
from tests.knowledge.graph.support import add

pytestmark = pytest.mark.django_db
CANARY = "KANARIYA"
HIDDEN_TEXT = f"# {CANARY} 要件定義書\n\n| 要件ID | 名称 |\n|---|---|\n| FR-901 | {CANARY} 照会 |\n"
SHOWN_TEXT = "# 公開 基本設計書\n\n| 要件ID | 名称 |\n|---|---|\n| FR-001 | 照会 |\n"
ROWS_TRIED = 2
ADMINS = sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label)


@pytest.fixture
def hidden(tmp_path: Path) -> dict[str, Any]:
    """A collection of others, and a confidential document in the collection that bob curates."""
    ours = Collection.objects.create(slug="tenant-b", name="営業部")
    theirs = Collection.objects.create(slug="tenant-a", name=f"{CANARY} 開発部", description=CANARY)
    add(tmp_path, SHOWN_TEXT, name="公開.md", collection="tenant-b")
    document = add(tmp_path, HIDDEN_TEXT, name=f"{CANARY}.md", collection="tenant-a")
    secret = add(
        tmp_path, HIDDEN_TEXT + "\n秘", name=f"{CANARY}2.md", collection="tenant-b", classification=Classification.C3
    )
    alice = make_user(f"{CANARY}-alice")
    grant(alice, Role.CURATOR, theirs)
    Clearance.objects.create(user=alice, ceiling=Classification.C3)
    create_token(principal=principal_for_user(alice), user=alice, name=CANARY, scopes=frozenset({Scope.READ}))
    policy = ChunkPolicy.objects.first()
    Source.objects.create(name=f"{CANARY}-source", location=f"/{CANARY}", collection=theirs)
    DeletionReceipt.objects.create(document_id=CANARY, collection_slug=theirs.slug, principal=CANARY)
    record_event(
        principal=local_operator(), action="DOCUMENT_CHANGE", resource=f"document:{document.public_id}", who=CANARY
    )
    dataset = EvaluationDataset.objects.create(code="kanariya-cases", name=CANARY)
    dataset.readers.add(alice)
    for one in (document, secret):
        version = DocumentVersion.objects.get(pk=one.current_version_id)
        assert policy is not None
        Chunk.objects.create(
            public_id=f"{CANARY}{one.pk}",
            version=version,
            policy=policy,
            index=0,
            content=HIDDEN_TEXT[:10],
            section_path=[CANARY],
            start_offset=0,
            end_offset=10,
            token_count=3,
        )
        Review.objects.create(
            public_id=f"rev_{CANARY}{one.pk}",
            version=version,
            document_id_text=one.public_id,
            version_number=1,
            checklist_version=CheckListVersion.objects.first(),
            status="completed",
        )
    return {"collection": theirs, "document": document, "secret": secret, "ours": ours}


@pytest.fixture(params=["carol", "bob"])
def person(request: pytest.FixtureRequest, hidden: dict[str, Any]) -> User:
    """Carol is staff without any grant; bob curates another collection and sees no confidential documents."""
    user = make_user(request.param)
    if request.param == "bob":
        grant(user, Role.CURATOR, Collection.objects.get(slug="tenant-b"))
    return user


def relations(model: type[Model]) -> Iterator[tuple[str, type[Model]]]:
    for field in model._meta.get_fields():
        if field.concrete and field.remote_field is not None:
            yield field.name, field.remote_field.model


def some(model: type[Model]) -> list[object]:
    rows = list(model._default_manager.order_by("-pk").values_list("pk", flat=True)[:ROWS_TRIED])
    named = [row.pk for row in model._default_manager.all()[:300] if CANARY in str(row)]
    return [*named[:ROWS_TRIED], *(pk for pk in rows if pk not in named)]


def addresses(model: type[Model], client: Client, some_of: Callable[[type[Model]], list[object]]) -> Iterator[str]:
    """Every page that Django makes for the model, with what an attacker would fill in where the page opens at all.

    The list and the form for a new row are looked at here.
    """
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    listed, add_page = reverse(f"{name}_changelist"), reverse(f"{name}_add")
    others = list(relations(model))
    if opens(client, listed):
        yield from (f"{listed}{query}" for query in ("?_popup=1&q=KANARI", "?_facets=True&o=1.2"))
        yield from (f"{listed}?{field}__id__exact={pk}" for field, other in others for pk in some_of(other)[:1])
    if opens(client, add_page):
        yield from (f"{add_page}?{urlencode({field: pk})}" for field, other in others for pk in some_of(other))
    for pk in some_of(model):
        yield from (reverse(f"{name}_{page}", args=[pk]) for page in ("change", "delete", "history"))


def autocompletes(model: type[Model]) -> Iterator[str]:
    asked = {"app_label": model._meta.app_label, "model_name": model._meta.model_name}
    for field, _other in relations(model):
        yield f"{reverse('admin:autocomplete')}?{urlencode({**asked, 'field_name': field, 'term': 'KANARI'})}"


def assert_silent(client: Client, address: str) -> None:
    opens(client, address)


def opens(client: Client, address: str) -> bool:
    """Whether the page itself opens; what it shows, or what it leads to, names nothing that is hidden."""
    answer: Any = client.get(address, follow=True)
    assert answer.status_code < 500, address
    text = answer.content.decode(errors="replace").casefold()
    assert CANARY.casefold() not in text.replace(address.casefold(), ""), address
    return answer.status_code == 200 and not answer.redirect_chain


def test_no_page_of_any_model_names_a_hidden_row(person: User) -> None:
    client, some_of = client_of(person), cache(some)
    for model, _admin in ADMINS:
        for address in [*addresses(model, client, some_of), *autocompletes(model)]:
            assert_silent(client, address)


def test_no_page_of_our_own_names_a_hidden_row(person: User, hidden: dict[str, Any], queue: None) -> None:
    client = client_of(person)
    entity = GraphNode.objects.get(public_id=hidden["document"].public_id).public_id
    for page in registered_pages():
        if "<" in page.route:
            continue
        for query in ("", "?collection=tenant-a", f"?entity={entity}", "?entity=FR-901"):
            if page.view.__name__ and client.get(f"/admin/{page.route}").status_code == 405:
                break
            assert_silent(client, f"/admin/{page.route}{query}")


def test_every_model_admin_and_inline_offers_visible_rows_only() -> None:
    for model, one in ADMINS:
        assert isinstance(one, HubModelAdmin), model
        for inline in one.inlines:
            assert issubclass(inline, VisibleRelationsMixin), inline


def test_a_superuser_below_the_highest_ceiling_is_offered_no_confidential_node(hidden: dict[str, Any]) -> None:
    root = make_user("佐藤", is_superuser=True)
    Clearance.objects.create(user=root, ceiling=Classification.C2)
    node = GraphNode.objects.get(public_id=hidden["secret"].public_id)
    shown = client_of(root).get(reverse("admin:knowledge_graphedge_add"), {"source": node.pk}).content.decode()
    assert CANARY not in shown


def posted(client: Client, page: str, **fields: object) -> str:
    answer = client.post(reverse(page), fields)
    assert answer.status_code == 200
    form = answer.context["adminform"].form
    return json.dumps(form.errors.get_json_data(), ensure_ascii=False)


def test_a_hidden_end_of_an_edge_is_refused_as_if_it_were_unknown(hidden: dict[str, Any]) -> None:
    bob = make_user("bob")
    grant(bob, Role.CURATOR, Collection.objects.get(slug="tenant-b"))
    client = client_of(bob)
    own = GraphNode.objects.filter(collection__slug="tenant-b", classification=Classification.C2).first()
    secret = GraphNode.objects.get(public_id=hidden["secret"].public_id)
    assert own is not None
    asked = {"type": "TRACES_TO", "target": own.pk}
    refused = posted(client, "admin:knowledge_graphedge_add", source=secret.pk, **asked)
    assert refused == posted(client, "admin:knowledge_graphedge_add", source=10**8, **asked)
    assert "source" in refused


def test_a_hidden_collection_of_a_node_is_refused_as_if_it_were_unknown(hidden: dict[str, Any]) -> None:
    bob = make_user("bob")
    grant(bob, Role.CURATOR, Collection.objects.get(slug="tenant-b"))
    asked = {"type": "Requirement", "name": "FR-777", "code": "", "aliases": "", "properties": "{}"}
    client = client_of(bob)
    refused = posted(client, "admin:knowledge_graphnode_add", collection=hidden["collection"].pk, **asked)
    assert refused == posted(client, "admin:knowledge_graphnode_add", collection=10**8, **asked)


def test_what_goes_with_a_node_is_named_as_far_as_it_is_visible(hidden: dict[str, Any]) -> None:
    bob = make_user("bob")
    grant(bob, Role.CURATOR, Collection.objects.get(slug="tenant-b"))
    ours = Collection.objects.get(slug="tenant-b")
    draft = NodeDraft(type="Requirement", name="FR-777", code="", aliases=[], properties={}, collection=ours)
    node = write_node(principal=principal_for_user(bob), draft=draft)
    secret = GraphNode.objects.get(type="Requirement", classification=Classification.C3, collection=ours)
    write_edge(principal=local_operator(), source=secret, edge_type="TRACES_TO", target=node)
    asked = client_of(bob).get(reverse("admin:knowledge_graphnode_delete", args=[node.pk]))
    assert asked.status_code == 200
    text = asked.content.decode()
    assert "FR-777" in text
    assert str(GraphEdge.objects.get(source=secret, target=node)) not in text


def test_a_domain_that_has_only_a_draft_is_named_to_curators_of_the_hub_alone() -> None:
    draft = Ontology.objects.create(domain=f"{CANARY.lower()}_domain", name_ja="案", name_en="draft")
    draft.classes.create(code="x", iri="urn:x", label_ja="案", label_en="draft")
    draft.properties.create(code="y", iri="urn:y", kind="object", label_ja="案", label_en="draft")
    pages = ["ontology_changelist", "ontology_import", "ontologyclass_changelist", "ontologyproperty_changelist"]
    carol, curator = client_of(make_user("carol")), client_of(make_hub_curator(make_user("担当")))
    for page in pages:
        address = reverse(f"admin:knowledge_{page}")
        assert_silent(carol, address)
        assert draft.domain in curator.get(address).content.decode(), page


def test_a_list_is_not_looked_up_through_what_points_at_its_rows(hidden: dict[str, Any]) -> None:
    bob = make_user("bob")
    grant(bob, Role.CURATOR, Collection.objects.get(slug="tenant-b"))
    client = client_of(bob)
    listed = reverse("admin:knowledge_graphnode_changelist")
    assert client.get(listed, {"incoming__isnull": "False"}).status_code == 400
    assert client.get(listed, {"contributions": "1"}).status_code == 400
    assert client.get(listed, {"collection__id__exact": str(hidden["ours"].pk)}).status_code == 200


def test_the_history_of_a_collection_names_no_people_to_its_readers() -> None:
    collection = Collection.objects.get(slug="default")
    other = make_user(f"{CANARY}-other")
    asked = {
        "name": collection.name,
        "description": "",
        "classification": collection.classification,
        "retention_days": "",
        "grants-TOTAL_FORMS": 1,
        "grants-INITIAL_FORMS": 0,
        "grants-0-user": other.username,
        "grants-0-role": Role.CURATOR,
    }
    root = client_of(make_user("佐藤", is_superuser=True))
    assert root.post(reverse("admin:knowledge_collection_change", args=[collection.pk]), asked).status_code == 302
    reader = make_user("高橋")
    grant(reader, Role.READER, collection)
    page = reverse("admin:knowledge_collection_history", args=[collection.pk])
    assert CANARY in root.get(page).content.decode()
    answer = client_of(reader).get(page)
    assert answer.status_code == 200
    assert CANARY not in answer.content.decode()
    assert CollectionGrant.objects.filter(user=other).exists()
    assert not AccessToken.objects.filter(user=other).exists()
