"""All that a judge is given for a check of one document, gathered by the strategy of the check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import Error

from hub.access.principals import Classification, Principal
from hub.core.database import is_connection_lost
from knowledge.models import Document, DocumentVersion
from knowledge.search import RetrievalStrategy
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.excerpts import find_material, material_by_sections, question_of
from review.judging.plan import tokens_of_passages
from review.judging.retrieval import STRATEGY_OF, Retrieved, consult, meeting_paths
from review.judging.strategies import plan_strategy
from review.judging.supplements import SupplementMaker, path_lines, remarks
from review.judging.types import CheckTask, Consultation, Material, Supplement
from review.models import CheckItemVersion, GuidelineMapping
from review.types import RuleInput, Span

_WALKS = {
    RetrievalStrategy.GRAPH: RetrievalStrategy.GRAPH,
    RetrievalStrategy.HYBRID: RetrievalStrategy.GRAPH,
    RetrievalStrategy.ONTOLOGY: RetrievalStrategy.ONTOLOGY,
}


@dataclass(slots=True, kw_only=True)
class Gatherer:
    """Gathers for the checks of one version. ``related`` are the pinned versions of the related documents.

    ``ceiling`` is the highest classification that the judge may be sent; related documents above it are left out.
    """

    principal: Principal
    version: DocumentVersion
    target: RuleInput
    planted: tuple[Span, ...]
    related: Sequence[DocumentVersion] = ()
    ceiling: Classification = Classification.C3
    forced: str | None = None
    _maker: SupplementMaker | None = None

    @property
    def maker(self) -> SupplementMaker:
        """What makes supplements of this document's related ones."""
        if self._maker is None:
            self._maker = SupplementMaker(target=self.target, related=_sendable(self.related, self.ceiling))
        return self._maker

    def gather(
        self, item_version: CheckItemVersion, task: CheckTask, observed: Iterable[tuple[str, str]] = ()
    ) -> Material:
        """Gather passages and what stands beside them. :raises django.db.Error: passages can't be read."""
        plan = plan_strategy(check_type=item_version.check_type, strategy=item_version.strategy, forced=self.forced)
        strategy = STRATEGY_OF[plan.strategy]
        walked = self._walk(task, strategy)
        material = self._passages(task, strategy, walked)
        related, said = self._related(task)
        codes = GuidelineMapping.objects.filter(check_item=item_version.item_id).order_by("article_code")
        supplements = [
            *self.maker.articles(codes.values_list("article_code", flat=True)),
            *_first_in(walked.sections, related),
            *path_lines(walked.lines),
            *remarks(observed),
        ]
        found = replace(walked.consultation, chunks=(), notices=())
        return replace(
            material,
            supplements=tuple(supplements),
            texts=self.maker.texts,
            consultation=material.consultation.and_(found),
            notices=tuple(dict.fromkeys((*material.notices, *walked.consultation.notices, *said))),
        )

    def _walk(self, task: CheckTask, strategy: RetrievalStrategy) -> Retrieved:
        walk = _WALKS.get(strategy)
        if walk is None:
            return Retrieved(consultation=Consultation())
        document_id, related = self.version.document.public_id, list(self.maker.related)
        found = consult(
            self.principal, document_id=document_id, related=related, query=question_of(task), strategy=walk
        )
        if walk is not RetrievalStrategy.GRAPH:
            return found
        met = meeting_paths(document_id, related)
        return replace(
            found,
            consultation=met.consultation.and_(found.consultation),
            lines=tuple(dict.fromkeys((*met.lines, *found.lines))),
        )

    def _passages(self, task: CheckTask, strategy: RetrievalStrategy, walked: Retrieved) -> Material:
        """By the paths alone where the strategy is theirs and the document is shown whole; else by search."""
        own = [(start, end) for document, start, end in walked.sections if document == self.version.document.public_id]
        is_led = strategy in (RetrievalStrategy.GRAPH, RetrievalStrategy.ONTOLOGY) and bool(walked.lines)
        if is_led:
            material = material_by_sections(self.version, self.target, self.planted, own)
            if tokens_of_passages(material.text, material.ranked) <= settings.CONFIG.llm_context_tokens:
                return material
        return find_material(self.version, self.target, task, self.planted)

    def _related(self, task: CheckTask) -> tuple[list[Supplement], list[Notice]]:
        left_out = [notices.RELATED_NOT_SENT] if len(self.maker.related) < len(self.related) else []
        if not self.maker.related:
            return [], left_out
        try:
            found, said = self.maker.related_passages(question_of(task))
        except Error as error:
            if is_connection_lost(error):
                raise
            return [], [*left_out, notices.RELATED_UNREAD]
        return found, [*left_out, *said]


def _first_in(sections: Iterable[tuple[str, int, int]], found: Sequence[Supplement]) -> list[Supplement]:
    """Passages of related documents with those first that stand where the graph's paths lead."""
    led = list(sections)

    def is_elsewhere(one: Supplement) -> bool:
        passage = one.passage
        return passage is None or not any(
            document == passage.document and start < passage.end and passage.start < end for document, start, end in led
        )

    return sorted(found, key=is_elsewhere)


def _sendable(related: Sequence[DocumentVersion], ceiling: Classification) -> Mapping[str, DocumentVersion]:
    return {one.document.public_id: one for one in related if level_of(one.document) <= ceiling}


def level_of(document: Document) -> Classification:
    """The classification of a document: its own, or its collection's if that is higher."""
    return Classification(max(document.classification, document.collection.classification))
