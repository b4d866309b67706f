"""What is put before a judge beside the passages of a document: articles, related documents, paths, rules' remarks.

Each stands under its own citation, without what speaks to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from knowledge.models import DocumentVersion
from knowledge.search import rank_within
from knowledge.types.notices import Notice
from knowledge.types.requirements import Article
from review.judging.excerpts import harmless, planted_in, speaks
from review.judging.plan import holds_planted, without_withheld
from review.judging.retrieval import PathLine
from review.judging.types import Passage, Supplement, SupplementKind
from review.judging.unseen import unseen_in
from review.types import RelatedDocument, RuleInput, Span

# Of each related document so many passages, of the graph so many paths, of rules so many remarks.
MAX_RELATED_PASSAGES = 8
MAX_PATHS = 12
MAX_OBSERVATIONS = 10
LONGEST_ARTICLE = 2000
LONGEST_LINE = 200


@dataclass(slots=True, kw_only=True)
class SupplementMaker:
    """Makes supplements for the checks of one document. ``related`` are the versions that a model may be sent."""

    target: RuleInput
    related: Mapping[str, DocumentVersion] = field(default_factory=dict)
    _planted: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the related documents that may be shown, by their ids."""
        return {one.document_id: one.text for one in self._documents()}

    def articles(self, codes: Iterable[str]) -> Iterator[Supplement]:
        """The articles of the pinned editions with these codes."""
        known = {article.code: article for article in self.target.articles}
        yield from (_article(known[code]) for code in codes if code in known)

    def related_passages(self, question: str) -> tuple[list[Supplement], list[Notice]]:
        """The passages of the related documents that bear on a question: the best of each in turn."""
        said: list[Notice] = []
        ranked: list[list[Supplement]] = []
        for document in self._documents():
            found = rank_within(self.related[document.document_id], question)
            said += found.notices
            ranked.append(
                [
                    self._passage(
                        document,
                        Passage(
                            chunk_id=chunk.public_id,
                            start=chunk.start_offset,
                            end=chunk.end_offset,
                            section_path=tuple(chunk.section_path),
                            document=document.document_id,
                        ),
                    )
                    for chunk in found.chunks[:MAX_RELATED_PASSAGES]
                ]
            )
        in_turn = chain.from_iterable(zip_longest(*ranked))
        return [one for one in in_turn if one is not None], list(dict.fromkeys(said))

    def again(self, stored: Sequence[Mapping[str, Any]]) -> tuple[Supplement, ...]:
        """Return the supplements of an earlier review, without those whose article or document is gone."""
        documents = {one.document_id: one for one in self._documents()}
        made: list[Supplement] = []
        for one in stored:
            if "passage" in one:
                passage = Passage.from_row(one["passage"])
                document = documents.get(passage.document)
                made += [self._passage(document, passage)] if document else []
            elif "code" in one:
                made += self.articles([one["code"]])
            else:
                made.append(
                    Supplement(
                        kind=SupplementKind(one["kind"]),
                        place=one["place"],
                        text=one["text"],
                        documents=tuple(one["documents"]),
                    )
                )
        return tuple(made)

    def _documents(self) -> list[RelatedDocument]:
        return [one for one in self.target.related if one.document_id in self.related]

    def _passage(self, document: RelatedDocument, passage: Passage) -> Supplement:
        planted = self._planted_in(document)
        place = " > ".join(map(harmless, (document.title, *passage.section_path)))
        return Supplement(
            kind=SupplementKind.RELATED,
            place=place,
            text=without_withheld(document.text, passage, [*planted, *unseen_in(document.text)]),
            passage=passage,
            documents=(passage.document,),
            is_planted=holds_planted([passage], planted),
        )

    def _planted_in(self, document: RelatedDocument) -> tuple[Span, ...]:
        if document.document_id not in self._planted:
            self._planted[document.document_id] = planted_in(document.as_input())
        return self._planted[document.document_id]


def _article(article: Article) -> Supplement:
    elements = "、".join(element.name for element in article.elements)
    text = "\n".join(
        part for part in (article.text or article.title, f"必要な要素: {elements}" * bool(elements)) if part
    )
    return Supplement(
        kind=SupplementKind.ARTICLE,
        place=f"{article.code}: {article.guideline_name} {article.number} {article.title} (edition {article.edition})",
        text=text[:LONGEST_ARTICLE],
        code=article.code,
    )


def path_lines(lines: Iterable[PathLine]) -> Iterator[Supplement]:
    """Paths of the graph, each in one line, but for those with a name that speaks to a model."""
    for line in list(lines)[:MAX_PATHS]:
        if not speaks(line.text):
            yield Supplement(
                kind=SupplementKind.PATH,
                place="knowledge graph",
                text=line.text[: 2 * LONGEST_LINE],
                documents=line.documents,
            )


def remarks(lines: Iterable[tuple[str, str]]) -> Iterator[Supplement]:
    """What rules observed, as pairs of the rule and what it says."""
    for rule_id, text in list(lines)[:MAX_OBSERVATIONS]:
        if not speaks(text):
            yield Supplement(kind=SupplementKind.OBSERVATION, place=rule_id, text=" ".join(text.split())[:LONGEST_LINE])
