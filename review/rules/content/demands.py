"""Requirements without a figure, and decisions without anybody who takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hub.core.texts import Text
from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import Role
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, bare_title, contents_ids, inside, place
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.prose import is_polite, read_prose
from review.rules.registry import rule
from review.rules.traceability.identifier_places import listed
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

_DATA_FILE = Path(__file__).resolve().parents[2] / "data" / "requirements.json"
# Numbers that measure nothing: of identifiers, editions and headings.
_NO_FIGURE = re.compile(
    r"[A-Z]{1,6}(?:-[A-Z]{1,6}){0,8}-[0-9]+|(?:v|(?<![0-9]))[0-9]++(?:\.[0-9]++){1,3}(?=\s|$)|^#+\s*[0-9.]+",
    re.MULTILINE,
)
_LABELLED = re.compile(
    r"^[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+\**(?P<label>[^\s:：*][^:：*\n]{1,20})\**[ \t]*[:：]\**", re.MULTILINE
)
_PLACES_SHOWN = 20


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
    data = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    return {name: re.compile(entry["pattern"], re.IGNORECASE) for name, entry in data.items()}


@rule(
    id="wording.unquantified_requirement",
    title=Text(ja="数値のない要件", en="Requirement without a figure"),
    looks_at=Text(
        ja="性能・可用性・冗長性・復旧・拡張性など、数値でしか合否を決められない要件（要件 ID の行・節、"
        "要件の見出しの下の項目）に数値があるか。他の箇所・別紙への参照があるものは除く",
        en="whether requirements on performance, availability, "
        "redundancy, recovery, scalability and the like (rows and "
        "sections of requirement ids, labelled items under such headings) state a figure, or refer to one",
    ),
    tags=("wording",),
)
def unquantified_requirement(target: RuleInput) -> RuleOutcome:
    """Report all measurable requirements without a number, in one finding."""
    demands = list(_demands(target))
    if not demands:
        return RuleOutcome(
            skip_reason=Text(
                ja="数値で表すべき要件（性能・可用性など）がありません。",
                en="There are no requirements on measurable qualities.",
            )
        )
    lacking = [demand for demand in demands if not _has_figure(demand.text)]
    findings = (_unquantified_finding(target, lacking, len(demands)),) if lacking else ()
    return RuleOutcome(findings=findings, examined=len(demands))


def _demands(target: RuleInput) -> Iterator[Demand]:
    """Yield requirements by identifier, then labelled items under headings of requirements, none twice."""
    taken: list[tuple[int, int]] = []
    skipped = apparatus(target.text, target.sections)
    for demand in (*_identified(target), *_labelled(target)):
        if not inside(taken, demand.start) and not inside(skipped, demand.start):
            taken.append((demand.start, demand.end))
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


def _is_measurable(words: str) -> bool:
    return bool(_patterns()["measurable"].search(words))


def _is_demand(path: tuple[str, ...]) -> bool:
    titles = [bare_title(title) for title in path]
    excluded = _patterns()["not_a_demand"]
    return bool(titles) and bool(_patterns()["demand_headings"].search(titles[-1])) and not excluded.search(titles[-1])


def _has_figure(text: str) -> bool:
    plain = _NO_FIGURE.sub(" ", narrow(text))
    return bool(_patterns()["number"].search(plain) or _patterns()["elsewhere"].search(plain))


def _unquantified_finding(target: RuleInput, lacking: list[Demand], total: int) -> FindingDraft:
    lacking = sorted(lacking, key=lambda demand: demand.start)
    names = [demand.identifier or f"「{demand.name}」" for demand in lacking]
    first = lacking[0]
    where = place(target.sections, first.start)
    end = "します。" if is_polite(target.text, target.blocks) else "する。"
    return FindingDraft(
        rule_id="wording.unquantified_requirement",
        severity=Severity.MAJOR,
        message=Text(
            ja=f"数値で表すべき要件 {total} 件のうち {len(lacking)} 件に数値がありません: {listed(names)}"
            f"（最初は「{where}」）。",
            en=f"{len(lacking)} of {total} measurable requirements "
            f"state no figure: {listed(names)} (first in “{where}”).",
        ),
        key="|".join(names),
        evidence=tuple(Span(start=demand.start, end=demand.end) for demand in lacking[:_PLACES_SHOWN]),
        data={"identifiers": [demand.identifier for demand in lacking if demand.identifier], "items": names},
        confidence=round(1 - len(lacking) / total, 3),
        confidence_basis=Text(
            ja=f"数値で表すべき要件 {total} 件のうち数値がある割合（高いほど残りは書き漏らしらしい）",
            en=f"share of the {total} measurable requirements that state a figure",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の {names[0]} に、測る対象・条件・目標値・測り方を書きます。",
                en=f"State object, condition, target figure and way of measuring for {names[0]} in “{where}”.",
            ),
            rationale=Text(
                ja="数値がないと、満たしたかどうかを受入時に判定できません。",
                en="Without a figure nobody can tell at acceptance whether it is met.",
            ),
            example=f"稼働率は月間 99.9 % 以上（計画停止を除く）とし、障害発生から 4 時間以内に復旧{end}",
        ),
    )


@rule(
    id="wording.missing_subject",
    title=Text(ja="主体のない責任", en="Responsibility without a subject"),
    looks_at=Text(
        ja="体制・連絡・承認・障害対応などの手順で、承認・判断・報告・連絡などを誰が行うかが書かれていない文",
        en="sentences in procedures between people (organisation, approval, incident handling) that do not say who "
        "approves, decides, reports or asks",
    ),
    tags=("wording",),
)
def missing_subject(target: RuleInput) -> RuleOutcome:
    """Report all acts in procedures that nobody is named for, in one finding."""
    sentences = list(_acts(target))
    if not sentences:
        return RuleOutcome(
            skip_reason=Text(
                ja="承認・報告などの手順の記述がありません。",
                en="No procedure says that something is approved or reported.",
            )
        )
    lacking = [span for span, names_actor in sentences if not names_actor]
    findings = (_subject_finding(target, lacking, len(sentences)),) if lacking else ()
    return RuleOutcome(findings=findings, examined=len(sentences))


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
        if section is None or not patterns["decision_headings"].search(bare_title(section.title)):
            continue
        around = sentence if segment.kind is not BlockKind.TABLE else _line(prose.masked, segment.start)
        names_actor = bool(patterns["actors"].search(around)) or _is_actors_own(section)
        yield Span(start=segment.start, end=segment.end), names_actor


def _is_actors_own(section: Section) -> bool:
    """Under 「5.2 運用責任者」 every sentence has its subject."""
    return bool(re.search(r"(?:者|担当|リーダー?|チーム|ベンダー?|PMO|委員会|[部課室局])$", bare_title(section.title)))


def _line(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    return text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)]


def _subject_finding(target: RuleInput, lacking: list[Span], total: int) -> FindingDraft:
    first = lacking[0]
    where = place(target.sections, first.start)
    sentence = target.text[first.start : first.end].replace("*", "")
    return FindingDraft(
        rule_id="wording.missing_subject",
        severity=Severity.MINOR,
        message=Text(
            ja=f"誰が行うかが書かれていない手順が {len(lacking)} か所あります（最初は「{where}」の「{sentence}」）。",
            en=f"{len(lacking)} steps do not say who acts (first in “{where}”: “{sentence}”).",
        ),
        key="|".join(target.text[span.start : span.end] for span in lacking),
        evidence=tuple(lacking[:_PLACES_SHOWN]),
        data={"count": len(lacking)},
        confidence=round(1 - len(lacking) / total, 3),
        confidence_basis=Text(
            ja=f"承認・報告などの手順 {total} 文のうち主体が書かれている割合",
            en=f"share of the {total} sentences about such acts that name who acts",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の「{sentence}」に、行う人（役割）と相手を書きます。",
                en=f"Say in “{where}” who does it, by role, and to whom: “{sentence}”.",
            ),
            rationale=Text(
                ja="主体がないと、実施されなかったときに誰の責任かが決まりません。",
                en="If it is not done, nobody answers for it.",
            ),
            example=f"運用責任者が{sentence}",
        ),
    )
