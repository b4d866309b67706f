"""Shapes of ontologies, of what follows from them, and of coverage in answers."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from rdflib.term import Node

from hub.core.languages import in_language
from knowledge.models import Ontology
from knowledge.ontology.answers import CheckType, CoverageAnswer, ImportPreview, ReasoningAnswer
from knowledge.ontology.coverage import CoverageStatus, TopicJudgement
from knowledge.ontology.difference import OntologyDifference
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.hierarchy import HierarchyIssue
from knowledge.ontology.reasoning import FoundViolation, InferenceType, InferredFact
from knowledge.ontology.vocabulary import compact, ontology_iri
from knowledge.structure import line_range, section_at
from knowledge.types import Block, Section

MAX_QUOTE = 300


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


class EvidenceOut(BaseModel):
    quote: str
    document_id: str
    start_offset: int
    end_offset: int
    section_path: list[str]
    page_number: int | None
    line_range: list[int]
    verified: bool


class MissingItemOut(BaseModel):
    code: str
    category: str
    item: str
    severity: str
    expected_location: str
    required: bool
    status: str = Field(description="missing, mentioned (named only) or empty (a heading without content)")
    reason: str
    evidence: EvidenceOut | None = Field(description="where it is named, or the empty heading")


class HierarchyIssueOut(BaseModel):
    issue_type: str = Field(description="skipped_level, wrong_parent or wrong_order")
    description: str
    location: str
    evidence: EvidenceOut


class RequiredItemOut(BaseModel):
    code: str
    item: str
    found: bool
    required: bool
    status: str = Field(description="treated, mentioned, missing or empty")
    location: str | None
    reason: str
    evidence: EvidenceOut | None = Field(description="the heading or passage that decided")


class CoverageOut(BaseModel):
    document_id: str
    document_version: int
    domain: str
    ontology_version: int
    check_type: str
    coverage_rate: float = Field(description="share of treated topics, 0 to 100")
    missing_items: list[MissingItemOut]
    hierarchy_issues: list[HierarchyIssueOut]
    required_items_status: list[RequiredItemOut]


class ReasonIn(BaseModel):
    inference_type: InferenceType
    target_class: str = Field("", max_length=500, description="an IRI, a prefixed name (hub:…) or a class's code")
    depth: int = Field(3, ge=1, le=20, description="the most inferences in a row")


class CoverageIn(BaseModel):
    document_id: str = Field(max_length=60)
    check_type: CheckType = CheckType.COVERAGE


def ontology_out(row: Ontology) -> OntologyOut:
    """Needs the counts of :func:`knowledge.services.ontologies.list_ontologies`."""
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


def coverage_out(answer: CoverageAnswer) -> CoverageOut:
    judged = answer.judgements
    missing = [each for each in judged if each.status is not CoverageStatus.TREATED]
    return CoverageOut(
        document_id=answer.document.public_id,
        document_version=answer.version.number,
        domain=answer.domain,
        ontology_version=answer.number,
        check_type=answer.check_type,
        coverage_rate=answer.rate,
        missing_items=[_missing_out(each, answer) for each in missing],
        hierarchy_issues=[_issue_out(issue, answer) for issue in answer.issues],
        required_items_status=[_item_out(each, answer) for each in judged],
    )


def _missing_out(judged: TopicJudgement, answer: CoverageAnswer) -> MissingItemOut:
    topic = judged.topic
    return MissingItemOut(
        code=topic.code,
        category=topic.category,
        item=in_language(topic.label_ja, topic.label_en),
        severity=topic.severity,
        expected_location=in_language(topic.expected_location, topic.expected_location_en),
        required=topic.required,
        status=judged.status.value,
        reason=in_language(judged.reason_ja, judged.reason_en),
        evidence=_evidence(judged.span, answer),
    )


def _item_out(judged: TopicJudgement, answer: CoverageAnswer) -> RequiredItemOut:
    topic, is_found = judged.topic, judged.status is CoverageStatus.TREATED
    return RequiredItemOut(
        code=topic.code,
        item=in_language(topic.label_ja, topic.label_en),
        found=is_found,
        required=topic.required,
        status=judged.status.value,
        location=" > ".join(judged.section_path) or None,
        reason=in_language(judged.reason_ja, judged.reason_en),
        evidence=_evidence(judged.span, answer),
    )


def _issue_out(issue: HierarchyIssue, answer: CoverageAnswer) -> HierarchyIssueOut:
    section = issue.section
    heading = answer.text[section.start : section.body_start].rstrip()
    return HierarchyIssueOut(
        issue_type=issue.issue_type,
        description=in_language(issue.description_ja, issue.description_en),
        location=" > ".join(section.path),
        evidence=_evidence_at(section.start, section.start + len(heading), answer),
    )


def _evidence(span: tuple[int, int] | None, answer: CoverageAnswer) -> EvidenceOut | None:
    return _evidence_at(*span, answer) if span else None


def _evidence_at(start: int, end: int, answer: CoverageAnswer) -> EvidenceOut:
    end = min(end, start + MAX_QUOTE)
    quote = answer.text[start:end]
    section: Section | None = section_at(answer.sections, start)
    block: Block | None = next((each for each in answer.blocks if each.start <= start < each.end), None)
    return EvidenceOut(
        quote=quote,
        document_id=answer.document.public_id,
        start_offset=start,
        end_offset=end,
        section_path=list(section.path) if section else [],
        page_number=block.page if block else None,
        line_range=list(line_range(answer.text, start, end)),
        verified=bool(quote.strip()),
    )
