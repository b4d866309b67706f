"""References to chapters, sections, annexes and link targets that are not there, here or in a related document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from hub.core.texts import Text
from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, contents_ids, inside, place, unnumbered_title
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.base import finding, listed, rule, skipped
from review.rules.prose import read_prose
from review.rules.structure.headings import hidden_headings
from review.rules.traceability.across import kind_name, kind_of
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, Span

_NUMBER = r"[0-9]{1,2}(?:\.[0-9]{1,2}){0,3}"
_NOT_A_PART = r"(?<![0-9.A-Za-z\-/§第])"
_REFERS = r"(?:を参照|参照|に示す|に記載|に従|で定義|で述べ|で規定|のとおり)"
_REFERENCE = re.compile(
    rf"{_NOT_A_PART}(?:第\s*+(?P<formal>{_NUMBER})\s*+(?:章|節|項)|(?P<plain>{_NUMBER})\s*+(?:章|節)"
    rf"|(?P<dotted>[0-9]{{1,2}}(?:\.[0-9]{{1,2}}){{1,3}})\s*+項?+\s*+(?=[」)）]?\s*+{_REFERS}))"
    r"(?![0-9])"
)
# 2.6.2 命名規則に従うこと refers to a section where 命名規則 is the title of one.
_TITLED = re.compile(
    rf"{_NOT_A_PART}(?P<number>[0-9]{{1,2}}(?:\.[0-9]{{1,2}}){{1,3}})(?![0-9])\.?\s*+[「『]?"
    rf"(?P<title>[^0-9\s。、|「」『』][^\n。、|「」『』]{{1,40}}?)(?=[」』]?{_REFERS})"
)
_ANNEX = re.compile(r"(?<![一-龯])(?P<word>付録|附属書|別紙|別添|別表)\s*(?P<mark>[A-Z]|[0-9]{1,2})(?![0-9A-Za-z])")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]{1,300}+)\]\(#(?P<anchor>[^)\s]{1,500}+)\)")
_FILE_LINK = re.compile(
    r"(?<!!)\[[^\]\n]{1,300}+\]\((?!#[^)\s]|[a-z][a-z0-9+.-]*:|//)(?P<target>[^)\n]{0,500}+)\)", re.I
)
_NOWHERE = re.compile(r"\s*(?:#|TBD|TODO|未定|URL|リンク先?|x{2,}|\.{3}|…)?\s*", re.I)
_ANCHOR = re.compile(
    r"<a\s+(?:name|id)=[\"']([^\"']{1,500}+)[\"']|\{#([^}]{1,500}+)\}|\bid=[\"']([^\"']{1,500}+)[\"']", re.IGNORECASE
)
# 要件定義書の3.2節, JIS X 0129 5.1節 and 第3編第2章 are chapters of something else.
_OF_ANOTHER = re.compile(
    r"(?:書|ガイド|ガイドライン|標準|規程|規則|規格|指針|要領|手引き?|マニュアル|論文|法|条例|編|[A-Z]{2,}[\s0-9.:\-]*)[」』）)\s]*の?[\s、,]*$"
)
_REQUIREMENTS = re.compile(r"(?P<name>要件定義書|基本設計書|詳細設計書|テスト計画書)[」』）)\s]*の?[\s、,]*$")
_NAMELESS = re.compile(
    r"(?<![一-龯ァ-ヴー])(?:別途の?|別の|他の)(?:資料|文書|書類|ドキュメント|ファイル)を?(?:参照|参考|ご覧)"
)
_NAMED_FIGURE = re.compile(
    r"(?<![A-Za-z一-龯々ァ-ヴー])(?P<name>(?![上下次本別付左右前後]図)[A-Za-z一-龯々ァ-ヴー]{1,12}図)を?(?:参照|ご覧)"
)
_PICTURE = re.compile(r"!\[|<img|```(?:mermaid|plantuml)", re.IGNORECASE)
# 表 2.1 に示す names a table.
_OF_A_FIGURE = re.compile(r"(?:図|表|式|写真)\s*$")
_BEFORE, _MOST_FIGURES = 24, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangling:
    """A reference to what is not there: as written, where, and in which related document, if any."""

    written: str
    span: Span
    document: RelatedDocument | None = None


@rule("traceability.dangling_reference", tags=("traceability", "structure"), reads_related=True)
def dangling_reference(target: RuleInput) -> RuleOutcome:
    """Report all references to sections, annexes and anchors that do not exist, in one finding per document."""
    checked, dangling = 0, []
    for found in (*_sections(target), *_annexes(target), *_links(target), *_nameless(target), *_figures(target)):
        checked += 1
        if found:
            dangling.append(found)
    if not checked:
        return skipped("no_section_references")
    documents = list(dict.fromkeys(each.document.document_id if each.document else "" for each in dangling))
    findings = tuple(
        _finding(
            target, [each for each in dangling if (each.document.document_id if each.document else "") == name], checked
        )
        for name in documents
    )
    return RuleOutcome(findings=findings, examined=checked)


def _sections(target: RuleInput) -> Iterator[Dangling | None]:
    """Check numbers of chapters and sections; None for one that is there."""
    known = _numbers(target.sections) | {heading.label for heading in hidden_headings(target.text, target.blocks)}
    masked = narrow(read_prose(target.text, target.blocks).masked)
    skipped = [*apparatus(target.text, target.sections), *((s.start, s.body_start) for s in target.sections)]
    for number, start, end in _references(masked, target.sections):
        if inside(skipped, start):
            continue
        before = masked[max(0, start - _BEFORE) : start]
        span = Span(start=start, end=end)
        written = target.text[start:end].strip()
        if named := _REQUIREMENTS.search(before):
            yield from _in_related(target, named["name"], number, written, span)
        elif known and not _OF_ANOTHER.search(before) and not _OF_A_FIGURE.search(before):
            yield None if number in known else Dangling(written=written, span=span)


def _references(masked: str, sections: tuple[Section, ...]) -> Iterator[tuple[str, int, int]]:
    """Yield the number, start and end of what refers to a section by its number, or by number and title."""
    for match in _REFERENCE.finditer(masked):
        yield match["formal"] or match["plain"] or match["dotted"], match.start(), match.end()
    # Where a heading has lost its number, the one that it is called by can't be compared.
    titles = {fold_compact(unnumbered_title(section.title)) for section in sections if section.number}
    for match in _TITLED.finditer(masked):
        if fold_compact(match["title"]) in titles:
            yield match["number"], match.start(), match.end()


def _in_related(target: RuleInput, name: str, number: str, written: str, span: Span) -> Iterator[Dangling | None]:
    """Look a number up in the one related document of the kind that is named before it."""
    kinds = [
        related for related in target.related if kind_of(related.document_type, related.title) == kind_of("", name)
    ]
    if len(kinds) == 1 and (known := _numbers(kinds[0].sections)):
        yield None if number in known else Dangling(written=f"{name} {written}", span=span, document=kinds[0])


def _numbers(sections: tuple[Section, ...]) -> set[str]:
    return {section.number for section in sections if section.number}


def _annexes(target: RuleInput) -> Iterator[Dangling | None]:
    """Check annexes whose kind the document has headings or table rows of; others may be separate files."""
    plain = narrow(target.text)
    masked = narrow(read_prose(target.text, target.blocks).masked)
    known = {
        (match["word"], match["mark"])
        for stretch in _defining(target)
        if (match := _ANNEX.match(plain[slice(*stretch)].lstrip("# *")))
    }
    lettered = {("付録", s.number) for s in target.sections if s.number and re.fullmatch("[A-Z]", s.number)}
    bare = {("付録", m[1]) for s in target.sections if (m := re.match(r"([A-Z])[.．\s]", s.title.strip()))}
    words = {word for word, _ in known | lettered | bare}
    contents = contents_ids(target.text, target.sections)
    skipped = [(s.start, s.end) for s in target.sections if s.id in contents]
    for match in _ANNEX.finditer(masked):
        if match["word"] in words and not inside(skipped, match.start()):
            there = (match["word"], match["mark"]) in known | lettered | bare
            span = Span(start=match.start(), end=match.end())
            yield None if there else Dangling(written=target.text[match.start() : match.end()], span=span)


def _nameless(target: RuleInput) -> Iterator[Dangling]:
    """Yield references to papers that are not named: 別途の資料を参照."""
    masked = read_prose(target.text, target.blocks).masked
    for match in _NAMELESS.finditer(masked):
        yield Dangling(written=match.group(), span=Span(start=match.start(), end=match.end()))


def _figures(target: RuleInput) -> Iterator[Dangling | None]:
    """Check figures that are referred to by a name alone, ER図参照: nothing else has it, and there is no picture."""
    if _PICTURE.search(target.text) or any(block.kind is BlockKind.CODE for block in target.blocks):
        return
    masked = read_prose(target.text, target.blocks).masked
    references: dict[str, list[Span]] = defaultdict(list)
    for match in _NAMED_FIGURE.finditer(masked):
        references[match["name"]].append(Span(start=match.start(), end=match.end()))
    for name, spans in islice(references.items(), _MOST_FIGURES):
        yield None if masked.count(name) > len(spans) else Dangling(written=name, span=spans[0])


def _defining(target: RuleInput) -> Iterator[tuple[int, int]]:
    yield from ((section.start, section.body_start) for section in target.sections)
    for table in read_tables(target.text, target.blocks):
        yield from ((cell.start, cell.end) for row in table.rows for cell in row.cells[:2])


def _links(target: RuleInput) -> Iterator[Dangling | None]:
    """Check links to anchors of this document, and that links to files beside it name one.

    Whether such a file is there can't be seen from the document. The table of contents is structure.toc_mismatch's.
    """
    anchors = {_letters(section.title) for section in target.sections}
    anchors |= {_letters(name) for match in _ANCHOR.findall(target.text) for name in match if name}
    contents = contents_ids(target.text, target.sections)
    skipped = [(block.start, block.end) for block in target.blocks if block.kind is BlockKind.CODE]
    skipped += [(section.start, section.end) for section in target.sections if section.id in contents]
    for match in _FILE_LINK.finditer(target.text):
        if not inside(skipped, match.start()):
            span = Span(start=match.start(), end=match.end())
            leads_nowhere = _NOWHERE.fullmatch(match["target"])
            yield Dangling(written=match.group(), span=span) if leads_nowhere else None
    for match in _LINK.finditer(target.text):
        if inside(skipped, match.start()):
            continue
        # The second of two headings with one wording has the anchor …-1.
        names = {_letters(unquote(match["anchor"])), _letters(re.sub(r"-\d+$", "", unquote(match["anchor"])))}
        span = Span(start=match.start(), end=match.end())
        yield None if names & anchors else Dangling(written=match.group(), span=span)


def _letters(name: str) -> str:
    """Return what of a heading every renderer keeps in its anchor.

    >>> _letters("1.2 対象・範囲（案）") == _letters("12-対象範囲案")
    True
    """
    return re.sub(r"[\W_]", "", fold_compact(name))


def _finding(target: RuleInput, dangling: list[Dangling], total: int) -> FindingDraft:
    dangling = sorted(dangling, key=lambda each: each.span.start)
    names = list(dict.fromkeys(each.written for each in dangling))
    first = dangling[0]
    where = place(target.sections, first.span.start)
    there = kind_name(first.document) if first.document else Text(ja="この文書", en="this document")
    return finding(
        "traceability.dangling_reference",
        severity=Severity.MAJOR,
        key="|".join(names),
        evidence=tuple(each.span for each in dangling),
        data={"references": names},
        rests_on=(first.document.document_id,) if first.document else (),
        confidence=1 - len(dangling) / total,
        words={
            "names": Text(ja=listed(f"「{name}」" for name in names), en=listed(f"“{name}”" for name in names)),
            "there": there,
            "where": where,
            "total": total,
            "written": first.written,
        },
        example=_example(target.sections),
    )


def _example(sections: tuple[Section, ...]) -> str | None:
    numbered = next((section for section in sections if section.number), None)
    return f"{numbered.number}「{unnumbered_title(numbered.title)}」を参照" if numbered else None
