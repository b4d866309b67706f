"""Expected topics that a document leaves out, and sections with nothing in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any

from hub.core.texts import Text
from knowledge.ontology.coverage import CoverageStatus, TopicJudgement, judge_topics
from knowledge.ontology.passages import has_content, has_substance
from knowledge.text.outline import contents_ids
from knowledge.text.tables import read_table
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.requirements import Topic
from review.rules.base import finding, quoted, rule, skipped
from review.rules.certainty import UNDECIDED
from review.rules.content.blank_cells import DASH, blank_cells
from review.rules.content.due import Elsewhere, left_to_others, topic_of_instructions
from review.rules.content.empty_headings import contents_entries, empty_runs, says_itself
from review.rules.content.left_out import undescribed_members
from review.rules.content.nearest import is_hardly_known, nearest_lines
from review.rules.content.unfilled import Unfilled, unfilled_parts
from review.rules.content.unnumbered import unnumbered_cases
from review.rules.prose import is_polite
from review.rules.structure.headings import heading_span, sheet_titles
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

MISSING = "coverage.missing_topic"
EMPTY = "coverage.empty_section"
BLOCKING = ("critical", "major")
_CHAPTER_LEVEL = 2
_TITLES_SHOWN = 5
_LONGEST_COVER_LINE = 60


@rule(MISSING, tags=("coverage",), defaults={"topics": (), "except": ()}, reads_topics=True)
def missing_topic(target: RuleInput) -> RuleOutcome:
    """Report each expected topic that is missing or only named.

    Those that another document usually has are one finding, and so are those that are to be looked at. The topic that a
    manual is on by its title is to be looked at where lines are near to it: the title alone, which its author writes,
    treats nothing. ``params["topics"]`` narrows the codes looked at; those in ``except`` belong to another check item.
    """
    others = set(target.params.get("except", ()))
    judged = tuple(each for each in _judged(target) if each.topic.code not in others)
    if not judged:
        return skipped("no_topics")
    every = _judge_all(target.text, target.sections, target.blocks, target.topics)
    absent = (CoverageStatus.MISSING, CoverageStatus.MENTIONED)
    is_strange = is_hardly_known(target, every)
    own = topic_of_instructions(target)
    lacking = [each for each in judged if each.status in absent]
    elsewhere = left_to_others(target, lacking)
    due = [each for each in lacking if elsewhere is None or each not in elsewhere.judged]
    strange = [each for each in due if is_strange or each.topic == own]
    near = {each: lines for each in strange if (lines := nearest_lines(target, each.topic))}
    findings = [_missing_finding(each, every, target, is_strange=each in strange) for each in due if each not in near]
    if near:
        findings.append(_undecided_finding(near, target))
    if elsewhere is not None:
        findings.append(_elsewhere_finding(elsewhere, target))
    return RuleOutcome(findings=tuple(findings), examined=len(judged))


@rule(EMPTY, tags=("coverage", "structure"), defaults={"topics": ()}, reads_topics=True)
def empty_section(target: RuleInput) -> RuleOutcome:
    """Report each section without content; ``data.topic`` is the expected topic that it should treat, if any.

    Bare sub-headings and values that only hold a place are reported too, those of one list or table in one finding.
    """
    contents = contents_ids(target.text, target.sections)
    sections = [section for section in target.sections if section.id not in contents]
    if not sections:
        return skipped("no_headings")
    empty = _empty_ids(target)
    first_text = _first_text(target)
    topics = {each.span[0]: each.topic for each in _judged(target) if each.status is CoverageStatus.EMPTY and each.span}
    wanted = set(target.params.get("topics", ()))
    reported = [section for section in sections if _is_reported_empty(section, empty, first_text, target.title)]
    findings = tuple(
        _empty_finding(section, topics[section.start], target) for section in reported if section.start in topics
    )
    entries = contents_entries(target.sections, contents)
    others = [
        each
        for each in reported
        if each.start not in topics and each.id not in entries and not _says_none(each, target)
    ]
    parts = () if wanted else (*empty_runs(others, target), *_parts(target))
    unfilled = tuple(map(_unfilled_finding, _told_once(parts)))
    return RuleOutcome(findings=(*findings, *unfilled), examined=len(sections))


def _parts(target: RuleInput) -> Iterator[Unfilled]:
    yield from unfilled_parts(target)
    yield from blank_cells(target)
    yield from undescribed_members(target)
    yield from unnumbered_cases(target)


def _judged(target: RuleInput) -> tuple[TopicJudgement, ...]:
    wanted = set(target.params.get("topics", ()))
    judged = _judge_all(target.text, target.sections, target.blocks, target.topics)
    return tuple(each for each in judged if each.topic.required and (not wanted or each.topic.code in wanted))


@lru_cache(maxsize=4)
def _judge_all(
    text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...], topics: tuple[Topic, ...]
) -> tuple[TopicJudgement, ...]:
    return judge_topics(text, sections, blocks, topics)


def _is_reported_empty(section: Section, empty: frozenset[str], first_text: int, title: str) -> bool:
    """A title line over the whole document is no empty section, and an empty parent is reported once, at the top."""
    if section.id not in empty:
        return False
    is_title_line = section.level <= _CHAPTER_LEVEL and section.number is None and section.start < first_text
    is_title_line = is_title_line or section.title.strip() == title.strip()
    return not is_title_line and section.parent_id not in empty


def _says_none(section: Section, target: RuleInput) -> bool:
    """Whether a form is filled in below the heading with dashes: 一覧表示, | 1 | - | - |. There is nothing to say."""
    first = bisect_left(target.blocks, section.body_start, key=lambda block: block.start)
    inside = takewhile(lambda block: block.start < section.end, islice(target.blocks, first, None))
    tables = (read_table(target.text, block) for block in inside if block.kind is BlockKind.TABLE)
    rows = [[cell.text for cell in row.cells] for table in tables if table is not None for row in table.rows]
    return any(len(said := list(filter(None, row))) > 1 and all(map(DASH.fullmatch, said[1:])) for row in rows)


def _empty_ids(target: RuleInput) -> frozenset[str]:
    """The ids of the sections without content; the title of a sheet has what follows on it."""
    titles = sheet_titles(target.sections, target.blocks)
    return frozenset(
        section.id
        for section in target.sections
        if section.id not in titles
        and not says_itself(section)
        and not has_content(target.text, target.blocks, section.body_start, section.end)
    )


def _first_text(target: RuleInput) -> int:
    """Return where the text proper begins: before it a cover has short lines, names and titles."""
    for block in target.blocks:
        source = target.text[block.start : block.end]
        is_line = block.kind is BlockKind.PARAGRAPH and len(source) <= _LONGEST_COVER_LINE and "。" not in source
        if has_substance(source, block.kind) and not is_line:
            return block.start
    return 0


def _missing_finding(
    judged: TopicJudgement, others: tuple[TopicJudgement, ...], target: RuleInput, *, is_strange: bool
) -> FindingDraft:
    topic = judged.topic
    titles = _titles(target)
    neighbour = _neighbour(judged, others)
    by_heading = sum(1 for each in others if each.by_heading)
    return finding(
        MISSING,
        severity=Severity(topic.severity),
        key=topic.code,
        evidence=tuple(Span(start=start, end=end) for start, end in judged.mentions),
        searched=titles,
        data={
            "topic": topic.code,
            "category": topic.category,
            "item": topic.label_ja,
            "status": judged.status.value,
            "certainty_kind": "hardly_known" if is_strange else "known",
            "expected_location": topic.expected_location,
            "missing_elements": list(topic.elements_ja),
        },
        confidence=by_heading / len(others),
        words={
            "label": Text(ja=topic.label_ja, en=topic.label_en),
            "reason": Text(ja=judged.reason_ja, en=judged.reason_en),
            "total": len(others),
            "place": Text(ja=f"「{neighbour}」の前後", en=f"next to “{neighbour}”")
            if neighbour
            else _proposed_place(topic),
            "elements": _elements(topic),
            "headings": len(titles),
        },
        example=_example(topic, target),
    )


def _undecided_finding(near: Mapping[TopicJudgement, tuple[Span, ...]], target: RuleInput) -> FindingDraft:
    """The topics of a document with hardly known headings that have lines near to them: neither there nor missing.

    The lines are in the text's order, each once.
    """
    lines = sorted({(span.start, span.end) for spans in near.values() for span in spans})
    evidence = tuple(Span(start=start, end=end) for start, end in lines)
    return _together(UNDECIDED, tuple(near), target, evidence=evidence, data={"status": UNDECIDED})


def _elsewhere_finding(found: Elsewhere, target: RuleInput) -> FindingDraft:
    """What the document leaves out and need not have itself."""
    evidence = tuple(Span(start=start, end=end) for each in found.judged for start, end in each.mentions[:1])
    severity = Severity.MINOR if found.is_named else Severity.INFO
    return _together("elsewhere", found.judged, target, evidence=evidence, severity=severity, reason=found.reason)


def _together(
    texts: str,
    judged: Sequence[TopicJudgement],
    target: RuleInput,
    *,
    evidence: tuple[Span, ...],
    data: Mapping[str, Any] | None = None,
    severity: Severity = Severity.MINOR,
    reason: Text | None = None,
) -> FindingDraft:
    """Make one finding on several topics: ``data.topics`` are the codes, ``data.items`` the names.

    Message and suggestion name them as `quoted` does, so that single ones may be taken out.
    """
    topics = [each.topic for each in judged]
    titles = _titles(target)
    return finding(
        MISSING,
        severity=severity,
        key="|".join(topic.code for topic in topics),
        texts=texts,
        evidence=evidence,
        searched=titles,
        data={
            "topic": None,
            "topics": [topic.code for topic in topics],
            "items": [topic.label_ja for topic in topics],
            "items_en": [topic.label_en for topic in topics],
            "certainty_kind": texts,
            **(data or {}),
        },
        words={
            "labels": Text(
                ja=quoted(topic.label_ja for topic in topics).ja, en=quoted(topic.label_en for topic in topics).en
            ),
            "reason": reason or Text(ja="", en=""),
            "headings": len(titles),
        },
    )


def _titles(target: RuleInput) -> tuple[str, ...]:
    contents = contents_ids(target.text, target.sections)
    return tuple(section.title for section in target.sections if section.id not in contents)


def _proposed_place(topic: Topic) -> Text:
    """Where the check list would have it: the document's own chapters may be others."""
    if not topic.expected_location:
        return Text(ja="本文", en="")
    return Text(
        ja=f"この文書の構成に合う位置（目安は{topic.expected_location}）",
        en=f"where it fits this document (proposed: {topic.expected_location_en})",
    )


def _neighbour(judged: TopicJudgement, others: tuple[TopicJudgement, ...]) -> str | None:
    """Return the title of a section on a topic of the same category, the natural place beside which to add."""
    same = (
        each
        for each in others
        if each.topic.category == judged.topic.category and each.by_heading and each.section_path
    )
    found = next(same, None)
    return found.section_path[-1] if found else None


def _elements(topic: Topic) -> Text:
    return Text(ja="、".join(topic.elements_ja), en="; ".join(topic.elements_en))


def _example(topic: Topic, target: RuleInput) -> str:
    return topic.example_polite if is_polite(target.text, target.blocks) else topic.example


def _empty_finding(section: Section, topic: Topic, target: RuleInput) -> FindingDraft:
    return finding(
        EMPTY,
        severity=Severity(topic.severity),
        key=section.title,
        evidence=(heading_span(target.text, section),),
        data={"topic": topic.code, "section": section.title},
        texts="expected",
        words={"title": section.title, "elements": _elements(topic)},
        example=_example(topic, target),
    )


def _told_once(parts: Iterable[Unfilled]) -> Iterator[Unfilled]:
    """What every sheet leaves open under one name, 版数, is one finding with all places."""
    together: dict[tuple[str, tuple[str, ...]], list[Unfilled]] = defaultdict(list)
    for part in parts:
        together[part.texts, part.titles].append(part)
    for same in together.values():
        yield replace(same[0], spans=tuple(span for part in same for span in part.spans))


def _unfilled_finding(parts: Unfilled) -> FindingDraft:
    title = "、".join(parts.titles[:_TITLES_SHOWN])
    return finding(
        EMPTY,
        severity=Severity.MINOR,
        key=title,
        evidence=parts.spans,
        texts=parts.texts,
        data={"topic": None, "section": parts.titles[0]}
        | ({} if parts.texts == "finding" else {"certainty_kind": parts.texts}),
        words={"title": title, "elements": ""},
    )
