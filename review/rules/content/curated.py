"""Rules whose subject a curator writes: elements and patterns that must or must not occur, and terms to use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hub.core.texts import Text
from knowledge.text.outline import apparatus, bare_title, inside, place
from knowledge.types.documents import Section
from review.rules.content.curated_patterns import compiled, occurrences
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

ELEMENT = "coverage.required_element"
REQUIRED = "pattern.required"
FORBIDDEN = "pattern.forbidden"
PREFERRED = "terminology.preferred_term"
NOTHING_ASKED = Text(ja="調べるものが指定されていません。", en="It names nothing to look for.")
NO_SECTION = Text(ja="対象の節がこの文書にありません。", en="The document has no such section.")
NOT_CONCERNED = Text(
    ja="この文書には、求める記載の対象となる事柄がありません。",
    en="Nothing in the document makes what it asks for necessary.",
)
_PLACES_SHOWN = 20
_KATAKANA = re.compile(r"[ァ-ヴー]")
_LATIN = re.compile(r"[A-Za-z0-9]")


@rule(
    id=ELEMENT,
    title=Text(ja="必須要素の欠落", en="Required element missing"),
    looks_at=Text(
        ja="登録した必須要素（名称と、それを表すパターン）が、対象の節（指定がなければ文書全体）に書かれているか",
        en="whether each element of the check item (a name with patterns) is in the sections named, or the document",
    ),
    tags=("coverage", "curated"),
    defaults={"elements": (), "sections": (), "severity": "major"},
)
def required_element(target: RuleInput) -> RuleOutcome:
    """Report each element that none of its patterns finds. A section that is not there is the topic rule's finding."""
    return _require(target, ELEMENT, target.params.get("elements", ()))


@rule(
    id=REQUIRED,
    title=Text(ja="必要な記述の欠落", en="Required wording missing"),
    looks_at=Text(
        ja="チェック項目に登録した正規表現に合う記述が、対象の節（指定がなければ文書全体）に一つはあるか",
        en="whether each pattern of the check item occurs in the sections named, or anywhere in the document",
    ),
    tags=("pattern", "curated"),
    defaults={"patterns": (), "sections": (), "severity": "major"},
)
def required_pattern(target: RuleInput) -> RuleOutcome:
    """Report each pattern that occurs nowhere."""
    return _require(target, REQUIRED, target.params.get("patterns", ()))


@rule(
    id=FORBIDDEN,
    title=Text(ja="使用できない記述", en="Forbidden wording"),
    looks_at=Text(
        ja="チェック項目に登録した正規表現に合う記述が、対象の節（指定がなければ文書全体）にないか（目次と変更履歴は除く）",
        en="whether a pattern of the check item occurs in the sections named, or anywhere but contents and history",
    ),
    tags=("pattern", "curated"),
    defaults={"patterns": (), "sections": (), "severity": "minor"},
)
def forbidden_pattern(target: RuleInput) -> RuleOutcome:
    """Report each pattern that occurs, with all its places in one finding."""
    asked = [_asked(entry, target) for entry in target.params.get("patterns", ())]
    looked = [(entry, _stretches(target, entry["sections"])) for entry in asked]
    looked = [(entry, stretches) for entry, stretches in looked if stretches]
    if not looked:
        return RuleOutcome(skip_reason=NO_SECTION if asked else NOTHING_ASKED)
    findings = []
    for entry, stretches in looked:
        if places := _found(target, entry["patterns"], stretches):
            findings.append(_forbidden_finding(target, entry["name"], places))
    return RuleOutcome(findings=tuple(findings), examined=len(looked))


@rule(
    id=PREFERRED,
    title=Text(ja="決められた用語の不使用", en="Term other than the agreed one"),
    looks_at=Text(
        ja="チェック項目に登録した用語の組（避ける語と使う語）のうち、避ける語が使われていないか",
        en="whether words that the check item's term pairs avoid are used",
    ),
    tags=("terminology", "curated"),
    defaults={"terms": (), "severity": "minor"},
)
def preferred_term(target: RuleInput) -> RuleOutcome:
    """Report each avoided word with its places; inside the word to use, or a longer word, it does not count."""
    terms = [(str(entry["use"]), tuple(entry["avoid"])) for entry in target.params.get("terms", ())]
    if not terms:
        return RuleOutcome(skip_reason=NOTHING_ASKED)
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
        return RuleOutcome(skip_reason=NOTHING_ASKED)
    concerning = [entry for entry in asked if _concerns(target, entry)]
    if not concerning:
        return RuleOutcome(skip_reason=NOT_CONCERNED)
    looked = [(entry, _stretches(target, entry["sections"])) for entry in concerning]
    looked = [(entry, stretches) for entry, stretches in looked if stretches]
    if not looked:
        return RuleOutcome(skip_reason=NO_SECTION)
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
        if not inside(dull, section.start) and any(each.occurs_in(bare_title(section.title)) for each in patterns)
    ]
    return [s for s in found if not any(o.start <= s.start and s.end <= o.end and o is not s for o in found)]


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
    where = f"「{titles[0]}」" if sections else "この文書"
    where_en = f"“{titles[0]}”" if sections else "the document"
    return FindingDraft(
        rule_id=rule_id,
        severity=Severity(target.params.get("severity", "major")),
        message=Text(ja=f"{where}に「{name}」の記載がありません。", en=f"{where_en} does not state “{name}”."),
        key=str(name),
        evidence=tuple(heading_span(target.text, section) for section in sections),
        searched=tuple(titles),
        data={"element": name, "patterns": list(entry["patterns"]), "sections": titles if sections else []},
        confidence=round(share, 3),
        confidence_basis=Text(
            ja=f"この項目が求める {total} 件のうち、見つかった割合（高いほど残りは書き漏らしらしい）",
            en=f"share of the {total} things this item asks for that were found (high: the rest was forgotten)",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{where}に「{name}」を書くか、不要ならその旨と理由を書きます。",
                en=f"State “{name}” in {where_en}, or say that it does not apply, and why.",
            ),
            rationale=Text(
                ja=f"チェック項目が求める記載です。探した語: {'、'.join(entry['patterns'])}",
                en=f"The check item asks for it. Looked for: {', '.join(entry['patterns'])}",
            ),
        ),
    )


def _forbidden_finding(target: RuleInput, name: str, places: Sequence[Span]) -> FindingDraft:
    where = place(target.sections, places[0].start)
    quote = " ".join(target.text[places[0].start : places[0].end].split())
    return FindingDraft(
        rule_id=FORBIDDEN,
        severity=Severity(target.params.get("severity", "minor")),
        message=Text(
            ja=f"使用できない記述「{name}」が {len(places)} か所あります（最初は「{where}」の「{quote}」）。",
            en=f"Forbidden wording “{name}” occurs {len(places)} time(s), first “{quote}” in “{where}”.",
        ),
        key=name,
        evidence=tuple(places),
        data={"name": name, "places": len(places)},
        suggestion=SuggestionDraft(
            content=Text(ja=f"「{where}」の「{quote}」などを改めます。", en=f"Change “{quote}” in “{where}”."),
            rationale=Text(
                ja="チェック項目が使用を認めていない記述です。", en="The check item does not allow this wording."
            ),
        ),
    )


def _term_finding(target: RuleInput, word: str, use: str, places: Sequence[Span]) -> FindingDraft:
    where = place(target.sections, places[0].start)
    return FindingDraft(
        rule_id=PREFERRED,
        severity=Severity(target.params.get("severity", "minor")),
        message=Text(
            ja=f"「{word}」が {len(places)} か所で使われています（最初は「{where}」）。「{use}」を使います。",
            en=f"“{word}” is used {len(places)} time(s), first in “{where}”; the agreed term is “{use}”.",
        ),
        key=f"{word}>{use}",
        evidence=tuple(places),
        data={"word": word, "use": use, "places": len(places)},
        suggestion=SuggestionDraft(
            content=Text(ja=f"「{word}」を「{use}」に改めます。", en=f"Replace “{word}” by “{use}”."),
            rationale=Text(ja="用語の組に定められています。", en="The term pairs of the check item say so."),
            example=use,
        ),
    )
