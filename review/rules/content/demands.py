"""Requirements without a figure, and decisions without anybody who takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.identifier_shapes import Role
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, contents_ids, inside, place, unnumbered_title
from knowledge.text.structure import line_span, section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.base import finding, listed, rule, shipped, skipped
from review.rules.prose import is_polite, read_prose
from review.types import RuleInput, RuleOutcome, Severity, Span

# 99.5 % and 0.5 秒以内 count something; 3.2 時間帯 and 1.3 に are a section and a version.
_COUNTED = (
    r"\s(?:%|パーセント|(?:ミリ)?秒|m?s(?![A-Za-z])|[KMGT]B|倍"
    r"|(?:分|時間|日|年|件|人|名)(?:以[上下内]|未満|程度|間))"
)
# Numbers that measure nothing: of identifiers, editions and headings.
_NO_FIGURE = re.compile(
    r"[A-Z]{1,6}(?:-[A-Z]{1,6}){0,8}-[0-9]+"
    rf"|(?:v|(?<![0-9]))[0-9]++(?:\.[0-9]++(?!{_COUNTED})|(?:\.[0-9]++){{2,3}})(?=\s|$)"
    r"|^#+\s*[0-9.]+",
    re.MULTILINE,
)
_LABELLED = re.compile(
    r"^[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+\**(?P<label>[^\s:：*][^:：*\n]{1,20})\**[ \t]*[:：]\**", re.MULTILINE
)
_PATH = re.compile(r"/[A-Za-z0-9_{}:/-]{1,200}")
_PLACES_SHOWN = 20
_SHORTEST_BODY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One requirement on a measurable quality: its id, if any, its name, its text, and where it stands."""

    identifier: str
    name: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns = {name: entry["pattern"] for name, entry in shipped("requirements").items()}
    for qualities in ("measurable", "quality"):
        patterns[qualities] = f"(?:{patterns[qualities]})(?!{patterns['names']})"
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}


@rule("wording.unquantified_requirement", tags=("wording",))
def unquantified_requirement(target: RuleInput) -> RuleOutcome:
    """Report all measurable requirements without a number, in one finding."""
    demands = list(_demands(target))
    if not demands:
        return skipped("no_measurable_requirements")
    lacking = [demand for demand in demands if not _has_figure(demand.text)]
    if not lacking:
        return RuleOutcome(examined=len(demands))
    lacking.sort(key=lambda demand: demand.start)
    names = [demand.identifier or f"「{demand.name}」" for demand in lacking]
    end = "します。" if is_polite(target.text, target.blocks) else "する。"
    found = finding(
        "wording.unquantified_requirement",
        severity=Severity.MAJOR,
        key="|".join(names),
        evidence=tuple(Span(start=demand.start, end=demand.end) for demand in lacking[:_PLACES_SHOWN]),
        data={"identifiers": [demand.identifier for demand in lacking if demand.identifier], "items": names},
        confidence=1 - len(lacking) / len(demands),
        words={
            "total": len(demands),
            "count": len(lacking),
            "names": listed(dict.fromkeys(names)),
            "where": place(target.sections, lacking[0].start),
            "first_name": names[0],
        },
        example=f"稼働率は月間 99.9 % 以上（計画停止を除く）とし、障害発生から 4 時間以内に復旧{end}",
    )
    return RuleOutcome(findings=(found,), examined=len(demands))


def _demands(target: RuleInput) -> Iterator[Demand]:
    """Yield requirements by identifier, labelled items, sections named for a quality, and sentences, none twice."""
    taken: list[tuple[int, int]] = []
    skipped = apparatus(target.text, target.sections)
    for demand in (*_identified(target), *_labelled(target)):
        if not inside(taken, demand.start) and not inside(skipped, demand.start):
            taken.append((demand.start, demand.end))
            yield demand
    for section, demand in _sections(target):
        # Where its own requirements were read, the section as a whole is none.
        if not any(section.start <= start < section.end for start, _ in taken):
            taken.append((section.start, section.end))
            yield demand
    for demand in _sentences(target):
        if not inside(taken, demand.start) and not inside(skipped, demand.start):
            yield demand


def _identified(target: RuleInput) -> Iterator[Demand]:
    rows = {row.start: row for table in read_tables(target.text, target.blocks) for row in table.rows}
    sections = {section.start: section for section in target.sections}
    for family in read_families(target.text, target.sections, target.blocks):
        if family.role in (Role.TEST, Role.REGISTER):
            continue
        for mention in family.definitions:
            line = target.text.rfind("\n", 0, mention.start) + 1
            section = section_at(target.sections, mention.start)
            if row := rows.get(line):
                heading = section.path if section else ()
                text = target.text[row.start : row.end]
                own = " ".join(cell.text for cell in row.cells[:2])
                if _is_measurable(own) or (_is_measurable(heading[-1] if heading else "") and _is_demand(heading)):
                    yield Demand(identifier=mention.id, name=own, text=text, start=row.start, end=row.end)
            elif (own_section := sections.get(line)) and _is_measurable(own_section.title):
                text = target.text[own_section.start : own_section.end]
                yield Demand(
                    identifier=mention.id,
                    name=own_section.title,
                    text=text,
                    start=own_section.start,
                    end=own_section.body_start,
                )


def _labelled(target: RuleInput) -> Iterator[Demand]:
    """Items such as 「- 可用性: …」 under a heading of requirements; what hangs below an item belongs to it."""
    contents = contents_ids(target.text, target.sections)
    for block in target.blocks:
        section = section_at(target.sections, block.start)
        if block.kind is not BlockKind.LIST or section is None or section.id in contents:
            continue
        if not _is_demand(section.path):
            continue
        matches = list(_LABELLED.finditer(target.text, block.start, block.end))
        for index, match in enumerate(matches):
            end = matches[index + 1].start() if index + 1 < len(matches) else block.end
            if _is_measurable(match["label"]):
                text = target.text[match.start() : end]
                start = match.start("label")
                stop = start + len(target.text[start:end].split("\n")[0].rstrip())
                yield Demand(identifier="", name=match["label"].strip(), text=text, start=start, end=stop)


def _sections(target: RuleInput) -> Iterator[tuple[Section, Demand]]:
    """A section that is named for a quality (4.2 可用性) and has text of its own, as a whole."""
    if target.document_type == "test_plan":
        return
    contents = contents_ids(target.text, target.sections)
    parents = {section.parent_id for section in target.sections}
    quality, excluded = _patterns()["quality"], _patterns()["not_a_demand"]
    for section in target.sections:
        title = unnumbered_title(section.title)
        body = target.text[section.body_start : section.end]
        is_quality = quality.search(_PATH.sub("", title)) and not excluded.search(title)
        if is_quality and section.id not in parents | contents and len(fold_compact(body)) >= _SHORTEST_BODY:
            start = section.body_start + len(body) - len(body.lstrip())
            end = line_span(target.text, start, start)[1]
            yield section, Demand(identifier="", name=title.strip(), text=body.strip(), start=start, end=end)


def _sentences(target: RuleInput) -> Iterator[Demand]:
    """A sentence that demands a quality of performance or availability, wherever it stands."""
    if target.document_type == "test_plan":
        return
    prose = read_prose(target.text, target.blocks)
    quality, demanded = _patterns()["quality"], _patterns()["demanded"]
    for segment in prose.segments:
        sentence = prose.masked[segment.start : segment.end]
        if segment.kind is not BlockKind.HEADING and (found := quality.search(sentence)) and demanded.search(sentence):
            yield Demand(identifier="", name=found.group(), text=sentence, start=segment.start, end=segment.end)


def _is_measurable(words: str) -> bool:
    """Whether words name a quality that is measured; the path of an endpoint, /availability, names none."""
    return bool(_patterns()["measurable"].search(_PATH.sub("", words)))


def _is_demand(path: tuple[str, ...]) -> bool:
    titles = [unnumbered_title(title) for title in path]
    excluded = _patterns()["not_a_demand"]
    return bool(titles) and bool(_patterns()["demand_headings"].search(titles[-1])) and not excluded.search(titles[-1])


def _has_figure(text: str) -> bool:
    plain = _NO_FIGURE.sub(" ", narrow(text))
    return bool(_patterns()["number"].search(plain) or _patterns()["elsewhere"].search(plain))


@rule("wording.missing_subject", tags=("wording",))
def missing_subject(target: RuleInput) -> RuleOutcome:
    """Report all acts in procedures that nobody is named for, in one finding."""
    sentences = list(_acts(target))
    if not sentences:
        return skipped("no_procedures")
    lacking = [span for span, names_actor in sentences if not names_actor]
    if not lacking:
        return RuleOutcome(examined=len(sentences))
    sentence = target.text[lacking[0].start : lacking[0].end].replace("*", "")
    found = finding(
        "wording.missing_subject",
        severity=Severity.MINOR,
        key="|".join(target.text[span.start : span.end] for span in lacking),
        evidence=tuple(lacking[:_PLACES_SHOWN]),
        data={"count": len(lacking)},
        confidence=1 - len(lacking) / len(sentences),
        words={
            "count": len(lacking),
            "where": place(target.sections, lacking[0].start),
            "sentence": sentence,
            "total": len(sentences),
        },
        example=f"運用責任者が{sentence}",
    )
    return RuleOutcome(findings=(found,), examined=len(sentences))


def _acts(target: RuleInput) -> Iterator[tuple[Span, bool]]:
    """Yield sentences about such acts, and whether the sentence, its row or its heading names who acts."""
    patterns = _patterns()
    prose = read_prose(target.text, target.blocks)
    skipped = apparatus(target.text, target.sections)
    for segment in prose.segments:
        sentence = prose.masked[segment.start : segment.end]
        if (
            segment.kind is BlockKind.HEADING
            or not patterns["decisions"].search(sentence)
            or inside(skipped, segment.start)
        ):
            continue
        section = section_at(target.sections, segment.start)
        if section is None or not patterns["decision_headings"].search(unnumbered_title(section.title)):
            continue
        line_start, line_end = line_span(prose.masked, segment.start, segment.start)
        around = sentence if segment.kind is not BlockKind.TABLE else prose.masked[line_start:line_end]
        names_actor = bool(patterns["actors"].search(around)) or _is_actors_own(section)
        yield Span(start=segment.start, end=segment.end), names_actor


def _is_actors_own(section: Section) -> bool:
    """Under 「5.2 運用責任者」 every sentence has its subject."""
    return bool(
        re.search(r"(?:者|担当|リーダー?|チーム|ベンダー?|PMO|委員会|[部課室局])$", unnumbered_title(section.title))
    )
