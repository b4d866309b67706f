"""Rules whose subject a curator writes: elements and patterns that must or must not occur, and terms to use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hub.core.texts import Text
from knowledge.text.outline import apparatus, inside, place, unnumbered_title
from knowledge.types.documents import Section
from review.rules.base import finding, joined, quoted, rule, skipped
from review.rules.content.curated_patterns import compiled, occurrences
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

ELEMENT = "coverage.required_element"
REQUIRED = "pattern.required"
FORBIDDEN = "pattern.forbidden"
PREFERRED = "terminology.preferred_term"
_PLACES_SHOWN = 20
_KATAKANA = re.compile(r"[ァ-ヴー]")
_LATIN = re.compile(r"[A-Za-z0-9]")
# Brackets that name another paper, or a place in it: what stands there is not what the section is on.
_OTHER_PAPER = re.compile(r"[(（][^()（）\n]{0,60}(?:[^\s()（）]書|§|参照)[^()（）\n]{0,60}[)）]")


@rule(ELEMENT, tags=("coverage", "curated"), defaults={"elements": (), "sections": (), "severity": "major"})
def required_element(target: RuleInput) -> RuleOutcome:
    """Report each element that none of its patterns finds. A section that is not there is the topic rule's finding."""
    return _require(target, ELEMENT, target.params.get("elements", ()))


@rule(REQUIRED, tags=("pattern", "curated"), defaults={"patterns": (), "sections": (), "severity": "major"})
def required_pattern(target: RuleInput) -> RuleOutcome:
    """Report each pattern that occurs nowhere."""
    return _require(target, REQUIRED, target.params.get("patterns", ()))


@rule(FORBIDDEN, tags=("pattern", "curated"), defaults={"patterns": (), "sections": (), "severity": "minor"})
def forbidden_pattern(target: RuleInput) -> RuleOutcome:
    """Report each pattern that occurs, with all its places in one finding."""
    asked = [_asked(entry, target) for entry in target.params.get("patterns", ())]
    looked = [(entry, _stretches(target, entry["sections"])) for entry in asked]
    looked = [(entry, stretches) for entry, stretches in looked if stretches]
    if not looked:
        return skipped("no_such_section" if asked else "nothing_asked")
    findings = []
    for entry, stretches in looked:
        if places := _found(target, entry["patterns"], stretches):
            findings.append(_forbidden_finding(target, entry["name"], places))
    return RuleOutcome(findings=tuple(findings), examined=len(looked))


@rule(PREFERRED, tags=("terminology", "curated"), defaults={"terms": (), "severity": "minor"})
def preferred_term(target: RuleInput) -> RuleOutcome:
    """Report each avoided word with its places; inside the word to use, or a longer word, it does not count."""
    terms = [(str(entry["use"]), tuple(entry["avoid"])) for entry in target.params.get("terms", ())]
    if not terms:
        return skipped("nothing_asked")
    stretches = _stretches(target, ())
    findings = []
    for use, avoid in terms:
        for word in avoid:
            if places := _uses(target, word, use, stretches):
                findings.append(_term_finding(target, word, use, places))
    return RuleOutcome(findings=tuple(findings), examined=sum(len(avoid) for _, avoid in terms))


def _require(target: RuleInput, rule_id: str, entries: Sequence[Any]) -> RuleOutcome:
    asked = [_asked(entry, target) for entry in entries]
    if not asked:
        return skipped("nothing_asked")
    concerning = [entry for entry in asked if _concerns(target, entry)]
    if not concerning:
        return skipped("not_concerned")
    looked = [(entry, _stretches(target, entry["sections"])) for entry in concerning]
    looked = [(entry, stretches) for entry, stretches in looked if stretches]
    if not looked:
        return skipped("no_such_section")
    missing = [entry for entry, stretches in looked if not _found(target, entry["patterns"], stretches, limit=1)]
    share = 1 - len(missing) / len(looked)
    findings = tuple(_missing_finding(target, rule_id, entry, share, len(looked)) for entry in missing)
    return RuleOutcome(findings=findings, examined=len(looked))


def _asked(entry: str | Mapping[str, Any], target: RuleInput) -> dict[str, Any]:
    """An element or pattern with its defaults: a text alone is its own name and pattern."""
    known: Mapping[str, Any] = {"name": entry, "patterns": (entry,)} if isinstance(entry, str) else entry
    patterns = known.get("patterns") or (known.get("pattern") or re.escape(known["name"]),)
    return {
        "name": known.get("name") or patterns[0],
        "patterns": tuple(patterns),
        "sections": tuple(known.get("sections") or target.params.get("sections", ())),
        "when": tuple(known.get("when", ())),
    }


def _concerns(target: RuleInput, entry: Mapping[str, Any]) -> bool:
    """Tell whether a document is about what makes the entry necessary: one of ``when`` occurs in it."""
    return not entry["when"] or bool(_found(target, entry["when"], _stretches(target, ()), limit=1))


def _sections(target: RuleInput, titles: Sequence[str]) -> list[Section]:
    """The sections with such a title; of nested ones the outer."""
    patterns = [compiled(title) for title in titles]
    dull = apparatus(target.text, target.sections)
    found = [
        section
        for section in target.sections
        if not inside(dull, section.start) and any(each.occurs_in(_subject(section)) for each in patterns)
    ]
    return [s for s in found if not any(o.start <= s.start and s.end <= o.end and o is not s for o in found)]


def _subject(section: Section) -> str:
    return _OTHER_PAPER.sub("", unnumbered_title(section.title))


def _stretches(target: RuleInput, titles: Sequence[str]) -> list[tuple[int, int]]:
    """What is looked through: the named sections without their heading, or all but contents and history."""
    if titles:
        return [(section.body_start, section.end) for section in _sections(target, titles)]
    cuts = sorted(apparatus(target.text, target.sections))
    stretches, at = [], 0
    for start, end in cuts:
        if start > at:
            stretches.append((at, start))
        at = max(at, end)
    return [*stretches, (at, len(target.text))] if at < len(target.text) else stretches


def _found(
    target: RuleInput, patterns: Iterable[str], stretches: Iterable[tuple[int, int]], *, limit: int = _PLACES_SHOWN
) -> list[Span]:
    places: list[Span] = []
    for pattern in patterns:
        for start, end in stretches:
            for span in occurrences(pattern, target.text, start, end):
                places.append(span)
                if len(places) >= limit:
                    return places
    return sorted(places, key=lambda span: (span.start, span.end))


def _uses(target: RuleInput, word: str, use: str, stretches: Iterable[tuple[int, int]]) -> list[Span]:
    covered = [span for start, end in stretches for span in occurrences(re.escape(use), target.text, start, end)]
    return [
        span
        for span in _found(target, [re.escape(word)], stretches)
        if not any(each.start <= span.start and span.end <= each.end for each in covered)
        and not _is_part(target.text, span)
    ]


def _is_part(text: str, span: Span) -> bool:
    """Tell whether a katakana or Latin word goes on beyond the span: サーバ in サーバレス is another word."""
    before, after = text[max(span.start - 1, 0) : span.start], text[span.end : span.end + 1]
    return any(
        (kind.match(text[span.start]) and kind.match(before)) or (kind.match(text[span.end - 1]) and kind.match(after))
        for kind in (_KATAKANA, _LATIN)
    )


def _missing_finding(
    target: RuleInput, rule_id: str, entry: Mapping[str, Any], share: float, total: int
) -> FindingDraft:
    name = entry["name"]
    sections = _sections(target, entry["sections"]) if entry["sections"] else []
    titles = [section.title.strip() for section in (sections or target.sections)]
    return finding(
        rule_id,
        like=ELEMENT,
        severity=Severity(target.params.get("severity", "major")),
        key=str(name),
        evidence=tuple(heading_span(target.text, section) for section in sections),
        searched=tuple(titles),
        data={"element": name, "patterns": list(entry["patterns"]), "sections": titles if sections else []},
        confidence=share,
        words={
            "where": quoted(titles[:1]) if sections else Text(ja="この文書", en="the document"),
            "name": name,
            "total": total,
            "patterns": joined(entry["patterns"]),
        },
    )


def _forbidden_finding(target: RuleInput, name: str, places: Sequence[Span]) -> FindingDraft:
    where = place(target.sections, places[0].start)
    quote = " ".join(target.text[places[0].start : places[0].end].split())
    return finding(
        FORBIDDEN,
        severity=Severity(target.params.get("severity", "minor")),
        key=name,
        evidence=tuple(places),
        data={"name": name, "places": len(places)},
        words={"name": name, "count": len(places), "where": where, "quote": quote},
    )


def _term_finding(target: RuleInput, word: str, use: str, places: Sequence[Span]) -> FindingDraft:
    where = place(target.sections, places[0].start)
    return finding(
        PREFERRED,
        severity=Severity(target.params.get("severity", "minor")),
        key=f"{word}>{use}",
        evidence=tuple(places),
        data={"word": word, "use": use, "places": len(places)},
        words={"word": word, "count": len(places), "where": where, "use": use},
        example=use,
    )


def rules_of(criteria: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all rules of an item as {rule_id, params}: the named ones first, then one per kind of curated content.

    Beside a prompt the required elements are what a language model is told to look for, and stand for no rule.
    """
    named: list[Mapping[str, Any]] = list(criteria.get("rules") or ())
    patterns = list(criteria.get("patterns") or ())
    elements = [] if criteria.get("prompt") else list(criteria.get("required_elements") or ())
    curated: tuple[tuple[str, str, list[Any]], ...] = (
        (ELEMENT, "elements", elements),
        (REQUIRED, "patterns", [each for each in patterns if not _is_forbidden(each)]),
        (FORBIDDEN, "patterns", [each for each in patterns if _is_forbidden(each)]),
        (PREFERRED, "terms", list(criteria.get("terms") or ())),
    )
    return [*named, *({"rule_id": rule_id, "params": {name: given}} for rule_id, name, given in curated if given)]


def _is_forbidden(entry: str | Mapping[str, Any]) -> bool:
    return not isinstance(entry, str) and not entry.get("must_occur", True)
