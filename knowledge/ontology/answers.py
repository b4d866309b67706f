"""What the services on ontologies answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from knowledge.models import Chunk, Document, DocumentVersion, Ontology
from knowledge.ontology.coverage import TopicJudgement
from knowledge.ontology.difference import OntologyDifference
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.hierarchy import HierarchyIssue
from knowledge.ontology.reasoning import InferenceType, Reasoning
from knowledge.ontology.vocabulary import Construct
from knowledge.types.documents import Block, Section
from knowledge.types.notices import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What an import would make: its facts, how they differ from ``base``, and what is kept but not used."""

    facts: OntologyFacts
    base: Ontology | None
    difference: OntologyDifference
    kept_only: tuple[Construct, ...]


class CheckType(StrEnum):
    COVERAGE = "coverage"
    HIERARCHY = "hierarchy"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningAnswer:
    """``prefixes`` are those by which the chains are written; ``target`` is the class asked about, as an IRI."""

    domain: str
    number: int
    inference_type: InferenceType
    depth: int
    target: str | None
    prefixes: dict[str, str]
    reasoning: Reasoning


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageAnswer:
    """What one version of a document treats. ``judgements`` and ``issues`` are those of the check that was asked.

    ``rate`` is the share of treated topics, in percent, over the topics that were judged. ``nearest`` has, by the code
    of each missing topic, the passage nearest in meaning, with its cosine: where to look, nothing that decides.
    """

    domain: str
    number: int
    check_type: CheckType
    document: Document
    version: DocumentVersion
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    rate: float
    judgements: tuple[TopicJudgement, ...]
    issues: tuple[HierarchyIssue, ...]
    nearest: Mapping[str, tuple[Chunk, float]]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """A topic that a draft judges otherwise; None where a version expects no such topic."""

    before: TopicJudgement | None
    after: TopicJudgement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTrial:
    """What a draft changes of what a document treats: newly treated, treated no longer, and other changes.

    ``as_before`` counts the topics that both versions judge the same.
    """

    document: Document
    found: tuple[TopicChange, ...]
    lost: tuple[TopicChange, ...]
    others: tuple[TopicChange, ...]
    as_before: int
