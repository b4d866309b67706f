"""Shapes of ontologies, of what follows from them, and of coverage in answers."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from rdflib.term import Node

from hub.core.languages import in_language
from knowledge.models import Ontology
from knowledge.ontology.answers import ImportPreview, ReasoningAnswer
from knowledge.ontology.difference import OntologyDifference
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.reasoning import FoundViolation, InferenceType, InferredFact
from knowledge.ontology.vocabulary import compact, ontology_iri


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
    names = [_name(term, prefixes) for term in violation.about]
    ja, en = _VIOLATIONS[violation.kind]
    numbers = violation.numbers or (0, 0)
    filled = {"found": numbers[0], "demanded": numbers[1]}
    return ViolationOut(
        kind=violation.kind,
        about=[str(term) for term in violation.about],
        description=in_language(ja, en).format(*names, **filled),
        chain=list(found.chain),
    )


def _name(term: Node, prefixes: dict[str, str]) -> str:
    return compact(str(term), prefixes) if ":" in str(term) else term.n3()


_VIOLATIONS = {
    "disjoint_classes": (
        "{0} は、互いに素な {1} と {2} の両方に属します。",
        "{0} belongs to {1} and to {2}, which share nothing.",
    ),
    "unsatisfiable_class": (
        "クラス {0} は、互いに素な {1} と {2} の両方の下にあり、個体を持てません。",
        "Class {0} is below both {1} and {2}, which share nothing: it can have no instances.",
    ),
    "min_cardinality": (
        "{0} の {1} は {demanded} 件以上必要ですが、{found} 件です。",
        "{0} needs at least {demanded} of {1}, and has {found}.",
    ),
    "max_cardinality": (
        "{0} の {1} は {demanded} 件までですが、{found} 件あります。",
        "{0} may have at most {demanded} of {1}, and has {found}.",
    ),
    "functional": (
        "{1} は値を一つしか持てませんが、{0} には {found} 件あります。",
        "{1} has one value only, and {0} has {found}.",
    ),
    "domain": ("{0} は {1} の主語ですが、定義域 {2} に属しません。", "{0} is a subject of {1}, but no {2}."),
    "range": ("{0} は {1} の値ですが、値域 {2} に属しません。", "{0} is a value of {1}, but no {2}."),
}


def _explanation(answer: ReasoningAnswer) -> str:
    found = answer.reasoning
    shown, deeper = len(found.facts), found.deeper
    if answer.inference_type is InferenceType.CONSISTENCY:
        ja = f"記述 {found.asserted} 件とそこから導かれる事実を検査し、矛盾・違反は {len(found.violations)} 件です。"
        en = f"{found.asserted} statements and what follows from them were checked: {len(found.violations)} violations."
        rest_ja = "多重度・定義域・値域は、書かれていないことは無いものとして判定しています。"
        rest_en = " Cardinalities, domains and ranges are judged on what is stated: what is not stated is not there."
        return in_language(ja + rest_ja, en + rest_en)
    ja = f"記述 {found.asserted} 件から事実 {found.total} 件を導き、{shown} 件を示します。"
    en = f"{found.total} facts follow from {found.asserted} statements; {shown} are shown."
    if deeper:
        ja += f"depth={answer.depth} より長い推論による {deeper} 件は省きました。"
        en += f" {deeper} with longer proofs than depth={answer.depth} are left out."
    return in_language(ja, en)
