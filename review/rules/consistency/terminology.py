"""表記ゆれ: one word spelled in several ways within a document."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from hub.core.texts import Text
from knowledge.text.outline import place
from review.rules.consistency.spellings import Kind, Occurrence, Spellings, variants
from review.rules.findings import counted, finding, shipped
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_KIND_NAMES = {
    Kind.LONG_VOWEL: Text(ja="長音の有無", en="long vowel mark"),
    Kind.KANA_KANJI: Text(ja="仮名と漢字", en="kana and kanji"),
    Kind.OKURIGANA: Text(ja="送り仮名", en="okurigana"),
    Kind.WIDTH: Text(ja="全角と半角", en="full and half width"),
    Kind.CASE: Text(ja="大文字と小文字", en="letter case"),
    Kind.HYPHEN: Text(ja="ハイフン・つづり", en="hyphenation"),
    Kind.KATAKANA: Text(ja="片仮名の書き方", en="katakana spelling"),
    Kind.SYNONYM: Text(ja="同義語", en="synonyms"),
    Kind.OTHER: Text(ja="用字", en="choice of characters"),
}
_PLACES_SHOWN = 20
_EXAMPLE_WIDTH = 20
_COMPOUND_TAIL = re.compile(r"[一-龯々]{2,6}|[ァ-ヴー]{2,12}")


@rule(
    "terminology.variant",
    tags=("terminology", "text"),
    defaults={"ignore": (), "synonyms": None, "kinds": tuple(kind.value for kind in Kind)},
)
def variant(target: RuleInput) -> RuleOutcome:
    """Report each word with more than one spelling; the most frequent form is proposed.

    Params: ``ignore`` (forms that may differ), ``synonyms`` (lists of names, in place of the shipped ones),
    ``kinds`` (which kinds of difference count).
    """
    ignored = set(target.params.get("ignore", ()))
    kinds = set(target.params.get("kinds", _KIND_NAMES))
    groups = variants(target.text, target.blocks, tuple(_synonyms(target)))
    judged = [group for group in groups if group.kind in kinds and not ignored & {form for form, _ in group.forms}]
    return RuleOutcome(findings=tuple(_finding(group, target) for group in judged), examined=max(1, len(groups)))


def _synonyms(target: RuleInput) -> Iterator[tuple[str, ...]]:
    given = target.params.get("synonyms")
    if given is not None:
        yield from (tuple(names) for names in given)
        return
    for entry in shipped("terminology")["synonyms"]:
        yield entry["preferred"], *entry["variants"]


def _finding(group: Spellings, target: RuleInput) -> FindingDraft:
    counts = {form: len(places) for form, places in group.forms}
    majority, majority_places = group.forms[0]
    minority = [each for _, places in group.forms[1:] for each in places]
    first = min(minority, key=lambda each: each.start)
    return finding(
        "terminology.variant",
        severity=Severity.MINOR,
        key="|".join(sorted(counts)),
        evidence=_evidence(minority, majority_places),
        data={"variants": counts | _compounds(group, target.text), "kind": group.kind.value, "proposed": majority},
        confidence=len(majority_places) / group.count,
        words={
            "name": _KIND_NAMES[group.kind],
            "listed": counted(counts),
            "count": group.count,
            "majority": majority,
            "where": place(target.sections, first.start),
            "places": len(minority),
        },
        example=_corrected(target.text, first, majority),
    )


def _compounds(group: Spellings, text: str) -> dict[str, int]:
    """Count the longer words that differ by okurigana alone: 受入テスト beside 受け入れテスト."""
    if group.kind is not Kind.OKURIGANA:
        return {}
    tails: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for form, places in group.forms:
        for each in places:
            found = _COMPOUND_TAIL.match(text, each.end)
            if found and text[each.start : each.end] == form:
                tails[found.group()][form] += 1
    shared = {tail: forms for tail, forms in tails.items() if len(forms) > 1}
    return {form + tail: count for tail, forms in sorted(shared.items()) for form, count in forms.items()}


def _evidence(minority: list[Occurrence], majority: tuple[Occurrence, ...]) -> tuple[Span, ...]:
    """Show the places to correct, and one of the majority form to compare with."""
    shown = sorted([*sorted(minority, key=lambda each: each.start)[:_PLACES_SHOWN], majority[0]], key=lambda o: o.start)
    return tuple(Span(start=each.start, end=each.end) for each in shown)


def _corrected(text: str, wrong: Occurrence, majority: str) -> str:
    """Return the surroundings of the first place to correct, with the majority form put in.

    An inflected word keeps its ending: only what precedes the forms' common tail is exchanged.
    """
    line_start = text.rfind("\n", 0, wrong.start) + 1
    line_end = text.find("\n", wrong.end)
    line_end = len(text) if line_end < 0 else line_end
    before = text[max(line_start, wrong.start - _EXAMPLE_WIDTH) : wrong.start]
    after = text[wrong.end : min(line_end, wrong.end + _EXAMPLE_WIDTH)]
    surface = text[wrong.start : wrong.end]
    if surface == wrong.form:
        return f"{before}{majority}{after}"
    tail = next((n for n in range(len(majority)) if wrong.form.endswith(majority[n:])), len(majority))
    stem_length = len(wrong.form) - (len(majority) - tail)
    return f"{before}{majority[:tail]}{surface[stem_length:]}{after}"
