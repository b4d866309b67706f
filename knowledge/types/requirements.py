"""What documents are expected to treat: topics of ontologies and articles of guidelines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """An ontology class that a document of some type is expected to treat.

    ``labels`` and ``synonyms`` are headings and words that name the topic; ``cues`` are regular expressions whose
    match in a section's body shows that the topic is treated there and not only mentioned. ``exclusions`` are
    regular expressions of headings that only look like the topic. A ``whole_document`` topic is about the document
    itself: a heading inside another topic's chapter (the purpose of one test level) does not treat it.
    ``elements`` are what a treatment holds, ``example`` shows one in である style, ``example_polite`` in です・ます.
    """

    code: str
    label_ja: str
    label_en: str
    synonyms: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    required: bool = True
    severity: str = "major"
    expected_location: str = ""
    category: str = ""
    exclusions: tuple[str, ...] = ()
    whole_document: bool = False
    expected_location_en: str = ""
    elements_ja: tuple[str, ...] = ()
    elements_en: tuple[str, ...] = ()
    example: str = ""
    example_polite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredElement:
    """What a treatment of an article holds; any of the ``words`` or ``patterns`` (regular expressions) shows it."""

    name: str
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """A guideline's article (条項) as checks use it.

    ``code`` names it everywhere (``GL-3.2.1``: the guideline's ``prefix`` and the article's ``number``).
    ``document_types`` are those that must comply; an article without any only structures its guideline. ``headings``
    are other names under which documents treat it. ``applies_when`` are regular expressions of headings: with any,
    the article only applies to documents that have such a heading. ``edition`` is the guideline edition's number.
    """

    code: str
    number: str
    title: str
    guideline: str
    guideline_name: str
    prefix: str
    edition: int
    text: str = ""
    category: str = ""
    severity: str = "minor"
    document_types: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    applies_when: tuple[str, ...] = ()
    elements: tuple[RequiredElement, ...] = ()
