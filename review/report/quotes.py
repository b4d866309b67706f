"""The quotes that findings rest on, as pages show them: those of another document with its title and their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from knowledge.text.quotes import in_one_line
from review.models import RelatedVersion, Review
from review.runs.finding_schemas import EvidenceOut
from review.runs.schemas import ReviewOut


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote in one line. ``title`` and ``link`` are of another document than the reviewed one, and else empty."""

    text: str
    title: str = ""
    link: str = ""


def quoted_documents(review: Review, facts: ReviewOut) -> Mapping[str, RelatedVersion]:
    """The related versions that the findings of a review quote, by document id. One query, or none without any.

    Expects findings that the caller may see: who may not read a document is shown no finding that quotes it.
    """
    findings = (*facts.findings, *facts.overturned, *facts.candidates)
    quoted = {one.document_id for finding in findings for one in finding.evidence} - {facts.document_id}
    if not quoted:
        return {}
    related = review.related.filter(document_id_text__in=quoted, version__isnull=False)
    return {one.document_id_text: one for one in related.select_related("version__document")}


def quotes_of(
    evidence: Sequence[EvidenceOut],
    documents: Mapping[str, RelatedVersion],
    *,
    address: Callable[[str, int, int, int], str],
) -> list[Quote]:
    """The quotes of a finding. ``address`` gives that of a document's version from one offset to another."""
    return [_quote(one, documents.get(one.document_id), address) for one in evidence]


def _quote(
    evidence: EvidenceOut, related: RelatedVersion | None, address: Callable[[str, int, int, int], str]
) -> Quote:
    text = in_one_line(evidence.quote)
    if related is None or related.version is None:
        return Quote(text=text)
    place = (evidence.document_id, related.version_number, evidence.start_offset, evidence.end_offset)
    title = f"{related.version.document.title} v{related.version_number}"
    return Quote(text=text, title=title, link=address(*place) if evidence.verified else "")
