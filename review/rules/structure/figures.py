"""Captions of figures and tables with their numbers, and the places that refer to such numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside, place
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.base import finding, listed, rule, skipped, spans_of
from review.rules.prose import is_polite, read_prose
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity

_KIND = r"(?P<kind>図表|図|表|写真|Figure|Fig\.?|Table)"
_NUMBER = r"(?P<number>[A-Z]?[0-9]+(?:[-.][0-9]+)*)"
_CAPTION = re.compile(
    rf"[\s*_【\[（(]*{_KIND}\s*+(?::\s*+)?{_NUMBER}(?![0-9A-Za-z])[\s*_:.)）】\]]*(?P<title>[^\n]*)", re.IGNORECASE
)
_IMAGE_ALT = re.compile(
    rf"!\[(?=[^\]\n]{{0,600}}\])\s*+{_KIND}\s*+{_NUMBER}[\s:.]*+(?P<title>[^\]\n]*)\]", re.IGNORECASE
)
# 代表1名 and 発表2件 hold 表, 別表1 is another thing, 図2次元 is no number; 上記図1 and 前掲表2 are references.
_REFERENCE = re.compile(
    r"(?:(?<![一-龯々ァ-ヴーA-Za-z])|(?<=[記掲]))(?:図表|図|表|写真|(?:Figure|Fig\.?|Table)(?=[\s0-9]))\s*"
    r"(?P<number>[A-Z]?[0-9]+(?:[-.][0-9]+)*)(?![0-9A-Za-z]|\s*[次件人名個点回つ枚本式年月日])"
    r"(?:\s*[〜~～]\s*(?:図表|図|表)?\s*(?P<last>[A-Z]?[0-9]+(?:[-.][0-9]+)*))?",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"(?:書|ガイド|ガイドライン|標準|規程|規格|指針|要領|手引き?|マニュアル|論文|別紙[^。\s]{0,6}|別添[^。\s]{0,6}|(?<![A-Z])[A-Z]{2,}+\s?[0-9.:-]++)[」』）)\s]*+の?\s*+$"
)
_KINDS = {"figure": "図", "fig": "図", "fig.": "図", "table": "表"}
_BEFORE = 24
_CONTINUED = ("続き", "つづき", "1/2", "2/2", "再掲")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A numbered figure or table: at a caption, or where it is referred to. ``title`` is a caption's wording."""

    kind: str
    number: str
    start: int
    end: int
    title: str = ""

    @property
    def label(self) -> str:
        return f"{self.kind}{self.number}"

    @property
    def prefix(self) -> str:
        """The chapter that the number counts in: ``3`` of 図3-2, '' of 図2."""
        return re.sub(r"-?[0-9]+$", "", self.number)

    @property
    def ordinal(self) -> int:
        return int(re.findall(r"[0-9]+", self.number)[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Captions:
    """The numbered captions of a document and the references to such numbers, both in document order."""

    captions: tuple[Numbered, ...]
    references: tuple[Numbered, ...]


@lru_cache(maxsize=4)
def read_captions(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Captions:
    """Read captions (caption blocks, and numbered alt texts of pictures) and references outside them.

    A list of figures or tables and the change history hold neither; references to another document's figures are left
    out.
    """
    skipped = apparatus(text, sections)
    plain = narrow(text)
    captions = [found for found in _captions(plain, blocks) if not inside(skipped, found.start)]
    lines = {(block.start, block.end) for block in blocks if block.kind is BlockKind.CAPTION}
    masked = narrow(read_prose(text, blocks).masked)
    references = [
        found for found in _references(masked) if not inside(skipped, found.start) and not inside(lines, found.start)
    ]
    return Captions(captions=tuple(captions), references=tuple(references))


def _captions(plain: str, blocks: tuple[Block, ...]) -> Iterator[Numbered]:
    for block in blocks:
        if block.kind is BlockKind.CAPTION:
            match = _CAPTION.match(plain, block.start, block.end)
        elif block.kind in (BlockKind.FIGURE, BlockKind.PARAGRAPH):
            match = _IMAGE_ALT.search(plain, block.start, block.end)
        else:
            continue
        if match:
            start = match.start("kind")
            yield _numbered(match["kind"], match["number"], start, match.end("number"), fold_compact(match["title"]))


def _references(masked: str) -> Iterator[Numbered]:
    for match in _REFERENCE.finditer(masked):
        if _OF_ANOTHER.search(masked[max(0, match.start() - _BEFORE) : match.start()]):
            continue
        kind = re.match(r"[^\s0-9]+", match.group())
        first = _numbered(kind.group() if kind else "", match["number"], match.start(), match.end("number"))
        yield first
        last = match["last"]
        if last and re.fullmatch(r"[0-9]+", re.sub(r"^.*[-.]", "", last)):
            stop = int(re.sub(r"^.*[-.]", "", last))
            stem = re.sub(r"[0-9]+$", "", first.number)
            for ordinal in range(first.ordinal + 1, min(stop, first.ordinal + 50) + 1):
                yield _numbered(first.kind, f"{stem}{ordinal}", match.start(), match.end())


def _numbered(kind: str, number: str, start: int, end: int, title: str = "") -> Numbered:
    name = _KINDS.get(kind.casefold(), kind)
    return Numbered(kind=name, number=number.replace(".", "-"), start=start, end=end, title=title)


@rule("figure.numbering", tags=("figure", "structure"))
def numbering(target: RuleInput) -> RuleOutcome:
    """Report, per kind (図, 表), captions whose number is used twice, leaves a gap, or goes back."""
    captions = read_captions(target.text, target.sections, target.blocks).captions
    if not captions:
        return skipped("no_captions")
    findings = []
    for kind in dict.fromkeys(caption.kind for caption in captions):
        ours = [caption for caption in captions if caption.kind == kind and not _is_continued(caption)]
        if broken := _broken(ours):
            findings.append(_numbering_finding(target, ours, broken))
    return RuleOutcome(findings=tuple(findings), examined=len(captions))


def _is_continued(caption: Numbered) -> bool:
    return any(word in caption.title for word in _CONTINUED)


def _broken(captions: list[Numbered]) -> list[tuple[Numbered, Text]]:
    """Return the captions that break their run, each with what is wrong."""
    runs: dict[str, list[Numbered]] = defaultdict(list)
    for caption in captions:
        runs[caption.prefix].append(caption)
    found = []
    for run in runs.values():
        seen: set[int] = {run[0].ordinal}
        # 表1, 表2-1, 表2-2, 表3: a chapter with one table gives it the chapter's number.
        present = {caption.ordinal for caption in run} | {int(p) for p in runs if p.isdigit() and not run[0].prefix}
        for before, after in pairwise(run):
            if what := _break(before, after, seen, present):
                found.append((after, what))
            seen.add(after.ordinal)
    return sorted(found, key=lambda pair: pair[0].start)


def _break(before: Numbered, after: Numbered, seen: set[int], present: set[int]) -> Text | None:
    if after.ordinal in seen:
        return Text(ja=f"{after.label} が重複", en=f"{after.label} used twice")
    if after.ordinal < before.ordinal:
        return Text(ja=f"{before.label} の後に {after.label}", en=f"{after.label} after {before.label}")
    if after.ordinal > before.ordinal + 1 and before.ordinal + 1 not in present:
        return Text(ja=f"{before.label} の次が {after.label}", en=f"{before.label}, then {after.label}")
    return None


def _numbering_finding(
    target: RuleInput, captions: list[Numbered], broken: list[tuple[Numbered, Text]]
) -> FindingDraft:
    first = broken[0][0]
    where = place(target.sections, first.start)
    labels = [caption.label for caption, _ in broken]
    return finding(
        "figure.numbering",
        severity=Severity.MINOR,
        key=",".join(labels),
        evidence=spans_of(caption for caption, _ in broken),
        data={"numbers": labels, "kind": first.kind},
        confidence=1 - len(broken) / len(captions),
        words={
            "kind": first.kind,
            "breaks": Text(ja="、".join(what.ja for _, what in broken), en=", ".join(what.en for _, what in broken)),
            "total": len(captions),
            "where": where,
            "label": first.label,
        },
    )


@rule("figure.unreferenced", tags=("figure",))
def unreferenced(target: RuleInput) -> RuleOutcome:
    """Report all captioned figures and tables that no text refers to by number, in one finding."""
    read = read_captions(target.text, target.sections, target.blocks)
    if not read.captions:
        return skipped("no_captions")
    named = {reference.label for reference in read.references}
    lost = [caption for caption in read.captions if caption.label not in named and not _is_continued(caption)]
    total = len(read.captions)
    if not lost:
        return RuleOutcome(examined=total)
    labels = list(dict.fromkeys(caption.label for caption in lost))
    title = target.text[lost[0].start : lost[0].end]
    found = finding(
        "figure.unreferenced",
        severity=Severity.MINOR,
        key=",".join(labels),
        evidence=spans_of(lost),
        data={"numbers": labels},
        confidence=1 - len(lost) / total,
        words={
            "labels": listed(labels),
            "total": total,
            "count": len(labels),
            "where": place(target.sections, lost[0].start),
            "first_label": labels[0],
        },
        example=f"…を{title}に示します。" if is_polite(target.text, target.blocks) else f"…を{title}に示す。",
    )
    return RuleOutcome(findings=(found,), examined=total)


@rule("figure.undefined_reference", tags=("figure", "traceability"))
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report all references to figures and tables without a caption of that number, in one finding."""
    read = read_captions(target.text, target.sections, target.blocks)
    if not read.references:
        return skipped("no_figure_references")
    labelled = {caption.label for caption in read.captions}
    dangling = [reference for reference in read.references if reference.label not in labelled]
    total = len(read.references)
    if not dangling:
        return RuleOutcome(examined=total)
    labels = list(dict.fromkeys(reference.label for reference in dangling))
    first = dangling[0]
    known = [caption.label for caption in read.captions if caption.kind == first.kind]
    found = finding(
        "figure.undefined_reference",
        severity=Severity.MAJOR if read.captions else Severity.MINOR,
        texts="finding" if known else "none_of_kind",
        key=",".join(labels),
        evidence=spans_of(dangling),
        data={"numbers": labels},
        confidence=1 - len(dangling) / total,
        words={
            "labels": listed(labels),
            "kind": first.kind,
            "known": listed(known),
            "where": place(target.sections, first.start),
            "total": total,
            "first_label": labels[0],
        },
        example=f"{labels[0]} （図表の名称）",
    )
    return RuleOutcome(findings=(found,), examined=total)
