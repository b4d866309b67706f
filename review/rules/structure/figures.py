"""Figures and tables: numbers in order, every one referred to, and no reference to one that is not there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.outline import place
from review.rules.prose import is_polite
from review.rules.registry import rule
from review.rules.structure.captions import Numbered, read_captions
from review.rules.traceability.identifier_places import listed
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

NO_CAPTIONS = Text(ja="番号付きの図表がありません。", en="The document has no numbered figures or tables.")
_CONTINUED = ("続き", "つづき", "1/2", "2/2", "再掲")


@rule(
    id="figure.numbering",
    title=Text(ja="図表番号", en="Figure and table numbers"),
    looks_at=Text(
        ja="図・表の見出し（キャプション）の番号の重複・飛び・順序。章ごとの番号（図3-1）は章ごとに見る",
        en="numbers of captions that are used twice, skip or go back; 図3-1 counts within its chapter",
    ),
    tags=("figure", "structure"),
)
def numbering(target: RuleInput) -> RuleOutcome:
    """Report, per kind (図, 表), captions whose number is used twice, leaves a gap, or goes back."""
    captions = read_captions(target.text, target.sections, target.blocks).captions
    if not captions:
        return RuleOutcome(skip_reason=NO_CAPTIONS)
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
    return FindingDraft(
        rule_id="figure.numbering",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{first.kind}番号が順番どおりではありません: {'、'.join(what.ja for _, what in broken)}。",
            en=f"Caption numbers ({first.kind}) are out of order: {', '.join(what.en for _, what in broken)}.",
        ),
        key=",".join(labels),
        evidence=_spans(caption for caption, _ in broken),
        data={"numbers": labels, "kind": first.kind},
        confidence=round(1 - len(broken) / len(captions), 3),
        confidence_basis=Text(
            ja=f"{first.kind} {len(captions)} 件のうち番号が続いている割合",
            en=f"share of the {len(captions)} captions whose number continues the series",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の {first.label} から番号を振り直し、本文の参照も直します。",
                en=f"Renumber from {first.label} in “{where}” and correct the references.",
            ),
            rationale=Text(
                ja="番号が一意で連続していないと、参照がどの図表を指すか決まらず、抜けにも気付けません。",
                en="Unless numbers are unique and continuous, a reference "
                "is ambiguous and a lost figure goes unnoticed.",
            ),
        ),
    )


@rule(
    id="figure.unreferenced",
    title=Text(ja="本文から参照されない図表", en="Figure or table that the text never refers to"),
    looks_at=Text(
        ja="番号付きの図・表のうち、本文が番号で参照していないもの",
        en="numbered figures and tables whose number the text never names",
    ),
    tags=("figure",),
)
def unreferenced(target: RuleInput) -> RuleOutcome:
    """Report all captioned figures and tables that no text refers to by number, in one finding."""
    read = read_captions(target.text, target.sections, target.blocks)
    if not read.captions:
        return RuleOutcome(skip_reason=NO_CAPTIONS)
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
    return FindingDraft(
        rule_id="figure.unreferenced",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{listed(labels)} が本文のどこからも番号で参照されていません（図表 {total} 件中 {len(labels)} 件）。",
            en=f"{listed(labels)}: never referred to by number ({len(labels)} of {total} figures and tables).",
        ),
        key=",".join(labels),
        evidence=_spans(lost),
        data={"numbers": labels},
        confidence=round(1 - len(lost) / total, 3),
        confidence_basis=Text(
            ja=f"番号付きの図表 {total} 件のうち本文から参照されている割合（高いほど参照の書き漏らしらしい）",
            en=f"share of the {total} numbered figures and tables that the text refers to",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の本文に、{labels[0]} が何を示すかを番号を挙げて書きます。",
                en=f"Say in the text of “{where}” what {labels[0]} shows, naming its number.",
            ),
            rationale=Text(
                ja="本文から参照されない図表は、何のために置かれたかが読み手に伝わりません。",
                en="A reader cannot tell what a figure is for that the text never mentions.",
            ),
            example=show,
        ),
    )


@rule(
    id="figure.undefined_reference",
    title=Text(ja="存在しない図表の参照", en="Reference to a figure or table that is not there"),
    looks_at=Text(
        ja="本文が参照する図・表の番号のうち、キャプションがないもの（他の文書の図表への参照は除く）",
        en="figure and table numbers the text refers to without such a caption (not those of other documents)",
    ),
    tags=("figure", "traceability"),
)
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report all references to figures and tables without a caption of that number, in one finding."""
    read = read_captions(target.text, target.sections, target.blocks)
    if not read.references:
        return RuleOutcome(
            skip_reason=Text(ja="図表番号の参照がありません。", en="Nothing refers to a figure or table by number.")
        )
    known = {caption.label for caption in read.captions}
    dangling = [reference for reference in read.references if reference.label not in known]
    findings = (_undefined_finding(target, dangling, read.captions, len(read.references)),) if dangling else ()
    return RuleOutcome(findings=findings, examined=len(read.references))


def _undefined_finding(
    target: RuleInput, dangling: list[Numbered], captions: tuple[Numbered, ...], total: int
) -> FindingDraft:
    counts = Counter(reference.label for reference in dangling)
    labels = list(counts)
    first = dangling[0]
    where = place(target.sections, first.start)
    known = [caption.label for caption in captions if caption.kind == first.kind]
    known_ja = (
        f"この文書の{first.kind}は {listed(known)} です" if known else f"この文書に番号付きの{first.kind}はありません"
    )
    known_en = f"this document has {listed(known)}" if known else "this document has none with a number"
    return FindingDraft(
        rule_id="figure.undefined_reference",
        severity=Severity.MAJOR if captions else Severity.MINOR,
        message=Text(
            ja=f"{listed(labels)} を参照していますが、その図表がありません（{known_ja}。最初の参照:「{where}」）。",
            en=f"{listed(labels)} referred to, but not there ({known_en}; first in “{where}”).",
        ),
        key=",".join(labels),
        evidence=_spans(dangling),
        data={"numbers": labels},
        confidence=round(1 - len(dangling) / total, 3),
        confidence_basis=Text(
            ja=f"図表番号の参照 {total} か所のうち、図表がある割合",
            en=f"share of the {total} references whose figure or table is there",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の {labels[0]} を正しい番号に直すか、{labels[0]} の図表とキャプションを加えます。",
                en=f"Correct {labels[0]} in “{where}”, or add the figure or table with its caption.",
            ),
            rationale=Text(
                ja="参照先がないと、説明の根拠となる図表を読み手が確かめられません。",
                en="A reader cannot look up what the text rests on.",
            ),
            example=f"{labels[0]} （図表の名称）",
        ),
    )


def _spans(found: Iterable[Numbered]) -> tuple[Span, ...]:
    return tuple(Span(start=start, end=end) for start, end in sorted({(each.start, each.end) for each in found}))
