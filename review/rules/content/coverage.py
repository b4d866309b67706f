"""Expected topics that a document leaves out, and sections with nothing in them."""

from __future__ import annotations

from functools import lru_cache

from hub.core.texts import Text
from knowledge.ontology.coverage import CoverageStatus, TopicJudgement, judge_topics
from knowledge.ontology.passages import has_content, has_substance
from knowledge.text.outline import contents_ids
from knowledge.types.documents import Block, Section
from knowledge.types.requirements import Topic
from review.rules.prose import is_polite
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

MISSING = "coverage.missing_topic"
EMPTY = "coverage.empty_section"
NO_TOPICS = Text(
    ja="この文書種別に期待される項目がオントロジーに定義されていません。",
    en="The ontology defines no expected topics for this document type.",
)
_CHAPTER_LEVEL = 2


@rule(
    id=MISSING,
    title=Text(ja="必須項目の記載漏れ", en="Expected topic not treated"),
    looks_at=Text(
        ja="文書種別に期待される項目ごとに、内容のある見出し・表・段落があるか（語が出るだけ、例示、目次だけは記載と見ない）",
        en="for each topic expected of the document type, a heading with content, a table or a paragraph on it "
        "(named in passing, as an example or in the table of contents only is not treated)",
    ),
    tags=("coverage",),
    defaults={"topics": ()},
)
def missing_topic(target: RuleInput) -> RuleOutcome:
    """Report each expected topic that is missing or only named. ``params["topics"]`` narrows the codes looked at."""
    judged = _judged(target)
    if not judged:
        return RuleOutcome(skip_reason=NO_TOPICS)
    every = _judge_all(target.text, target.sections, target.blocks, target.topics)
    absent = (CoverageStatus.MISSING, CoverageStatus.MENTIONED)
    findings = tuple(_missing_finding(each, every, target) for each in judged if each.status in absent)
    return RuleOutcome(findings=findings, examined=len(judged))


@rule(
    id=EMPTY,
    title=Text(ja="内容のない節", en="Section without content"),
    looks_at=Text(
        ja="見出しだけの節、「TBD」「後日記載」などの仮置きだけの節、行のない表だけの節",
        en="sections with a heading only, with placeholders such as TBD only, or with a table without rows only",
    ),
    tags=("coverage", "structure"),
    defaults={"topics": ()},
)
def empty_section(target: RuleInput) -> RuleOutcome:
    """Report each section without content; ``data.topic`` is the expected topic that it should treat, if any."""
    contents = contents_ids(target.text, target.sections)
    sections = [section for section in target.sections if section.id not in contents]
    if not sections:
        return RuleOutcome(skip_reason=Text(ja="見出しがありません。", en="The document has no headings."))
    by_id, first_text = {section.id: section for section in target.sections}, _first_text(target)
    topics = {each.span[0]: each.topic for each in _judged(target) if each.status is CoverageStatus.EMPTY and each.span}
    wanted = set(target.params.get("topics", ()))
    findings = tuple(
        _empty_finding(section, topics.get(section.start), target)
        for section in sections
        if _is_reported_empty(section, by_id.get(section.parent_id or ""), first_text, target)
        and (not wanted or section.start in topics)
    )
    return RuleOutcome(findings=findings, examined=len(sections))


def _judged(target: RuleInput) -> tuple[TopicJudgement, ...]:
    wanted = set(target.params.get("topics", ()))
    judged = _judge_all(target.text, target.sections, target.blocks, target.topics)
    return tuple(each for each in judged if each.topic.required and (not wanted or each.topic.code in wanted))


@lru_cache(maxsize=4)
def _judge_all(
    text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...], topics: tuple[Topic, ...]
) -> tuple[TopicJudgement, ...]:
    return judge_topics(text, sections, blocks, topics)


def _is_reported_empty(section: Section, parent: Section | None, first_text: int, target: RuleInput) -> bool:
    """A title line over the whole document is no empty section, and an empty parent is reported once, at the top."""
    if not _is_empty(section, target):
        return False
    is_title_line = section.level <= _CHAPTER_LEVEL and section.number is None and section.start < first_text
    return not is_title_line and not (parent and _is_empty(parent, target))


def _is_empty(section: Section, target: RuleInput) -> bool:
    return not has_content(target.text, target.blocks, section.body_start, section.end)


def _first_text(target: RuleInput) -> int:
    starts = (b.start for b in target.blocks if has_substance(target.text[b.start : b.end], b.kind))
    return next(starts, 0)


def _missing_finding(judged: TopicJudgement, others: tuple[TopicJudgement, ...], target: RuleInput) -> FindingDraft:
    topic = judged.topic
    contents = contents_ids(target.text, target.sections)
    titles = tuple(section.title for section in target.sections if section.id not in contents)
    elements_ja, elements_en = "、".join(topic.elements_ja), "; ".join(topic.elements_en)
    by_heading = sum(1 for each in others if each.by_heading)
    return FindingDraft(
        rule_id=MISSING,
        severity=Severity(topic.severity),
        message=Text(
            ja=f"「{topic.label_ja}」の記載がありません。{judged.reason_ja}",
            en=f"“{topic.label_en}” is not treated. {judged.reason_en}",
        ),
        key=topic.code,
        evidence=tuple(Span(start=start, end=end) for start, end in judged.mentions),
        searched=titles,
        data={
            "topic": topic.code,
            "category": topic.category,
            "item": topic.label_ja,
            "status": judged.status.value,
            "expected_location": topic.expected_location,
            "missing_elements": list(topic.elements_ja),
        },
        confidence=round(by_heading / len(others), 3),
        confidence_basis=Text(
            ja=f"期待項目 {len(others)} 件のうち、この文書が見出しで示している割合"
            "（高いほど見出しのない項目は記載漏れらしい）",
            en=f"share of the {len(others)} expected topics that this document gives a heading of their own",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{_place_ja(judged, others)}に「{topic.label_ja}」の節を設け、{elements_ja}を書きます。",
                en=f"Add a section “{topic.label_en}” {_place_en(judged, others)} with: {elements_en}.",
            ),
            rationale=Text(
                ja=f"見出し {len(titles)} 件と本文を調べましたが、{elements_ja}のいずれも見当たりません。",
                en=f"{len(titles)} headings and the body were searched; none of these was found: {elements_en}.",
            ),
            example=topic.example_polite if is_polite(target.text, target.blocks) else topic.example,
        ),
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


def _place_ja(judged: TopicJudgement, others: tuple[TopicJudgement, ...]) -> str:
    neighbour = _neighbour(judged, others)
    return f"「{neighbour}」の前後" if neighbour else judged.topic.expected_location


def _place_en(judged: TopicJudgement, others: tuple[TopicJudgement, ...]) -> str:
    neighbour = _neighbour(judged, others)
    return f"next to “{neighbour}”" if neighbour else f"({judged.topic.expected_location_en})"


def _empty_finding(section: Section, topic: Topic | None, target: RuleInput) -> FindingDraft:
    what_ja = f"（{'、'.join(topic.elements_ja)}）" if topic else ""
    what_en = f" ({'; '.join(topic.elements_en)})" if topic else ""
    example = None
    if topic:
        example = topic.example_polite if is_polite(target.text, target.blocks) else topic.example
    return FindingDraft(
        rule_id=EMPTY,
        severity=Severity(topic.severity) if topic else Severity.MINOR,
        message=Text(
            ja=f"「{section.title}」に内容がありません（見出しか仮置きの語だけです）。",
            en=f"“{section.title}” has no content (a heading or placeholders only).",
        ),
        key=section.title,
        evidence=(heading_span(target.text, section),),
        data={"topic": topic.code if topic else None, "section": section.title},
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{section.title}」に内容{what_ja}を書くか、書かないなら「対象外」とその理由を書きます。",
                en=f"Write the content of “{section.title}”{what_en}, or say that it does not apply, and why.",
            ),
            rationale=Text(
                ja="見出しだけでは、検討していないのか該当しないのかを読み手が判断できません。",
                en="From a bare heading a reader cannot tell whether it was forgotten or does not apply.",
            ),
            example=example,
        ),
    )
