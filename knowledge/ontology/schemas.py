"""Shapes of ontologies, of what follows from them, and of coverage in answers."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from hub.core.languages import in_language, shown
from knowledge.models import Ontology
from knowledge.ontology.answers import ImportPreview, ReasoningAnswer
from knowledge.ontology.difference import OntologyDifference
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.reasoning import FoundViolation, InferenceType, InferredFact
from knowledge.ontology.vocabulary import compact, ontology_iri
from knowledge.types.notices import text_of


class OntologyOut(BaseModel):
    domain: str
    iri: str
    version: int
    status: str = Field(description="draft, published or retired")
    name: dict[str, str] = Field(description="by language: ja, en")
    document_types: list[str]
    classes_count: int
    topics_count: int = Field(description="classes that documents are expected to treat")
    properties_count: int
    created_at: datetime
    created_by: str
    published_at: datetime | None
    published_by: str
    retired_at: datetime | None
    retired_by: str
    shapes_report: dict[str, Any] | None = Field(
        description="what SHACL shapes in it said; null without shapes, `pending` until they are checked"
    )


class OntologiesOut(BaseModel):
    items: list[OntologyOut]
    next_cursor: str | None = None


class FieldChangeOut(BaseModel):
    field: str
    before: str
    after: str


class ChangedOut(BaseModel):
    iri: str
    code: str
    label: str
    changes: list[FieldChangeOut]


class ChangesOut(BaseModel):
    added: list[ChangedOut]
    removed: list[ChangedOut]
    changed: list[ChangedOut]


class DifferenceOut(BaseModel):
    is_same: bool
    header: list[FieldChangeOut]
    classes: ChangesOut
    properties: ChangesOut
    statements_added: list[str] = Field(description="beyond classes and properties, at most 200; the count is whole")
    statements_removed: list[str]
    statements_added_count: int
    statements_removed_count: int


class ConstructOut(BaseModel):
    term: str
    count: int
    example: str
    note: str


class OntologyImportOut(BaseModel):
    domain: str
    version: int | None = Field(description="null for a preview: nothing was stored")
    status: str
    compared_with: int | None = Field(description="the version that the difference is against")
    classes_count: int
    properties_count: int
    difference: DifferenceOut
    kept_only: list[ConstructOut] = Field(description="constructs that are kept and exported but not used by checks")


class InferredFactOut(BaseModel):
    subject: str
    predicate: str
    object: str
    confidence: float = Field(description="1.0: it follows necessarily from what the ontology says")
    rule: str
    depth: int = Field(description="inferences in a row")
    chain: list[str] = Field(description="the facts it rests on, premises first, each with its rule")


class ViolationOut(BaseModel):
    kind: str
    about: list[str]
    description: str
    chain: list[str]


class ReasonOut(BaseModel):
    ontology_domain: str
    version: int
    inference_type: str
    target_class: str | None
    depth: int
    inferred_facts: list[InferredFactOut]
    total_inferred: int = Field(description="all facts of this type, also those beyond depth or the limit of 500")
    consistency_result: bool
    violations: list[ViolationOut]
    explanation: str
    reasoning_chain: list[str]


class ReasonIn(BaseModel):
    inference_type: InferenceType
    target_class: str = Field("", max_length=500, description="an IRI, a prefixed name (hub:…) or a class's code")
    depth: int = Field(3, ge=1, le=20, description="the most inferences in a row")


def ontology_out(row: Ontology) -> OntologyOut:
    """Needs the counts of :func:`knowledge.ontology.ontologies.list_ontologies`."""
    counts = row.__dict__
    return OntologyOut(
        domain=row.domain,
        iri=ontology_iri(row.domain),
        version=row.number,
        status=row.status,
        name={"ja": row.name_ja, "en": row.name_en},
        document_types=row.document_types,
        classes_count=counts["classes_number"],
        topics_count=counts["topics_number"],
        properties_count=counts["properties_number"],
        created_at=row.created_at,
        created_by=row.created_by,
        published_at=row.published_at,
        published_by=row.published_by,
        retired_at=row.retired_at,
        retired_by=row.retired_by,
        shapes_report=row.shapes_report,
    )


def difference_out(found: OntologyDifference) -> DifferenceOut:
    return DifferenceOut.model_validate(asdict(found))


def import_out(preview: ImportPreview, stored: Ontology | None) -> OntologyImportOut:
    """``stored`` is None for a preview."""
    facts: OntologyFacts = preview.facts
    return OntologyImportOut(
        domain=facts.domain,
        version=stored.number if stored else None,
        status=stored.status if stored else "preview",
        compared_with=preview.base.number if preview.base else None,
        classes_count=len(facts.classes),
        properties_count=len(facts.properties),
        difference=difference_out(preview.difference),
        kept_only=[
            ConstructOut(
                term=each.term, count=each.count, example=each.example, note=in_language(each.note_ja, each.note_en)
            )
            for each in preview.kept_only
        ],
    )


def reason_out(answer: ReasoningAnswer) -> ReasonOut:
    found = answer.reasoning
    violations = [_violation_out(each, answer.prefixes) for each in found.violations]
    lines = [line for fact in found.facts for line in fact.chain] or [line for v in violations for line in v.chain]
    return ReasonOut(
        ontology_domain=answer.domain,
        version=answer.number,
        inference_type=answer.inference_type,
        target_class=answer.target,
        depth=answer.depth,
        inferred_facts=[_fact_out(fact) for fact in found.facts],
        total_inferred=found.total,
        consistency_result=found.is_consistent,
        violations=violations,
        explanation=_explanation(answer),
        reasoning_chain=list(dict.fromkeys(lines)),
    )


def _fact_out(fact: InferredFact) -> InferredFactOut:
    subject, predicate, obj = map(str, fact.triple)
    return InferredFactOut(
        subject=subject,
        predicate=predicate,
        object=obj,
        confidence=1.0,
        rule=fact.rule,
        depth=fact.depth,
        chain=list(fact.chain),
    )


def _violation_out(found: FoundViolation, prefixes: dict[str, str]) -> ViolationOut:
    violation = found.violation
    about = violation.about
    names = [compact(str(term), prefixes) if ":" in str(term) else term.n3() for term in about]
    found_number, demanded = violation.numbers or (0, 0)
    said = text_of("violations", violation.kind, *names, found=found_number, demanded=demanded)
    return ViolationOut(
        kind=violation.kind,
        about=[str(term) for term in violation.about],
        description=shown(said),
        chain=list(found.chain),
    )


def _explanation(answer: ReasoningAnswer) -> str:
    found = answer.reasoning
    if answer.inference_type is InferenceType.CONSISTENCY:
        return shown(text_of("reasoning", "consistency", asserted=found.asserted, violations=len(found.violations)))
    facts = text_of("reasoning", "facts", asserted=found.asserted, total=found.total, shown=len(found.facts))
    left_out = text_of("reasoning", "left_out", depth=answer.depth, deeper=found.deeper)
    return shown(facts) + (shown(left_out) if found.deeper else "")
