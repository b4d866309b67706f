"""Figures and tables: numbers in order, every one referred to, and no reference to one that is not there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.outline import place
from review.rules.findings import finding, listed, skipped
from review.rules.prose import is_polite
from review.rules.registry import rule
from review.rules.structure.captions import Numbered, read_captions
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_CONTINUED = ("続き", "つづき", "1/2", "2/2", "再掲")


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
        evidence=_spans(caption for caption, _ in broken),
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
    findings = (_unreferenced_finding(target, lost, len(read.captions)),) if lost else ()
    return RuleOutcome(findings=findings, examined=len(read.captions))


def _unreferenced_finding(target: RuleInput, lost: list[Numbered], total: int) -> FindingDraft:
    first = lost[0]
    labels = list(dict.fromkeys(caption.label for caption in lost))
    where = place(target.sections, first.start)
    title = target.text[first.start : first.end]
    show = f"…を{title}に示します。" if is_polite(target.text, target.blocks) else f"…を{title}に示す。"
    return finding(
        "figure.unreferenced",
        severity=Severity.MINOR,
        key=",".join(labels),
        evidence=_spans(lost),
        data={"numbers": labels},
        confidence=1 - len(lost) / total,
        words={
            "labels": listed(labels),
            "total": total,
            "count": len(labels),
            "where": where,
            "first_label": labels[0],
        },
        example=show,
    )


@rule("figure.undefined_reference", tags=("figure", "traceability"))
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report all references to figures and tables without a caption of that number, in one finding."""
    read = read_captions(target.text, target.sections, target.blocks)
    if not read.references:
        return skipped("no_figure_references")
    known = {caption.label for caption in read.captions}
    dangling = [reference for reference in read.references if reference.label not in known]
    findings = (_undefined_finding(target, dangling, read.captions, len(read.references)),) if dangling else ()
    return RuleOutcome(findings=findings, examined=len(read.references))


def _undefined_finding(
    target: RuleInput, dangling: list[Numbered], captions: tuple[Numbered, ...], total: int
) -> FindingDraft:
    labels = list(dict.fromkeys(reference.label for reference in dangling))
    first = dangling[0]
    where = place(target.sections, first.start)
    known = [caption.label for caption in captions if caption.kind == first.kind]
    return finding(
        "figure.undefined_reference",
        severity=Severity.MAJOR if captions else Severity.MINOR,
        texts="finding" if known else "none_of_kind",
        key=",".join(labels),
        evidence=_spans(dangling),
        data={"numbers": labels},
        confidence=1 - len(dangling) / total,
        words={
            "labels": listed(labels),
            "kind": first.kind,
            "known": listed(known),
            "where": where,
            "total": total,
            "first_label": labels[0],
        },
        example=f"{labels[0]} （図表の名称）",
    )


def _spans(found: Iterable[Numbered]) -> tuple[Span, ...]:
    return tuple(Span(start=start, end=end) for start, end in sorted({(each.start, each.end) for each in found}))
