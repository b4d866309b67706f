"""Coverage answers as JSON: which topics a document treats, with the passages that decided, the same for every door."""

from __future__ import annotations

from pydantic import BaseModel, Field

from hub.core.languages import in_language
from knowledge.ontology.answers import CheckType, CoverageAnswer
from knowledge.ontology.coverage import CoverageStatus, TopicJudgement, heading_span
from knowledge.ontology.hierarchy import HierarchyIssue
from knowledge.text.structure import line_range, section_at
from knowledge.types.documents import Block, Section

MAX_QUOTE = 300


class EvidenceOut(BaseModel):
    quote: str
    document_id: str
    start_offset: int
    end_offset: int
    section_path: list[str]
    page_number: int | None
    line_range: list[int]
    verified: bool


class NearestOut(BaseModel):
    """The passage nearest in meaning to a missing topic: where a person may look, nothing that decided."""

    similarity: float = Field(description="cosine of the vectors, -1 to 1")
    chunk_id: str
    passage: EvidenceOut


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
    nearest: NearestOut | None = Field(description="for missing topics: the passage nearest in meaning")


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
    notices: list[dict[str, str]] = Field(
        description="why there is no nearest passage: the embedding model does not answer"
    )


class CoverageIn(BaseModel):
    document_id: str = Field(max_length=60)
    check_type: CheckType = CheckType.COVERAGE


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
        notices=[each.as_dict() for each in answer.notices],
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
        nearest=_nearest(topic.code, answer),
    )


def _nearest(code: str, answer: CoverageAnswer) -> NearestOut | None:
    found = answer.nearest.get(code)
    if found is None:
        return None
    chunk, cosine = found
    passage = _evidence_at(chunk.start_offset, chunk.end_offset, answer)
    return NearestOut(similarity=round(cosine, 3), chunk_id=chunk.public_id, passage=passage)


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
    return HierarchyIssueOut(
        issue_type=issue.issue_type,
        description=in_language(issue.description_ja, issue.description_en),
        location=" > ".join(issue.section.path),
        evidence=_evidence_at(*heading_span(issue.section, answer.text), answer),
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
