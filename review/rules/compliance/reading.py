"""Which sections of a document treat a guideline's article, and which required elements stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from hub.core.patterns import stored_pattern
from knowledge.ontology.coverage import CoverageStatus, judge_topics
from knowledge.ontology.passages import has_content, has_substance
from knowledge.ontology.titles import names_topic
from knowledge.text.folding import fold_each, normalise
from knowledge.text.outline import apparatus, bare_title, contents_ids, inside
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.requirements import Article, RequiredElement, Topic
from review.rules.structure.headings import heading_span
from review.types import RuleInput, Span

# A section that holds this share of an article's elements, and no fewer than two, treats it whatever its heading says.
_ELEMENTS_SHARE = 0.6
_MIN_ELEMENTS = 2
_GLOSSARY = re.compile(r"用語|略語|glossary", re.I)
_MENTIONS_SHOWN = 3
_CONTENT_KINDS = frozenset(
    {BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE, BlockKind.CAPTION, BlockKind.HEADING}
)


class Treatment(StrEnum):
    ADDRESSED = "addressed"
    EMPTY = "empty"
    MENTIONED = "mentioned"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundElement:
    """An element and the words in the text that show it."""

    element: RequiredElement
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a document does about one article.

    ``places`` are the headings or passages that treat it (the empty heading when it is empty, mentions when it is
    only named), in document order. ``found`` and ``missing`` divide the article's elements.
    """

    article: Article
    treatment: Treatment
    places: tuple[Span, ...] = ()
    sections: tuple[str, ...] = ()
    found: tuple[FoundElement, ...] = ()
    missing: tuple[RequiredElement, ...] = ()


def obliging(target: RuleInput) -> tuple[Article, ...]:
    """The articles that documents of the target's type must comply with and whose condition the document meets."""
    titles = _titles(target)
    return tuple(
        article
        for article in target.articles
        if target.document_type in article.document_types and _applies(article, titles)
    )


def _titles(target: RuleInput) -> tuple[str, ...]:
    contents = contents_ids(target.text, target.sections)
    return tuple(bare_title(section.title) for section in target.sections if section.id not in contents)


def _applies(article: Article, titles: Sequence[str]) -> bool:
    patterns = [stored_pattern(each, where=_where(article), ignore_case=True) for each in article.applies_when]
    return not patterns or any(pattern.occurs_in(title) for pattern in patterns for title in titles)


def _where(article: Article) -> str:
    return f"guideline article {article.code}"


def read_articles(target: RuleInput) -> tuple[Reading, ...]:
    """Read the document for each obliging article, in the articles' order."""
    articles = obliging(target)
    return _read(target.text, target.sections, target.blocks, articles) if articles else ()


@lru_cache(maxsize=4)
def _read(
    text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...], articles: tuple[Article, ...]
) -> tuple[Reading, ...]:
    reader = _Reader(text, sections, blocks)
    topics = tuple(_as_topic(article) for article in articles)
    judged = judge_topics(text, sections, blocks, topics)
    return tuple(
        reader.read(article, topic, each.status, each.span, each.mentions)
        for article, topic, each in zip(articles, topics, judged, strict=True)
    )


def _as_topic(article: Article) -> Topic:
    """An article is recognised as topics are: by headings that name it, or an item or row labelled with its name."""
    return Topic(code=article.code, label_ja=article.title, label_en=article.title, synonyms=article.headings)


class _Reader:
    """The document cut up once for all articles."""

    def __init__(self, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> None:
        self.text = text
        # Folding by character keeps every offset that of the text.
        self.folded = fold_each(text)
        self.blocks = blocks
        contents = contents_ids(text, sections)
        self.sections = tuple(section for section in sections if section.id not in contents)
        self._apparatus = apparatus(text, sections)

    def read(
        self,
        article: Article,
        topic: Topic,
        status: CoverageStatus,
        span: tuple[int, int] | None,
        mentions: tuple[tuple[int, int], ...],
    ) -> Reading:
        named = [section for section in self.sections if names_topic(section.title, topic)]
        treating = [section for section in named if self._has_content(section)]
        if not treating and status is not CoverageStatus.TREATED:
            treating = self._by_elements(article)
        if treating or status is CoverageStatus.TREATED:
            return self._addressed(article, treating, span)
        if named:
            return Reading(
                article=article,
                treatment=Treatment.EMPTY,
                places=tuple(heading_span(self.text, section) for section in named),
                sections=tuple(section.title for section in named),
                missing=article.elements,
            )
        return Reading(
            article=article,
            treatment=Treatment.MENTIONED if mentions else Treatment.MISSING,
            places=tuple(Span(start=start, end=end) for start, end in mentions[:_MENTIONS_SHOWN]),
            missing=article.elements,
        )

    def _addressed(self, article: Article, treating: list[Section], span: tuple[int, int] | None) -> Reading:
        if treating:
            stretches = [(section.start, section.end) for section in treating]
            places = tuple(heading_span(self.text, section) for section in treating)
        else:
            stretches = [span] if span else []
            places = tuple(Span(start=start, end=end) for start, end in stretches)
        pairs = [(element, self._shown(article, element, stretches)) for element in article.elements]
        return Reading(
            article=article,
            treatment=Treatment.ADDRESSED,
            places=places,
            sections=tuple(section.title for section in treating),
            found=tuple(FoundElement(element=element, span=at) for element, at in pairs if at),
            missing=tuple(element for element, at in pairs if not at),
        )

    def _shown(self, article: Article, element: RequiredElement, stretches: Sequence[tuple[int, int]]) -> Span | None:
        """Find the element in the article's own sections, else in a section of its own anywhere."""
        inside_own = (found for start, end in stretches for found in self._find(article, element, start, end))
        return next(inside_own, None) or next(self._own_section(element), None)

    def _own_section(self, element: RequiredElement) -> Iterator[Span]:
        topic = Topic(code="", label_ja=element.name, label_en=element.name, synonyms=element.words)
        for section in self.sections:
            if names_topic(section.title, topic) and self._has_content(section):
                yield heading_span(self.text, section)

    def _find(self, article: Article, element: RequiredElement, start: int, end: int) -> Iterator[Span]:
        """Yield where the element shows in a stretch: words outside headings without content, patterns anywhere."""
        found = (
            {match.span() for match in _words(element).finditer(self.folded, start, end)} if element.words else set()
        )
        for each in element.patterns:
            pattern = stored_pattern(each, where=_where(article), ignore_case=True)
            found |= {match.span() for match in pattern.matches(self.folded, start, end)}
        for begin, finish in sorted(found):
            if self._counts(begin):
                yield Span(start=begin, end=finish)

    def _counts(self, offset: int) -> bool:
        block = self._block_at(offset)
        if block is None or block.kind not in _CONTENT_KINDS:
            return False
        if block.kind is BlockKind.HEADING:
            section = next((each for each in self.sections if each.start == block.start), None)
            return section is not None and self._has_content(section)
        return has_substance(self.text[block.start : block.end], block.kind)

    def _by_elements(self, article: Article) -> list[Section]:
        """Sections that hold most of the article's elements under another name; the history and glossary never do."""
        needed = max(_MIN_ELEMENTS, round(_ELEMENTS_SHARE * len(article.elements)))
        if len(article.elements) < _MIN_ELEMENTS:
            return []
        return [section for section in self.sections if self._holds(article, section) >= needed]

    def _holds(self, article: Article, section: Section) -> int:
        if inside(self._apparatus, section.start) or _GLOSSARY.search(section.title):
            return 0
        stretch = (section.body_start, section.body_end)
        return sum(next(self._find(article, element, *stretch), None) is not None for element in article.elements)

    def _has_content(self, section: Section) -> bool:
        return has_content(self.text, self.blocks, section.body_start, section.end)

    def _block_at(self, offset: int) -> Block | None:
        return next((block for block in self.blocks if block.start <= offset < block.end), None)


@lru_cache(maxsize=1024)
def _words(element: RequiredElement) -> re.Pattern[str]:
    return re.compile("|".join(_word_pattern(word) for word in element.words))


def _word_pattern(word: str) -> str:
    """A word as it stands in folded text; Latin ones stand alone (ID in 利用者ID, not in valid)."""
    folded = re.escape(fold_each(normalise(word)))
    return rf"(?<![a-z0-9]){folded}(?![a-z0-9])" if word.isascii() else folded
