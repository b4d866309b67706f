"""Every text, number and list that people give has a bound: in the schema, in the model, and in the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import Field, JSONField, TextField

from hub.core.bounds import check_row
from hub.core.errors import InvalidInput
from hub.core.given_fields import GivenJson, GivenList, GivenText
from hub.site.api import api

Json = Any

# Ids and names in the address: the row is looked up by them, and nothing is stored. The server limits its length.
UNBOUNDED_PLACES = {"path"}
# What any of these keywords says can't be of any size.
BOUNDED_BY = {
    "string": {"maxLength", "enum", "const", "format"},
    "array": {"maxItems"},
    "integer": {"maximum", "exclusiveMaximum", "enum", "const"},
    "number": {"maximum", "exclusiveMaximum", "enum", "const"},
    "object": {"maxProperties", "properties"},
}


def given_places(document: Json) -> Iterator[tuple[str, Json]]:
    """Every schema of a value that callers give: (operation and field, schema), references resolved."""
    for address, operations in document["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] not in UNBOUNDED_PLACES:
                    name = f"{method} {address} {parameter['in']} {parameter['name']}"
                    yield from inside(document, name, parameter["schema"])
            for content_type, described in operation.get("requestBody", {}).get("content", {}).items():
                yield from inside(document, f"{method} {address} {content_type}", described["schema"])


def inside(document: Json, name: str, schema: Json) -> Iterator[tuple[str, Json]]:
    """The schema itself, and those of all that it holds."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    parts = [part for kind in ("anyOf", "allOf", "oneOf") for part in schema.get(kind, ())]
    if parts:
        for part in parts:
            yield from inside(document, name, part)
        return
    yield name, schema
    for field, one in schema.get("properties", {}).items():
        yield from inside(document, f"{name}.{field}", one)
    if "items" in schema:
        yield from inside(document, f"{name}.0", schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        yield from inside(document, f"{name}.key", schema["additionalProperties"])


def unbounded(document: Json) -> list[str]:
    """Name each text, number, list and free object that may be of any size."""
    return [
        f"{name}: {json.dumps(schema, ensure_ascii=False)}"
        for name, schema in given_places(document)
        if not BOUNDED_BY.get(schema.get("type", ""), schema.keys()) & schema.keys()
    ]


def test_every_text_number_and_list_that_callers_give_has_a_bound_in_the_schema():
    document = api.get_openapi_schema()
    assert len(list(given_places(document))) > 300, "the OpenAPI document names hardly any field"
    assert not unbounded(document)


@pytest.mark.parametrize("keyword", ["maxLength", "maxItems", "maximum", "maxProperties"])
def test_a_field_without_its_bound_is_found(keyword):
    document = json.loads(json.dumps(api.get_openapi_schema()))
    bounded = [(name, schema) for name, schema in given_places(document) if keyword in schema]
    assert bounded
    for name, schema in bounded:
        taken = schema.pop(keyword)
        assert any(one.startswith(f"{name}: ") for one in unbounded(document)), name
        schema[keyword] = taken


# What only the hub writes, and why no bound is needed.
WRITTEN_BY_THE_HUB = {
    "access.AccessToken.scopes": "a set of known scopes",
    "access.AuditEvent.details": "the hub's own line",
    "access.AuditSeal.gaps": "counted by the hub, at most a batch of numbers and their gaps",
    "access.AuditSeal.late": "counted by the hub, at most a batch of numbers",
    "backups.BackupRun.error": "the hub's own sentence, cut at 2,000 characters",
    "access.AuditSeal.parts": "the hub's own, one entry for each kind",
    "access.ProviderAccount.groups": "what an identity provider says, cut to a thousand",
    "access.ProviderAccount.gave_groups": "groups of the hub that those brought",
    "access.Authenticator.secret": "made by the hub",
    "access.HubSession.session_data": "the hub's own notes",
    "access.ProviderCredential.tokens": "of an identity provider, read up to a size",
    "access.ProviderState.described": "an identity provider's own description, read up to a size",
    "access.ProviderState.keys": "an identity provider's own keys, read up to a size",
    "access.IdempotencyRecord.headers": "the hub's own answer",
    "access.IdempotencyRecord.rights": "read from roles",
    "knowledge.AskedQuestion.collection_ids": "the collections that somebody may ask",
    "evaluation.EvaluationRun.parameters": "what was measured",
    "evaluation.EvaluationRun.metrics": "measured",
    "evaluation.EvaluationRun.scores": "measured",
    "evaluation.EvaluationRun.details": "measured",
    "evaluation.EvaluationRun.error": "the hub's own message",
    "evaluation.EvaluationRun.flips": "measured",
    "llm.RecordedAnswer.text": "a model's answer of limited tokens",
    "llm.RecordedAnswer.document_ids": "ids of documents",
    "knowledge.Source.report": "of a scan",
    "knowledge.DocumentVersion.status_reason_ja": "the hub's own message",
    "knowledge.DocumentVersion.status_reason_en": "the hub's own message",
    "knowledge.DocumentVersion.notices": "of the parser",
    "knowledge.DocumentVersion.anonymised": "numbers of replacements, by kind",
    "knowledge.DocumentVersion.asked_anonymising": "kinds and names of fields, bounded where an upload gives them",
    "knowledge.DocumentEdit.values": "titles and metadata, bounded where they are given",
    "knowledge.DocumentEdit.collection_ids": "two at most",
    "knowledge.PageText.reading": "what OCR read of a picture of limited size",
    "knowledge.VersionContent.markdown": "of the file, which has a largest size",
    "knowledge.VersionContent.blocks": "of the file",
    "knowledge.VersionContent.sections": "of the file",
    "knowledge.VersionContent.pages": "of the file",
    "knowledge.VersionContent.metadata": "of the file",
    "knowledge.Figure.caption": "of the file",
    "knowledge.Figure.alt_text": "of the file",
    "knowledge.Figure.description": "a model's answer of limited length",
    "knowledge.DeletionReceipt.counts": "counted",
    "knowledge.OperationSample.searches": "counted, by the fixed steps of a measure",
    "knowledge.OperationSample.sums": "counted, by the fixed names of the sums",
    "knowledge.GraphNode.aliases": "joined from contributions",
    "knowledge.GraphNode.keys": "made of names",
    "knowledge.GraphNode.properties": "of the best contribution",
    "knowledge.GraphEdge.properties": "of the best contribution",
    "knowledge.GuidelineEdition.writer_ids": "ids of users",
    "knowledge.Chunk.content": "cut to a size",
    "knowledge.Chunk.context_prefix": "headings of the file",
    "knowledge.Chunk.section_path": "headings of the file",
    "knowledge.EmbeddingSet.status_reason": "the hub's own message",
    "knowledge.IndexGeneration.failure": "the hub's own message",
    "knowledge.IndexChange.numbers": "of the index",
    "knowledge.LexicalSegment.ordinals": "of the index",
    "knowledge.Ontology.writer_ids": "ids of users",
    "knowledge.Ontology.kept_only": "derived from the file, which has a largest size",
    "knowledge.Ontology.shapes_report": "of the checker",
    "review.CheckItemVersion.writer_ids": "ids of users",
    "review.CheckListVersion.writer_ids": "ids of users",
    "review.Review.error": "the hub's own message",
    "review.Review.notices": "the hub's own messages",
    "review.CheckResult.strategy_reason_ja": "the hub's own message",
    "review.CheckResult.strategy_reason_en": "the hub's own message",
    "review.CheckResult.notices": "the hub's own messages",
    "review.Review.steps": "what was asked of a model, and what came",
    "review.CheckResult.judgement": "how a model judged",
    "review.ConcealedTexts.found": "texts of the original file, which has a largest size",
    "review.CheckResult.consulted": "the hub's own codes",
    "review.CheckResult.evidence": "ids of passages, nodes and articles",
    "review.CheckResult.steps": "known steps",
    "review.Finding.message_ja": "of a rule or model",
    "review.Finding.message_en": "of a rule or model",
    "review.Finding.location": "of a rule",
    "review.Finding.evidence": "quotes of limited length",
    "review.Finding.searched": "of a rule",
    "review.Finding.data": "of a rule",
    "review.Finding.rests_on": "ids of documents",
    "review.Finding.confidence_basis_ja": "the hub's own message",
    "review.Finding.confidence_basis_en": "the hub's own message",
    "review.Finding.second_opinion": "a model's answer of limited length",
    "review.Finding.carried": "of the comparison",
    "review.Suggestion.content_ja": "of a rule",
    "review.Suggestion.content_en": "of a rule",
    "review.Suggestion.rationale_ja": "of a rule",
    "review.Suggestion.rationale_en": "of a rule",
    "review.Suggestion.example": "of a rule",
    "review.Suggestion.references": "of a rule",
    "review.ModelSuggestion.content": "a model's answer of limited length",
    "review.ModelSuggestion.rationale": "a model's answer of limited length",
    "review.ModelSuggestion.example": "a model's answer of limited length",
    "review.ModelSuggestion.evidence": "a model's answer of limited length",
    "review.SuspectMark.reason_ja": "the hub's own message",
    "review.SuspectMark.reason_en": "the hub's own message",
    "review.JudgePrompt.writer_ids": "ids of users",
    "review.Scenario.writer_ids": "ids of users",
    "review.ScenarioProgress.done": "known steps",
    "mcp_bridge.PromptVersion.writer_ids": "ids of users",
}
# A contribution of documents and masters is made by the hub; only what a curator says has a bound.
BOUNDED_OTHERWISE = {"knowledge.GraphContribution.facts": "knowledge_graphcontribution_facts_size"}
OWN_APPS = ("hub.", "knowledge.", "review.", "mcp_bridge.")


def kept_fields() -> Iterator[tuple[str, Field]]:
    """Every text, JSON value and list of the hub's own tables, by name."""
    for model in apps.get_models():
        if model.__module__.startswith(OWN_APPS):
            for field in model._meta.local_fields:
                if isinstance(field, TextField | JSONField | ArrayField):
                    yield f"{model._meta.label}.{field.name}", field


def given_fields() -> list[Any]:
    given = [(name, field) for name, field in kept_fields() if name not in {*WRITTEN_BY_THE_HUB, *BOUNDED_OTHERWISE}]
    return [pytest.param(field, id=name) for name, field in given]


def largest_of(field: Field) -> tuple[str, int, object]:
    """The name of the table's constraint, its most, and a value that is just too large for the field."""
    if isinstance(field, GivenText):
        return "length", field.max_length, "x" * (field.max_length + 1)
    if isinstance(field, GivenList):
        return "items", field.most, ["x"] * (field.most + 1)
    assert isinstance(field, GivenJson), f"{field} has no bound; name it among what only the hub writes, or bound it"
    return "size", 4 * field.limits.size_bytes, {"x": "x" * field.limits.size_bytes}


def test_what_only_the_hub_writes_is_there():
    names = {name for name, _field in kept_fields()}
    assert len(names) > 100
    assert not {*WRITTEN_BY_THE_HUB, *BOUNDED_OTHERWISE} - names


@pytest.mark.parametrize("field", given_fields())
def test_every_text_list_and_json_that_people_give_has_a_bound_in_the_model_and_in_the_table(field, db):
    kind, most, too_large = largest_of(field)
    model = field.model
    checks = {one.name: one for one in model._meta.constraints}
    name = f"{model._meta.app_label}_{model._meta.model_name}_{field.name}_{kind}"
    assert str(most) in str(checks[name].condition)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s AND conrelid = %s::regclass",
            [name, model._meta.db_table],
        )
        (definition,) = cursor.fetchone()
    assert str(most) in definition
    row = model(**{field.name: too_large})
    with pytest.raises(InvalidInput, match=field.name):
        check_row(row, only=[field.name])
    with pytest.raises(InvalidInput) as refused:
        field.get_db_prep_save(too_large, connection)
    assert refused.value.data["field"] == field.name


@pytest.mark.parametrize("name", BOUNDED_OTHERWISE)
def test_what_is_bounded_in_part_has_a_constraint_in_the_table(name, db):
    label, _dot, _field = name.rpartition(".")
    assert BOUNDED_OTHERWISE[name] in {one.name for one in apps.get_model(label)._meta.constraints}
