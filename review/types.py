"""Value objects of the review app: plain data, no framework.

Offsets are half-open ``[start, end)`` in Unicode code points of the reviewed version's stored Markdown; lines count
from 1 and are inclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hub.core.texts import Text
from knowledge.types.documents import Block, Section
from knowledge.types.notices import Notice
from knowledge.types.requirements import Article, Topic

# The strategy of a check item that names none, by its type.
STRATEGY_BY_TYPE = {
    "terminology": "vector_rag",
    "style": "vector_rag",
    "compliance": "graph_rag",
    "traceability": "graph_rag",
    "coverage": "ontology",
    "composite": "hybrid",
}


class Severity(StrEnum):
    """How grave a finding is, the gravest first."""

    CRITICAL = "critical"
    MAJOR = "major"
    MINOR = "minor"
    INFO = "info"

    @property
    def rank(self) -> int:
        """The place in the order of severities: 0 for critical."""
        return tuple(Severity).index(self)


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105 (a verdict, not a password)
    WARNING = "warning"
    FAIL = "fail"
    ERROR = "error"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not_applicable"
    """What a person says of a check that the document need not meet; no run says it."""


class Consulted(StrEnum):
    """What a check was decided with: the steps that really ran and the sources that really answered."""

    RULES = "rules"
    VECTOR = "vector"
    LEXICAL = "lexical"
    GRAPH = "graph"
    ONTOLOGY = "ontology"
    MODEL = "model"


class Master(StrEnum):
    """What a rule may read besides the reviewed document."""

    TOPICS = "topics"
    ARTICLES = "articles"
    RELATED = "related"


class JudgedBy(StrEnum):
    """Whose word a verdict or a finding is. A caller's own model says what its caller lets it say."""

    RULES = "rules"
    HUB_MODEL = "hub_model"
    CALLERS_MODEL = "callers_model"
    HUMAN = "human"


READING_CODE = "READ-01"
"""The check item of what a model finds by reading the whole document; it is of no check list."""

JUDGED_BY_MODEL = "llm.judgement"
"""The rule id of findings that a language model made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of text that a finding rests on: of the reviewed text, or of the related ``document`` (its id)."""

    start: int
    end: int
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionDraft:
    """What to do about a finding: the concrete place, the concrete missing element, and an example text."""

    content: Text
    rationale: Text
    example: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingDraft:
    """A defect that a rule found, before it is stored.

    ``evidence`` is in document order, its first span in the reviewed text is the finding's location (none when
    something is missing; then ``searched`` lists what was looked through); spans of related documents come last.
    ``key`` identifies the defect for the fingerprint: it holds no offset, so that the finding is recognised when text
    moves. ``confidence`` is 0 to 1 and ``confidence_basis`` says how it was derived.
    """

    rule_id: str
    severity: Severity
    message: Text
    key: str
    evidence: tuple[Span, ...] = ()
    searched: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    confidence_basis: Text | None = None
    suggestion: SuggestionDraft | None = None
    rests_on: tuple[str, ...] | None = None
    """Ids of the related documents that were read to make it; None: all that its rule could read, as the registry
    notes."""
    claimed: tuple[str, ...] = ()
    """Quotes that a model gave and that the text does not have: they make the finding unverified."""

    @property
    def location(self) -> Span | None:
        """Return where the finding stands in the reviewed text."""
        return next((span for span in self.evidence if not span.document), None)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of the related documents that it rests on, in order: those it names and those it quotes."""
        return tuple(sorted({*(self.rests_on or ()), *(span.document for span in self.evidence if span.document)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedDocument:
    """A document that the reviewed one is compared with, in the version that the review pinned.

    Messages and suggestions never name its title or quote it, since not every reader of the review may see it; spans
    with its id do.
    """

    document_id: str
    title: str
    document_type: str
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]

    def as_input(self) -> RuleInput:
        """Return it as rules see the reviewed document."""
        return RuleInput(
            text=self.text,
            title=self.title,
            document_type=self.document_type,
            sections=self.sections,
            blocks=self.blocks,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Concealed:
    """A text of the original file that reads as an instruction to a model. ``how`` it is out of sight: see HOW."""

    how: str
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """All that a rule may look at.

    ``params`` come from the check item's criteria. ``topics`` are the ontology's classes for the document's type,
    ``articles`` all of the guidelines in force, also those that do not oblige this type. ``concealed`` stands in the
    file that the text was read from, and not in the text. What is in ``unavailable`` could not be read: rules that read
    it are skipped.
    """

    text: str
    title: str
    document_type: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    topics: tuple[Topic, ...] = ()
    articles: tuple[Article, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    document_name: str = ""
    related: tuple[RelatedDocument, ...] = ()
    concealed: tuple[Concealed, ...] = ()
    unavailable: frozenset[Master] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What one rule said of one document. ``examined`` counts what it looked at; 0 means it had nothing to judge.

    A rule with nothing to judge makes no pass: ``skip_reason`` says why, and the check counts as skipped. ``links``
    are the codes of articles, identifiers and ids of related documents by which it went from the reviewed document to
    what that answers to. ``reads`` is noted by :func:`review.rules.base.run_rule`: what it was given besides the
    document, or what it was skipped for.
    """

    findings: tuple[FindingDraft, ...] = ()
    examined: int = 0
    skip_reason: Text | None = None
    links: tuple[str, ...] = ()
    reads: frozenset[Master] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One finding: ``spans`` are its places in the given text, the first one its location.

    ``replacement`` stands for the first span where the correction is mechanical (an empty one deletes it).
    """

    rule_id: str
    severity: Severity
    message: Text
    spans: tuple[Span, ...]
    replacement: str | None = None
    advice: Text | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintResult:
    """What the rules said of a text: findings in the text's order, the rules that ran, and which of them broke."""

    text: str
    sections: tuple[Section, ...]
    findings: tuple[LintFinding, ...]
    rules: tuple[str, ...]
    notices: tuple[Notice, ...]
