"""Which of the expected topics a document treats, from its headings, tables and wording alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from hub.core.texts import Text
from knowledge.ontology.passages import (
    Passage,
    has_content,
    has_substance,
    header_cells,
    is_drawn,
    pieces,
    without_list_mark,
)
from knowledge.ontology.statements import TopicStatements, labels_of, only_names_a_document, sentences_of
from knowledge.ontology.titles import headings_about, names_topic, passage_cues, reads_as_heading
from knowledge.text.folding import normalise
from knowledge.text.outline import is_history, names_history
from knowledge.text.structure import is_table_of_contents, section_at
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.notices import text_of
from knowledge.types.requirements import Topic

_GLOSSARY = re.compile(r"用語|略語|glossary", re.I)
_EXAMPLE = re.compile(r"例えば|たとえば|[(（]例|例[)）:：]|などの例|の例を|e\.g\.", re.I)
# Sections that report, and settle nothing: what is said there of a topic is no requirement and no decision.
_REPORTING = re.compile(
    r"目的|背景|課題|現状|現行|リスク|効果|経緯|参考|用語|まとめ|事例|履歴|結果|改善|テスト項目|テストケース|シナリオ"
    r"|risk|background|result|example|introduction|conclusion",
    re.I,
)
# Sections of single test cases: each has its own preconditions and data.
_CASE = re.compile(
    r"テストケース|試験ケース|シナリオ|^\W*(?:TC|UT|IT|ST|AT|CT|PT|E2E|TEST)[-_ ]?[A-Z0-9]*[-_]?\d", re.I
)
# An entry of a table of contents without its page: 1.1 背景と目的.
_LISTED_TITLE = re.compile(r"(?<![0-9.])[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}[ 　][^\s0-9.…・|\]][^\n0-9….|\]]{1,60}")
_ANNOUNCING = re.compile(r"[:：][\s*_]*$")
_MENTIONS_SHOWN, _MOST_INDENT, _OVERVIEW_LEVELS = 3, 40, 2
# Sections that introduce the document: a line labelled there with 目的 or 対象 is the whole document's.
_OVERVIEW = re.compile(
    r"概要|概説|はじめに|総則|序|本書|基本情報|プロジェクト情報|overview|introduction|summary|about", re.I
)
_COVER = re.compile(r"^\W*(?:表紙|cover)", re.I)


class CoverageStatus(StrEnum):
    TREATED = "treated"
    MENTIONED = "mentioned"
    MISSING = "missing"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicJudgement:
    """What the document does about one topic.

    ``span`` is the heading or passage that decided (None when the topic is missing), ``section_path`` where that
    is, ``mentions`` are places that only name the topic. The reasons say in both languages what decided.
    """

    topic: Topic
    status: CoverageStatus
    reason_ja: str
    reason_en: str
    span: tuple[int, int] | None = None
    section_path: tuple[str, ...] = ()
    mentions: tuple[tuple[int, int], ...] = ()
    by_heading: bool = False


def judge_topics(
    text: str, sections: Sequence[Section], blocks: Sequence[Block], topics: Sequence[Topic]
) -> tuple[TopicJudgement, ...]:
    """Judge each topic: treated, empty (a heading without content), only mentioned, or missing; in ``topics`` order.

    A heading that names the topic decides if anything is under it. Else a passage that states something on the
    topic decides: one of its cues, a line or row labelled with its name, a column headed by it, a sentence about it.
    Examples, drawings, the names of deliverables, the table of contents and the change history never do.

    :raises PatternTooSlow: a cue or exclusion takes too long. :raises PatternRefused: one can't be compiled.
    """
    reader = _Reader(text, tuple(sections), tuple(blocks))
    return tuple(_judge(topic, tuple(topics), reader) for topic in topics)


class _Reader:
    """The document cut up once for all topics."""

    def __init__(self, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> None:
        self.text = text
        self.blocks = blocks
        self.contents = tuple(section for section in sections if is_table_of_contents(section, text))
        self.sections = tuple(section for section in sections if section not in self.contents)
        history = [section for section in sections if is_history(section)]
        self._history = tuple((section.start, section.end) for section in history)
        glossary = [section for section in sections if _GLOSSARY.search(section.title)]
        self._glossary = tuple((section.start, section.end) for section in glossary)
        self._apparatus = (*((section.start, section.body_end) for section in self.contents), *self._history)
        listed = "\n".join(text[section.body_start : section.body_end] for section in self.contents)
        titles = dict.fromkeys(match[0].strip() for match in _LISTED_TITLE.finditer(listed))
        self._listed = {title: place for place, title in enumerate(titles)}
        self._listed_lengths = sorted(set(map(len, titles)))
        self.by_id = {section.id: section for section in sections}
        first = next(iter(sections), None)
        is_title = first is not None and first.number is None and first.end == max(each.end for each in sections)
        self.title = first if is_title else None
        opening = next((each for each in self.sections if not is_history(each) and not _COVER.search(each.title)), None)
        self.opening = opening if opening is not None and opening.number is None else None
        passages = [each for each in self._passages() if not _EXAMPLE.search(each.text)]
        self.stating = tuple(each for each in passages if not only_names_a_document(each))
        self.lines = tuple(self._line_headings())
        self.deciding = tuple(each for each in passages if self._is_deciding(each))

    def is_apparatus(self, offset: int) -> bool:
        return any(start <= offset < end for start, end in self._apparatus)

    def has_content(self, section: Section) -> bool:
        """Return whether anything but headings and placeholders is in the section or below it."""
        return has_content(self.text, self.blocks, section.body_start, section.end)

    def _line_headings(self) -> Iterator[tuple[str, int, int]]:
        """Yield lines that head what follows without being headings: １　趣旨, 【目的】, a short line over a table."""
        for block, following in zip_longest(self.blocks, self.blocks[1:]):
            if block.kind is BlockKind.LIST and not self.is_apparatus(block.start):
                yield from self._item_headings(block, following)
            if block.kind is not BlockKind.PARAGRAPH or self.is_apparatus(block.start):
                continue
            first, _, rest = self.text[block.start : block.end].partition("\n")
            inner = bool(rest) and has_substance(rest, BlockKind.PARAGRAPH)
            outer = following is not None and has_substance(self.text[following.start : following.end], following.kind)
            if following is not None and following.kind is BlockKind.CODE and _ANNOUNCING.search(first):
                continue  # a sample under レスポンス: is what is sent, and not a section
            if (title := self._listed_title(first)) and len(title) < len(first):
                yield title, block.start, block.start + len(title)
            elif reads_as_heading(first) and (inner or (not rest and outer)):
                yield _ANNOUNCING.sub("", first).strip(), block.start, block.start + len(first)

    def _listed_title(self, line: str) -> str:
        """Return the entry of the table of contents that a line begins with: a heading that runs on into its text."""
        begun = (line[:length] for length in self._listed_lengths)  # not many: an entry is short
        return min((title for title in begun if title in self._listed), key=self._listed.__getitem__, default="")

    def _item_headings(self, block: Block, following: Block | None) -> Iterator[tuple[str, int, int]]:
        """Yield list items that head what is below them, and numbered lines that a list was made of: 1. 背景."""
        items = list(pieces(self.text, block))
        for (start, end), below_it in zip_longest(items, items[1:]):
            first, _, rest = self.text[start:end].partition("\n")
            title = without_list_mark(first)
            below = bool(rest) and has_substance(rest, BlockKind.LIST)
            if below_it is not None and self._indent(below_it[0]) > self._indent(start):
                below = below or has_substance(self.text[slice(*below_it)], BlockKind.LIST)
            if not rest and len(items) == 1 and following is not None:
                below = has_substance(self.text[following.start : following.end], following.kind)
            if below and reads_as_heading(title):
                yield _ANNOUNCING.sub("", title).strip(), start, start + len(first)

    def _indent(self, start: int) -> int:
        line = self.text[start : start + _MOST_INDENT]
        return len(line) - len(line.lstrip(" \t"))

    def _is_deciding(self, passage: Passage) -> bool:
        """Return whether a sentence there decides something: nowhere that only reports."""
        if passage.in_glossary or passage.in_apparatus:
            return False
        return not any(map(_REPORTING.search, self.path_at(passage.start)))

    def path_at(self, offset: int) -> tuple[str, ...]:
        section = section_at(self.sections, offset)
        return section.path if section else ()

    def _passages(self) -> Iterator[Passage]:
        for block in self.blocks:
            if block.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE):
                continue
            if any(section.start <= block.start < section.body_end for section in self.contents):
                continue
            header = header_cells(self.text, block) if block.kind is BlockKind.TABLE else ()
            in_glossary = any(start <= block.start < end for start, end in self._glossary)
            for start, end in pieces(self.text, block):
                piece = normalise(self.text[start:end])
                if not is_drawn(piece):
                    yield Passage(
                        start=start,
                        end=end,
                        text=piece,
                        kind=block.kind,
                        in_glossary=in_glossary,
                        in_apparatus=self.is_apparatus(start),
                        header=header,
                        labels=labels_of(piece, block.kind, header),
                        sentences=sentences_of(piece, block.kind),
                    )


def _judge(topic: Topic, topics: tuple[Topic, ...], reader: _Reader) -> TopicJudgement:
    about = headings_about(topic)
    headings = [
        section
        for section in reader.sections
        if about.include(section.title)
        and not (topic.whole_document and _is_below_another(section.parent_id, topics, reader))
    ]
    for section in headings:
        if reader.has_content(section):
            return _by_heading(topic, section, reader, CoverageStatus.TREATED, "has_content")
    lines = (line for line in reader.lines if about.include(line[0]))
    if line := next((line for line in lines if _heads(line[1], topic, topics, reader)), None):
        title, start, end = line
        return _treated(topic, (start, end), reader.path_at(start), text_of("coverage", "content_below", title=title))
    if found := _stating_passage(topic, reader):
        path = reader.path_at(found.start)
        reason = text_of("coverage", "states", title=path[-1] if path else "")
        return _treated(topic, (found.start, found.end), path, reason)
    if headings:
        return _by_heading(topic, headings[0], reader, CoverageStatus.EMPTY, "empty")
    return _not_treated(topic, reader)


def _heads(offset: int, topic: Topic, topics: tuple[Topic, ...], reader: _Reader) -> bool:
    """Return whether a line heads a topic of the document, and not of a part or a test case that has one of its own."""
    section = section_at(reader.sections, offset)
    if section is None:
        return True
    if any(map(_CASE.search, section.path)):
        return False
    return not topic.whole_document or not _is_below_another(section.id, topics, reader)


def _is_below_another(section_id: str | None, topics: tuple[Topic, ...], reader: _Reader) -> bool:
    """Return whether a section is, or is below, the heading of a topic that is not the whole document's.

    The title above all of it is none: what a 障害対応設計書 says of its scope is said of the document.
    """
    others = [other for other in topics if not other.whole_document]
    above = reader.by_id.get(section_id or "")
    while above is not None and above is not reader.title:
        if any(names_topic(above.title, other) for other in others):
            return True
        above = reader.by_id.get(above.parent_id or "")
    return False


def _stating_passage(topic: Topic, reader: _Reader) -> Passage | None:
    cues, statements = passage_cues(topic), TopicStatements(topic)
    is_history, is_glossary = any(map(names_history, topic.synonyms)), any(map(_GLOSSARY.search, topic.synonyms))
    for passage in reader.stating:
        # a change history states no design, and a glossary explains words of any topic
        is_foreign = not is_history if passage.in_apparatus else passage.in_glossary and not is_glossary
        if is_foreign:
            continue
        if any(cue.occurs_in(passage.text) for cue in cues):
            return passage
        if not passage.labels:
            continue
        if statements.are_labelled(passage, of_document=_is_introducing(passage, reader)) and not any(
            map(_CASE.search, reader.path_at(passage.start))
        ):
            return passage
    stated = (each for each in reader.deciding if statements.fill_column(each) or statements.have_subject(each))
    return next(stated, None)


def _is_introducing(passage: Passage, reader: _Reader) -> bool:
    """Return whether a passage introduces the document: above all headings, right below the first, in an overview."""
    section = section_at(reader.sections, passage.start)
    if section is None or section is reader.opening:
        return True
    return len(section.path) <= _OVERVIEW_LEVELS and bool(_OVERVIEW.search(section.path[-1]))


def _by_heading(topic: Topic, section: Section, reader: _Reader, status: CoverageStatus, why: str) -> TopicJudgement:
    reason = text_of("coverage", why, title=section.title)
    return TopicJudgement(
        topic=topic,
        status=status,
        span=heading_span(section, reader.text),
        section_path=section.path,
        reason_ja=reason.ja,
        reason_en=reason.en,
        by_heading=True,
    )


def _treated(topic: Topic, span: tuple[int, int], path: tuple[str, ...], reason: Text) -> TopicJudgement:
    return TopicJudgement(
        topic=topic,
        status=CoverageStatus.TREATED,
        span=span,
        section_path=path,
        reason_ja=reason.ja,
        reason_en=reason.en,
    )


def _not_treated(topic: Topic, reader: _Reader) -> TopicJudgement:
    mentions = _mentions(topic, reader)
    if not mentions:
        return TopicJudgement(
            topic=topic,
            status=CoverageStatus.MISSING,
            reason_ja=text_of("coverage", "missing", title=topic.label_ja).ja,
            reason_en=text_of("coverage", "missing", title=topic.label_en).en,
        )
    return TopicJudgement(
        topic=topic,
        status=CoverageStatus.MENTIONED,
        span=mentions[0],
        section_path=reader.path_at(mentions[0][0]),
        mentions=mentions,
        reason_ja=text_of("coverage", "mentioned", title=topic.label_ja).ja,
        reason_en=text_of("coverage", "mentioned", title=topic.label_en).en,
    )


def _mentions(topic: Topic, reader: _Reader) -> tuple[tuple[int, int], ...]:
    names = sorted({*topic.synonyms, *topic.label_ja.split("・")}, key=lambda name: (-len(name), name))
    pattern = re.compile("|".join(re.escape(name) for name in names if not name.isascii()))
    found = (match.span() for match in pattern.finditer(reader.text))
    outside = [span for span in found if not reader.is_apparatus(span[0])]
    return tuple(outside[:_MENTIONS_SHOWN])


def heading_span(section: Section, text: str) -> tuple[int, int]:
    """Return where a heading's line is, without the line break."""
    line = text[section.start : section.body_start]
    return section.start, section.start + len(line.rstrip())
