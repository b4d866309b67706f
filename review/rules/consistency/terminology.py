"""Words: one spelled in several ways (表記ゆれ), and abbreviations that the document never spells out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache

from hub.core.texts import Text
from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import conventions as identifier_conventions
from knowledge.text.identifiers import read_families
from knowledge.text.morphology import tokenizer
from knowledge.text.outline import apparatus, inside, place, unnumbered_title
from knowledge.text.tables import read_tables
from review.rules.base import counted, finding, listed, quoted, rule, shipped, skipped
from review.rules.consistency.spelling_types import Kind, Occurrence, Spellings
from review.rules.consistency.spellings import variants
from review.rules.examples import corrected
from review.rules.prose import is_polite, read_prose
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, Span

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
_COMPOUND_TAIL = re.compile(r"[一-龯々]{2,6}|[ァ-ヴー]{2,12}")
# Letters of names such as SRV-01, WPF/XAML paths, MS-DOS and version strings are parts of something longer.
_ABBREVIATION = re.compile(
    r"(?<![A-Za-z0-9_\-.#@])(?<![^一-龯]/)[A-Z][A-Z0-9]{1,5}(?![A-Za-z0-9_]|-[A-Za-z0-9]|\.[A-Za-z0-9])"
)
_BRACKETED = re.compile(r"(?P<noun>[一-龯々ァ-ヴー]{2})[ \t]?[(（](?P<word>[A-Z][A-Z0-9]{1,5})[)）]")
_JAPANESE = re.compile(r"[ぁ-ヿ一-龯]")
_GLOSSARY = re.compile(r"用語|略語|略称|定義|glossary|abbreviation|terms", re.IGNORECASE)
# What stands for any number or name: XX件, YYYY年.
_HOLDS_A_PLACE = re.compile(r"X+|Y+|Z+|N+|MM|DD|HH|SS")
_COMPANY = re.compile(r"(?:株式会社|有限会社|合同会社|[(（]株[)）])[ \t]?([A-Z][A-Z0-9]{1,5})")
_KATAKANA = re.compile("[ァ-ヴ]")
_NAMING_HEAD = re.compile(r"論理名|物理名|項目名|カラム名|列名|名称")
_NUMBERED = re.compile(r"[A-Z]{1,2}[0-9]{1,4}")


@rule(
    "terminology.variant",
    tags=("terminology", "text"),
    defaults={"ignore": (), "synonyms": None, "kinds": tuple(kind.value for kind in Kind)},
)
def variant(target: RuleInput) -> RuleOutcome:
    """Report each word with more than one spelling; the form that official writing has is proposed, else the usual one.

    Where no form is more frequent than the others, the writer is asked to choose.

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
    official = next((form for form in counts if form in _official()), "")
    forms = sorted(group.forms, key=lambda each: each[0] != official) if official else group.forms
    majority, majority_places = forms[0]
    minority = [each for _, places in forms[1:] for each in places]
    is_even = len(majority_places) == max(len(places) for _, places in forms[1:])
    first = min(minority, key=lambda each: each.start)
    proposed = _rewritten(target.text[first.start : first.end], first.form, majority)
    return finding(
        "terminology.variant",
        severity=Severity.MINOR,
        texts="official" if official else "even" if is_even else "finding",
        key="|".join(sorted(counts)),
        evidence=_evidence(minority, majority_places),
        data={"variants": counts | _compounds(group, target.text), "kind": group.kind.value, "proposed": majority},
        confidence=len(majority_places) / group.count,
        words={
            "name": _KIND_NAMES[group.kind],
            "listed": counted(counts),
            "count": group.count,
            "majority": majority,
            "forms": quoted(counts),
            "where": place(target.sections, first.start),
            "places": len(minority),
        },
        example=corrected(target, first.start, first.end, proposed),
    )


@lru_cache(maxsize=1)
def _official() -> frozenset[str]:
    return frozenset(shipped("terminology")["official"]["forms"])


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


def _rewritten(surface: str, form: str, majority: str) -> str:
    """Return the majority form of a word as it stands in the text.

    An inflected word keeps its ending: only what precedes the forms' common tail is exchanged.
    """
    if surface == form:
        return majority
    tail = next((n for n in range(len(majority)) if form.endswith(majority[n:])), len(majority))
    return majority[:tail] + surface[len(form) - (len(majority) - tail) :]


@rule("terminology.undefined_abbreviation", tags=("terminology",), defaults={"known": ()}, reads_related=True)
def undefined_abbreviation(target: RuleInput) -> RuleOutcome:
    """Report all abbreviations that neither this nor a related document explains, in one finding.

    ``params["known"]`` adds known ones.
    """
    used = _used(target)
    if not used:
        return skipped("no_abbreviations")
    explained = _explained(target).union(*map(_explained, target.related))
    lost = {word: places for word, places in used.items() if word not in explained}
    return RuleOutcome(findings=(_abbreviation_finding(target, lost, len(used)),) if lost else (), examined=len(used))


@lru_cache(maxsize=1)
def known_abbreviations() -> frozenset[str]:
    """Return the abbreviations that need no explanation."""
    return frozenset(word for group in shipped("abbreviations").values() for word in group["words"])


def _used(target: RuleInput) -> dict[str, list[Span]]:
    """Return the abbreviations in running text with their places, in order of the first."""
    known = known_abbreviations() | set(target.params.get("known", ()))
    known |= set(identifier_conventions()["not_identifiers"]["prefixes"])
    families = read_families(target.text, target.sections, target.blocks)
    known |= {part for family in families for part in family.prefix.split("-")}
    masked = narrow(read_prose(target.text, target.blocks).masked)
    known |= set(_COMPANY.findall(masked))
    skipped = apparatus(target.text, target.sections)
    found: dict[str, list[Span]] = {}
    for match in _ABBREVIATION.finditer(masked):
        word = match.group()
        if (
            word in known
            or _NUMBERED.fullmatch(word)
            or _HOLDS_A_PLACE.fullmatch(word)
            or inside(skipped, match.start())
            or _is_word(word.rstrip("0123456789"))
        ):
            continue
        if _stands_in_japanese(masked, match):
            found.setdefault(word, []).append(Span(start=match.start(), end=match.end()))
    return found


@lru_cache(maxsize=1024)
def _is_word(letters: str) -> bool:
    """Tell whether the letters are an English word in capitals (CHECK, STEP), as the dictionary has it.

    It has words as katakana, or in small letters; abbreviations in capitals, or not at all.
    """
    found = tokenizer().tokenize(letters)
    if len(found) != 1 or found[0].is_oov():
        return False
    return bool(_KATAKANA.search(found[0].normalized_form())) or found[0].dictionary_form() != letters


def _stands_in_japanese(masked: str, match: re.Match[str]) -> bool:
    """A word of an English phrase or name (MIT License, IBM Cloud) is no abbreviation of the document's."""
    before, after = masked[max(0, match.start() - 2) : match.start()], masked[match.end() : match.end() + 2]
    beside = f"{before.strip(' /')[-1:]}{after.strip()[:1]}"
    return bool(_JAPANESE.search(beside)) and not re.search(r"[A-Za-z]", beside)


def _explained(target: RuleInput | RelatedDocument) -> set[str]:
    """Return the abbreviations that stand in a glossary, before or in brackets with a full name, or after とは.

    And those that a formula or a title defines (ABC分析（累計比率法）), and columns' names beside what they are called.
    """
    plain = narrow(target.text)
    found = {
        word
        for pattern in (
            r"([A-Z][A-Z0-9]{1,5})[ \t]*[(（][^()（）\n]{3,80}[)）]",
            r"[(（][^()（）\n]{0,40}?(?:以下[、,]?[「「]?|略称|略[:：]?)?[「『]?([A-Z][A-Z0-9]{1,5})[」』]?(?:と(?:いう|する|呼ぶ|略す)|。)?[^()（）\n]{0,6}[)）]",
            r"([A-Z][A-Z0-9]{1,5})[」』]?[ \t]*(?:とは|は、?[^。\n]{2,60}(?:の略|を指す|のこと|を意味))",
            r"^[ \t#0-9.]{0,20}([A-Z][A-Z0-9]{1,5})[一-龯々ァ-ヴー]{0,8}[ \t]*[(（][^()（）\n]{3,80}[)）][:：]?[ \t]*$",
            r"(?<![A-Za-z0-9_])([A-Z][A-Z0-9]{1,5})[ \t]*[=＝][ \t]*[^\s=＝]",
            r"^[ \t]*(?:[-*+|][ \t]*)*\**([A-Z][A-Z0-9]{1,5})\**[ \t]*(?:[:：]|[-–—][ \t])[ \t]*[^\s|]",
        )
        for word in re.findall(pattern, plain, re.MULTILINE)
    }
    found -= _qualifying(plain)
    for table in read_tables(target.text, target.blocks):
        if any(_GLOSSARY.search(cell.text) for cell in table.header.cells):
            found |= {narrow(cell.text) for row in table.rows for cell in row.cells[:2]}
        elif any(_NAMING_HEAD.search(cell.text) for cell in table.header.cells):
            found |= {
                narrow(cell.text).strip().upper() for row in table.rows for cell in row.cells if cell.text.strip()
            }
    for section in target.sections:
        if _GLOSSARY.search(unnumbered_title(section.title)):
            found |= set(_ABBREVIATION.findall(plain[section.body_start : section.end]))
    return found


def _qualifying(plain: str) -> set[str]:
    """Return the abbreviations that stand in brackets behind different nouns: 開発範囲（MVP）, 必須テーブル（MVP）.

    What explains a word stands behind one name of it.
    """
    behind: dict[str, set[str]] = defaultdict(set)
    for match in _BRACKETED.finditer(plain):
        behind[match["word"]].add(match["noun"])
    return {word for word, nouns in behind.items() if len(nouns) > 1}


def _abbreviation_finding(target: RuleInput, lost: dict[str, list[Span]], total: int) -> FindingDraft:
    counts = Counter({word: len(places) for word, places in lost.items()})
    first_word, first_places = next(iter(lost.items()))
    where = place(target.sections, first_places[0].start)
    spans = sorted((places[0] for places in lost.values()), key=lambda span: span.start)
    end = "といいます。" if is_polite(target.text, target.blocks) else "という。"
    return finding(
        "terminology.undefined_abbreviation",
        severity=Severity.MINOR,
        key="|".join(sorted(lost)),
        evidence=tuple(spans[:_PLACES_SHOWN]),
        searched=tuple(s.title for s in target.sections if _GLOSSARY.search(unnumbered_title(s.title))),
        data={"abbreviations": dict(counts.most_common())},
        confidence=1 - len(lost) / total,
        words={"count": len(lost), "lost": listed(lost), "where": where, "total": total, "first_word": first_word},
        example=f"（正式名称）（以下「{first_word}」{end[:-1]}）",
    )
