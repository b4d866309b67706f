"""Documents that a review compares with: pinning and loading them, and withholding what rests on those that are hidden.

Verdicts stay: they are of the reviewed document, and people sign them. How many findings are withheld is said; what
they say, where, and of which document is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Prefetch, QuerySet, Subquery, prefetch_related_objects
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal
from hub.core.errors import Conflict, InvalidInput
from knowledge.documents.documents import get_document
from knowledge.graph.links import shown_to
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Document, DocumentVersion, VersionContent
from knowledge.types.graph import GraphPath
from knowledge.types.notices import Notice
from review.judging.notices import PATHS_WITHHELD
from review.models import CheckResult, Finding, RelatedVersion, ResultDecision, Review, ReviewQuerySet, Signature
from review.models.reviews import FindingQuerySet, HasDecisions, HasSetAside, HasSignatures, HasSources
from review.types import RelatedDocument

MAX_RELATED = 20


class RelatedGoneError(LookupError):
    """A related document was deleted before the review was done."""


def related_of(review: Review) -> tuple[RelatedDocument, ...]:
    """Return a review's related documents as pinned, in the order they were named, in two queries.

    :raises RelatedGoneError: one of them was deleted.
    """
    pinned = list(review.related.select_related("version__document"))
    contents = VersionContent.objects.in_bulk([row.version_id for row in pinned if row.version_id])
    found = []
    for row in pinned:
        content = contents.get(row.version_id) if row.version_id else None
        if row.version is None or content is None:
            raise RelatedGoneError("a related document was deleted")
        found.append(related_document(row.version, content))
    return tuple(found)


def related_document(version: DocumentVersion, content: VersionContent) -> RelatedDocument:
    """Make what rules see of a related version. Expects its document to be selected."""
    return RelatedDocument(
        document_id=version.document.public_id,
        title=content.title or version.filename,
        document_type=version.document.document_type_id or "other",
        text=content.markdown,
        sections=sections_of(content),
        blocks=blocks_of(content),
    )


def related_versions(
    principal: Principal, document_ids: Sequence[str], *, reviewed: Document
) -> list[tuple[Document, DocumentVersion]]:
    """Find the current versions of the documents to compare with, in the order named, none twice.

    Raises NotFound (also for hidden ones), InvalidInput (the reviewed document itself, or too many), Conflict (not
    ready yet).
    """
    named = list(dict.fromkeys(document_ids))
    if reviewed.public_id in named:
        raise InvalidInput(
            _("related_documents: {document_id} is the reviewed document."), document_id=reviewed.public_id
        )
    if len(named) > MAX_RELATED:
        raise InvalidInput(_("related_documents: at most {limit} documents."), limit=MAX_RELATED)
    found = []
    for document_id in named:
        document = get_document(principal, document_id)
        if document.current_version is None:
            raise Conflict(
                _('The related document "{document_id}" is not ready yet. Wait until its status is ready.'),
                code="related_not_ready",
                document_id=document_id,
            )
        found.append((document, document.current_version))
    return found


def pin_related(review: Review, related: Sequence[tuple[Document, DocumentVersion]]) -> None:
    """Store the related versions with the review, to be called in the transaction that makes it."""
    RelatedVersion.objects.bulk_create(
        RelatedVersion(
            review=review,
            position=position,
            version=version,
            document_id_text=document.public_id,
            version_number=version.number,
        )
        for position, (document, version) in enumerate(related)
    )


def readable_related(principal: Principal, review: Review) -> list[str]:
    """The ids of the review's related documents that the caller may read, in the order they were named. One query."""
    related = review.related.filter(version__document__in=Document.objects.visible_to(principal).values("pk"))
    return list(related.values_list("document_id_text", flat=True))


def related_before(principal: Principal, document_id: str) -> tuple[str, ...]:
    """The related documents of the newest review of a document that the caller may read, as far as they may read them.

    At most two queries.
    """
    newest = Review.objects.visible_to(principal).filter(document_id_text=document_id).order_by("-pk").first()
    return tuple(readable_related(principal, newest)) if newest else ()


def with_parts(reviews: ReviewQuerySet) -> ReviewQuerySet:
    """Note of each review which parts there are to load, for ``load_parts``: sources, decisions, signatures, set aside.

    Sources are related documents, and findings that rest on other documents; set aside are findings that do not count.
    """
    key = F("pk")
    return reviews.annotate(
        has_sources=HasSources(key),
        has_decisions=HasDecisions(key),
        has_signatures=HasSignatures(key),
        has_set_aside=HasSetAside(key),
    )


def load_parts(
    principal: Principal, review: Review, *, findings: FindingQuerySet, results: QuerySet[CheckResult]
) -> None:
    """Load the results, findings, decisions and signatures of a review that the caller may see.

    Two queries; one more for each of decisions, signatures, paths, sources and findings that do not count. Where there
    are sources, what is withheld is left out, and notices say so. Expects a review from ``with_parts``.
    """
    has_sources, has_decisions, has_signatures, has_set_aside = (
        review.__dict__[f"has_{part}"] for part in ("sources", "decisions", "signatures", "set_aside")
    )
    if has_sources:
        findings = findings.readable_by(principal)
        results = _with_withheld(principal, results)
    decisions = ResultDecision.objects.all() if has_decisions else ResultDecision.objects.none()
    rows = results.prefetch_related(
        Prefetch("findings", queryset=findings.counted()), Prefetch("decisions", queryset=decisions)
    )
    if has_set_aside:
        rows = rows.prefetch_related(Prefetch("findings", queryset=findings.set_aside(), to_attr="not_counted"))
    signatures = Signature.objects.all() if has_signatures else Signature.objects.none()
    prefetch_related_objects([review], Prefetch("results", queryset=rows), Prefetch("signatures", queryset=signatures))
    _load_paths(principal, review)
    if has_sources:
        _note_related(principal, review)
        _withhold(review)


def _load_paths(principal: Principal, review: Review) -> None:
    """Note of each result which paths of its evidence the caller may see, and say where some are not shown.

    One query where there are any.
    """
    stored = {
        result: [GraphPath.from_json(path) for path in result.evidence["paths"]]
        for result in review.results.all()
        if result.evidence.get("paths")
    }
    if not stored:
        return
    visible = shown_to(principal, {path for paths in stored.values() for path in paths})
    for result, paths in stored.items():
        result.shown_paths = [path for path in paths if path in visible]
        if len(result.shown_paths) < len(paths):
            result.notices = [*result.notices, PATHS_WITHHELD.as_dict()]


def _with_withheld(principal: Principal, results: QuerySet[CheckResult]) -> QuerySet[CheckResult]:
    """Note of each result how many of its findings are withheld from the caller."""
    withheld = Finding.objects.withheld_from(principal).counted().filter(result=OuterRef("pk")).order_by()
    counted = withheld.values("result").annotate(number=Count("pk")).values("number")
    return results.annotate(withheld_count=Coalesce(Subquery(counted), 0))


def _note_related(principal: Principal, review: Review) -> None:
    """Note whether related documents are hidden, and the highest classification of them all. One query."""
    is_hidden = Exists(Document.objects.hidden_from(principal).filter(pk=OuterRef("version__document")))
    level = Greatest("version__document__classification", "version__document__collection__classification")
    related = review.related.order_by().annotate(is_hidden=is_hidden, level=level)
    noted = list(related.filter(version__isnull=False).values_list("is_hidden", "level"))
    review.hidden_related = any(hidden for hidden, _level in noted)
    review.related_level = max((level for _hidden, level in noted), default=None)


def _withhold(review: Review) -> None:
    """Say in a loaded review what is withheld, and take out what people wrote of it (never of the stored one)."""
    total = 0
    for result in review.results.all():
        result.withheld = result.__dict__["withheld_count"]
        total += result.withheld
        if result.withheld:
            result.notices = [*result.notices, findings_withheld(result.withheld).as_dict()]
        if review.hidden_related:
            result.evidence = _without_related(result.evidence)
            if result.judgement.get("related"):
                result.judgement = {**result.judgement, "reason": _text_withheld()}
            for decision in result.decisions.all():
                decision.reason = _text_withheld()
    if review.hidden_related:
        for signature in review.signatures.all():
            signature.comment = signature.comment and _text_withheld()
    said = [findings_withheld(total)] if total else []
    review.notices = [*review.notices, *(notice.as_dict() for notice in (*said, *_level_notices(review)))]


def _without_related(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence without the passages of related documents."""
    return {**evidence, "chunks": [pair for pair in evidence.get("chunks", ()) if not pair[1]]}


def findings_withheld(number: int) -> Notice:
    """Say how many findings are withheld, and nothing of what they are about."""
    return Notice(
        code="findings_withheld",
        ja=f"閲覧権限のない文書に基づく指摘 {number} 件は表示していません。判定には含まれています。",
        en=f"Findings that rest on documents you may not read are withheld: {number}. The verdicts count them.",
    )


def _text_withheld() -> str:
    return str(_("(withheld: the review compares with a document that you may not read)"))


def _level_notices(review: Review) -> list[Notice]:
    if review.related_level is None or review.version is None:
        return []
    document = review.version.document
    if review.related_level <= max(document.classification, document.collection.classification):
        return []
    level = Classification(review.related_level).name.lower()
    return [
        Notice(
            code="classified_as_related",
            ja=f"関連文書の機密区分に合わせて、このレビューの機密区分は {level} です。"
            f"{level} を閲覧できない人には見えません。",
            en=f"This review is classified {level}, as one of its related documents is. "
            f"It is hidden from those who may not see {level}.",
        )
    ]


def require_all_findings(result: CheckResult, principal: Principal) -> None:
    """Raise Conflict when findings of a check are withheld from the caller: nobody decides on what they can't read."""
    if Finding.objects.withheld_from(principal).filter(result=result).exists():
        raise Conflict(
            _("Findings of this check are withheld from you. Ask somebody who may read all related documents."),
            code="findings_withheld",
        )
