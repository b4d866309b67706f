"""Abbreviations that the document never spells out."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import conventions as identifier_conventions
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, bare_title, inside, place
from knowledge.text.tables import read_tables
from review.rules.findings import finding, listed, shipped, skipped
from review.rules.prose import is_polite, read_prose
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

# Letters of names such as SRV-01, WPF/XAML paths, MS-DOS and version strings are parts of something longer.
_ABBREVIATION = re.compile(r"(?<![A-Za-z0-9_\-./#@])[A-Z][A-Z0-9]{1,5}(?![A-Za-z0-9_]|-[A-Za-z0-9]|\.[A-Za-z0-9])")
_JAPANESE = re.compile(r"[ぁ-ヿ一-龯]")
_GLOSSARY = re.compile(r"用語|略語|略称|定義|glossary|abbreviation|terms", re.IGNORECASE)
_NUMBERED = re.compile(r"[A-Z]{1,2}[0-9]{1,4}")
_PLACES_SHOWN = 20


@rule("terminology.undefined_abbreviation", tags=("terminology",), defaults={"known": ()})
def undefined_abbreviation(target: RuleInput) -> RuleOutcome:
    """Report all abbreviations that are explained nowhere, in one finding. ``params["known"]`` adds known ones."""
    used = _used(target)
    if not used:
        return skipped("no_abbreviations")
    explained = _explained(target)
    lost = {word: places for word, places in used.items() if word not in explained}
    return RuleOutcome(findings=(_finding(target, lost, len(used)),) if lost else (), examined=len(used))


@lru_cache(maxsize=1)
def known_abbreviations() -> frozenset[str]:
    """Return the abbreviations that need no explanation."""
    return frozenset(shipped("abbreviations")["known"]["words"])


def _used(target: RuleInput) -> dict[str, list[Span]]:
    """Return the abbreviations in running text with their places, in order of the first."""
    known = known_abbreviations() | set(target.params.get("known", ()))
    known |= set(identifier_conventions()["not_identifiers"]["prefixes"])
    known |= {part for family in _families(target) for part in family.split("-")}
    masked = narrow(read_prose(target.text, target.blocks).masked)
    skipped = apparatus(target.text, target.sections)
    found: dict[str, list[Span]] = {}
    for match in _ABBREVIATION.finditer(masked):
        word = match.group()
        if word in known or _NUMBERED.fullmatch(word) or inside(skipped, match.start()):
            continue
        if _stands_in_japanese(masked, match):
            found.setdefault(word, []).append(Span(start=match.start(), end=match.end()))
    return found


def _families(target: RuleInput) -> list[str]:
    return [family.prefix for family in read_families(target.text, target.sections, target.blocks)]


def _stands_in_japanese(masked: str, match: re.Match[str]) -> bool:
    """A word of an English phrase or name (MIT License, IBM Cloud) is no abbreviation of the document's."""
    before, after = masked[max(0, match.start() - 2) : match.start()], masked[match.end() : match.end() + 2]
    beside = f"{before.strip()[-1:]}{after.strip()[:1]}"
    return bool(_JAPANESE.search(beside)) and not re.search(r"[A-Za-z]", beside)


def _explained(target: RuleInput) -> set[str]:
    """Return the abbreviations that stand in a glossary, before or in brackets with a full name, or after とは."""
    plain = narrow(target.text)
    found = {
        word
        for pattern in (
            r"([A-Z][A-Z0-9]{1,5})[ \t]*[(（][^()（）\n]{3,80}[)）]",
            r"[(（][^()（）\n]{0,40}?(?:以下[、,]?[「「]?|略称|略[:：]?)?[「『]?([A-Z][A-Z0-9]{1,5})[」』]?(?:と(?:いう|する|呼ぶ|略す)|。)?[^()（）\n]{0,6}[)）]",
            r"([A-Z][A-Z0-9]{1,5})[」』]?[ \t]*(?:とは|は、?[^。\n]{2,60}(?:の略|を指す|のこと|を意味))",
            r"^[ \t]*(?:[-*+|][ \t]*)*\**([A-Z][A-Z0-9]{1,5})\**[ \t]*(?:[:：]|[-–—][ \t])[ \t]*[^\s|]",
        )
        for word in re.findall(pattern, plain, re.MULTILINE)
    }
    for table in read_tables(target.text, target.blocks):
        if any(_GLOSSARY.search(cell.text) for cell in table.header.cells):
            found |= {narrow(cell.text) for row in table.rows for cell in row.cells[:2]}
    for section in target.sections:
        if _GLOSSARY.search(bare_title(section.title)):
            found |= set(_ABBREVIATION.findall(plain[section.body_start : section.end]))
    return found


def _finding(target: RuleInput, lost: dict[str, list[Span]], total: int) -> FindingDraft:
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
        searched=tuple(s.title for s in target.sections if _GLOSSARY.search(bare_title(s.title))),
        data={"abbreviations": dict(counts.most_common())},
        confidence=1 - len(lost) / total,
        words={"count": len(lost), "lost": listed(lost), "where": where, "total": total, "first_word": first_word},
        example=f"（正式名称）（以下「{first_word}」{end[:-1]}）",
    )
