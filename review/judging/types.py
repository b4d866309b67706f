"""Value objects of judging by a language model: plain data, no framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from knowledge.types.graph import GraphPath
from knowledge.types.notices import Notice
from review.types import Consulted, FindingDraft, Span, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Consultation:
    """What a check was decided with, and what that led to.

    ``chunks`` are pairs of a passage's id and its related document's, empty for the reviewed one. ``concepts`` are
    codes of ontologies' classes, ``articles`` of guidelines' articles.
    """

    consulted: tuple[Consulted, ...] = ()
    chunks: tuple[tuple[str, str], ...] = ()
    paths: tuple[GraphPath, ...] = ()
    concepts: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    def and_(self, other: Consultation) -> Consultation:
        """Return both together, each thing once."""
        return Consultation(
            consulted=tuple(source for source in Consulted if source in (*self.consulted, *other.consulted)),
            chunks=_once(self.chunks, other.chunks),
            paths=_once(self.paths, other.paths),
            concepts=_once(self.concepts, other.concepts),
            articles=_once(self.articles, other.articles),
            notices=_once(self.notices, other.notices),
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Consultation:
        """Return what ``as_json`` stored."""
        return cls(
            chunks=tuple((chunk, document) for chunk, document in stored.get("chunks", ())),
            paths=tuple(map(GraphPath.from_json, stored.get("paths", ()))),
            concepts=tuple(stored.get("concepts", ())),
            articles=tuple(stored.get("articles", ())),
        )

    def as_json(self) -> dict[str, Any]:
        """Return what is stored with the result, without empty lists."""
        stored = {
            "chunks": [list(pair) for pair in self.chunks],
            "paths": [path.as_json() for path in self.paths],
            "concepts": list(self.concepts),
            "articles": list(self.articles),
        }
        return {name: value for name, value in stored.items() if value}


T = TypeVar("T")


def _once(first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys((*first, *second)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """What a check item version asks of a model. ``threshold`` is the least score of a pass, 0 to 1."""

    code: str
    name: str
    description: str
    guideline: str = ""
    prompt: str = ""
    expected_format: str = ""
    rubric: str = ""
    threshold: float | None = None
    required_elements: tuple[str, ...] = ()
    document_title: str = ""
    document_type: str = ""

    def is_below(self, score: float | None) -> bool:
        """Whether a score is less than a pass asks for."""
        return score is not None and self.threshold is not None and score < self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch ``[start, end)`` of the stored Markdown that a model may see. ``chunk_id`` is empty for none.

    ``document`` is the id of a related document, empty for the reviewed one. ``ocr`` is how sure OCR was of words that
    it read; a review's record has it not.
    """

    chunk_id: str
    start: int
    end: int
    section_path: tuple[str, ...] = ()
    document: str = ""
    ocr: float | None = None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Passage:
        """Return what ``as_row`` stored."""
        chunk_id, start, end, path, *document = row
        return cls(chunk_id=chunk_id, start=start, end=end, section_path=tuple(path), document="".join(document))

    def as_row(self) -> list[Any]:
        """Return what a review's record keeps: chunk, start, end, path; fifth a related document's id."""
        row = [self.chunk_id, self.start, self.end, list(self.section_path)]
        return [*row, self.document] if self.document else row


class SupplementKind(StrEnum):
    """What is put before a judge beside the document's own passages; the value begins the ids that the model sees."""

    ARTICLE = "g"
    RELATED = "r"
    PATH = "k"
    OBSERVATION = "o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """A text under a citation of its own (``place``): an article, a passage of a related document, a path, a remark.

    ``code`` is an article's, ``passage`` a related document's; ``documents`` are the ids of the related documents that
    it tells of. ``is_planted`` when the passage speaks to a model; that part is withheld from ``text``.
    """

    kind: SupplementKind
    place: str
    text: str
    code: str = ""
    passage: Passage | None = None
    documents: tuple[str, ...] = ()
    is_planted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what a replay makes it from again: no text of a guideline or of another document."""
        stored: dict[str, Any] = {"kind": self.kind.value}
        if self.passage is not None:
            return stored | {"passage": self.passage.as_row()}
        if self.code:
            return stored | {"code": self.code}
        return stored | {"place": self.place, "text": self.text, "documents": list(self.documents)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The document's text, its passages best first, and the stretches that speak to a model instead of a reader.

    ``bodies`` are the whole text, cut at its headings and in its order. Not ``is_ranked`` when search did not answer;
    ``consultation`` says what did. ``supplements`` stand beside the passages, the best of each kind first; ``texts``
    are those of the related documents, by their ids. ``unseen`` is what no reader of the text sees.
    """

    text: str
    ranked: tuple[Passage, ...]
    is_ranked: bool = True
    bodies: tuple[Passage, ...] = ()
    planted: tuple[Span, ...] = ()
    unseen: tuple[Span, ...] = ()
    notices: tuple[Notice, ...] = ()
    consultation: Consultation = Consultation()
    supplements: tuple[Supplement, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def withheld(self) -> tuple[Span, ...]:
        """What of the text no model is shown, in order."""
        return tuple(sorted({*self.planted, *self.unseen}, key=lambda one: (one.start, one.end)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a model says that a stretch of the document is about: a signpost, never evidence."""

    stretch: Passage
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTexts:
    """The curated texts in force, and the numbers of their versions."""

    judge: str
    screen: str
    numbers: Mapping[str, int]
    summary: str = ""
    second: str = ""
    sweep: str = ""
    refute: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an answer says, and how much of it stands in the document.

    ``fabricated`` counts quotes that the passages do not have; ``is_usable`` is False when the answer contradicts
    itself or rests on such quotes alone, then ``complaint`` is the code of the reason. ``score`` is 0 to 1, None where
    the item was not judged. ``grounds`` may be of related
    documents, too. Not ``is_applicable``: the model holds that the check item is for other documents.
    """

    verdict: Verdict
    score: float | None
    reason: str
    grounds: tuple[Span, ...] = ()
    findings: tuple[FindingDraft, ...] = ()
    fabricated: int = 0
    complaint: str = ""
    is_applicable: bool = True

    @property
    def is_usable(self) -> bool:
        return not self.complaint


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a model's judgement of one check comes to. ``record`` is what a replay and the reader need; JSON."""

    verdict: Verdict
    score: float | None = None
    findings: tuple[FindingDraft, ...] = ()
    notices: tuple[Notice, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    consultation: Consultation = Consultation()
