"""Articles of guidelines: left out, without a required element, or referred to and not there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.folding import normalise
from knowledge.text.numbering import heading_number
from knowledge.text.outline import contents_ids, place
from knowledge.types.requirements import Article
from review.rules.base import finding, joined, rule, skipped
from review.rules.compliance.reading import Reading, Treatment, read_articles
from review.rules.prose import read_prose
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

NOT_ADDRESSED = "compliance.article_not_addressed"
ELEMENT_MISSING = "compliance.required_element_missing"
UNKNOWN = "compliance.unknown_article"
_SHOWN = 20
# 「…ガイドライン」第3.2条, …ガイドライン（第2版）の 3.2.1: a unit or a dotted number, so that a year is no article.
_AFTER_NAME = (
    r"[」』】\]]?+(?:\s*+[（(][^（）()\n]{0,40}[)）])?+\s*+(?:の|、|,|:|：|／|/)?+\s*+"
    r"(?P<number>第\s*[0-9０-９〇一二三四五六七八九十百]+(?:[.．][0-9０-９]+)*\s*[編部章節款項条]|[0-9０-９]+(?:[.．][0-9０-９]+)+)"
    r"(?![0-9０-９.．]|\s*版)"
)


@rule(NOT_ADDRESSED, tags=("compliance",), defaults={"articles": (), "guidelines": ()}, reads_articles=True)
def article_not_addressed(target: RuleInput) -> RuleOutcome:
    """Report each obliging article that nothing treats. ``params["articles"]``, ``["guidelines"]`` narrow by code."""
    readings = _wanted(target)
    if not readings:
        return skipped("no_articles")
    absent = [reading for reading in readings if reading.treatment is not Treatment.ADDRESSED]
    addressed = 1 - len(absent) / len(readings)
    findings = tuple(_absent_finding(target, reading, addressed, len(readings)) for reading in absent)
    return RuleOutcome(findings=findings, examined=len(readings), links=_codes(readings))


@rule(ELEMENT_MISSING, tags=("compliance",), defaults={"articles": (), "guidelines": ()}, reads_articles=True)
def required_element_missing(target: RuleInput) -> RuleOutcome:
    """Report, per treated article, the elements that are missing, with the places of those that were found."""
    readings = _wanted(target)
    if not readings:
        return skipped("no_articles")
    treated = [each for each in readings if each.treatment is Treatment.ADDRESSED and each.article.elements]
    if not treated:
        return skipped("no_article_addressed")
    findings = tuple(_element_finding(reading) for reading in treated if reading.missing)
    examined = sum(len(reading.article.elements) for reading in treated)
    return RuleOutcome(findings=findings, examined=examined, links=_codes(treated))


def _codes(readings: Iterable[Reading]) -> tuple[str, ...]:
    return tuple(reading.article.code for reading in readings)


def _wanted(target: RuleInput) -> tuple[Reading, ...]:
    articles, guidelines = set(target.params.get("articles", ())), set(target.params.get("guidelines", ()))
    return tuple(
        reading
        for reading in read_articles(target)
        if (not articles or reading.article.code in articles)
        and (not guidelines or reading.article.guideline in guidelines)
    )


def _absent_finding(target: RuleInput, reading: Reading, addressed: float, total: int) -> FindingDraft:
    contents = contents_ids(target.text, target.sections)
    words, example = _words(reading, [element.name for element in reading.article.elements])
    return finding(
        NOT_ADDRESSED,
        severity=Severity(reading.article.severity),
        key=reading.article.code,
        texts=reading.treatment.value,
        words={**words, "total": total},
        evidence=reading.places,
        searched=tuple(section.title for section in target.sections if section.id not in contents),
        data={**_facts(reading), "status": reading.treatment.value},
        confidence=addressed,
        example=example,
    )


def _element_finding(reading: Reading) -> FindingDraft:
    article = reading.article
    missing = [element.name for element in reading.missing]
    where = reading.sections[0] if reading.sections else ""
    words, example = _words(reading, missing)
    words |= {
        "missing": Text(ja="」「".join(missing), en=", ".join(missing)),
        "where": Text(ja=f"「{where}」" if where else "該当の記述", en=f" in “{where}”" if where else ""),
        "total": len(article.elements),
    }
    return finding(
        ELEMENT_MISSING,
        severity=Severity(article.severity),
        key=f"{article.code}:{','.join(sorted(missing))}",
        words=words,
        evidence=(*reading.places[:1], *(found.span for found in reading.found)),
        searched=reading.sections,
        data=_facts(reading),
        confidence=len(reading.found) / len(article.elements),
        example=example,
    )


def _facts(reading: Reading) -> dict[str, object]:
    article = reading.article
    return {
        "article": article.code,
        "article_title": article.title,
        "guideline": article.guideline,
        "edition": article.edition,
        "found_elements": [
            {"element": found.element.name, "start_offset": found.span.start, "end_offset": found.span.end}
            for found in reading.found
        ],
        "missing_elements": [element.name for element in reading.missing],
    }


def _words(reading: Reading, names: list[str]) -> tuple[dict[str, object], str | None]:
    """Name the article, the place and what to add there; the example fits plain and polite style alike."""
    article = reading.article
    place = reading.sections[0] if reading.sections else ""
    lines = [] if place else [f"### {article.title}", ""]
    example = "\n".join([*lines, *(f"- {name}: （内容を記載）" for name in names)])
    words = {
        "guideline": article.guideline_name,
        "code": article.code,
        "title": article.title,
        "why": article.text or article.title,
        "place": Text(ja=f"「{place}」に", en=f"in “{place}”")
        if place
        else Text(ja=f"「{article.title}」の節を設け、", en=f"in a section “{article.title}”"),
        "what": joined(names) if names else Text(ja="条項が求める内容", en="what the article asks for"),
    }
    return words, example if names else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reference:
    guideline: str
    name: str
    number: str
    span: Span


@rule(UNKNOWN, tags=("compliance", "traceability"), reads_articles=True)
def unknown_article(target: RuleInput) -> RuleOutcome:
    """Report, per article, the references to numbers that a known guideline does not have."""
    guidelines: dict[str, list[Article]] = {}
    for article in target.articles:
        guidelines.setdefault(article.guideline, []).append(article)
    masked = read_prose(target.text, target.blocks).masked
    references = [found for articles in guidelines.values() for found in _references(masked, articles)]
    if not references:
        return skipped("no_article_references")
    findings: list[FindingDraft] = []
    for code, articles in guidelines.items():
        known = {article.number for article in articles}
        unknown: dict[str, list[_Reference]] = {}
        for reference in references:
            if reference.guideline == code and reference.number not in known:
                unknown.setdefault(reference.number, []).append(reference)
        findings += [_finding(target, articles, number, found) for number, found in sorted(unknown.items())]
    named = {(reference.guideline, reference.number) for reference in references}
    links = tuple(each.code for each in target.articles if (each.guideline, each.number) in named)
    return RuleOutcome(findings=tuple(findings), examined=len(references), links=links)


def _references(masked: str, articles: list[Article]) -> Iterator[_Reference]:
    first = articles[0]
    by_code = re.compile(
        rf"(?<![0-9A-Za-z\-]){re.escape(first.prefix)}(?P<number>[0-9]+(?:\.[0-9]+)*)(?![0-9A-Za-z\-])"
    )
    by_name = re.compile(re.escape(first.guideline_name) + _AFTER_NAME)
    for pattern in (by_code, by_name):
        for match in pattern.finditer(masked):
            if (number := _number(match["number"])) is not None:
                span = Span(start=match.start(), end=match.end())
                yield _Reference(guideline=first.guideline, name=first.guideline_name, number=number, span=span)


def _number(written: str) -> str | None:
    """The number as articles have it; None for one with leading zeros, which is another kind of identifier."""
    plain = normalise(written).replace(" ", "")
    dotted = re.fullmatch(r"第?([0-9]+(?:\.[0-9]+)*)[編部章節款項条]?", plain)
    number = dotted[1] if dotted else heading_number(plain)
    if number is None or any(part != "0" and part.startswith("0") for part in number.split(".")):
        return None
    return number


def _finding(target: RuleInput, articles: list[Article], number: str, found: list[_Reference]) -> FindingDraft:
    first = articles[0]
    code = f"{first.prefix}{number}"
    spans = tuple(reference.span for reference in sorted(found, key=lambda each: each.span.start))
    where = place(target.sections, spans[0].start)
    near = _nearest(number, articles)
    listed = Text(
        ja="、".join(f"{article.code}（{article.title}）" for article in near),
        en=", ".join(f"{article.code} ({article.title})" for article in near),
    )
    return finding(
        UNKNOWN,
        severity=Severity.MAJOR,
        key=code,
        evidence=spans[:_SHOWN],
        data={"guideline": first.guideline, "edition": first.edition, "article": code, "places": len(spans)},
        words={
            "guideline": first.guideline_name,
            "edition": first.edition,
            "code": code,
            "where": where,
            "listed": listed,
            "count": len(articles),
        },
    )


def _nearest(number: str, articles: list[Article]) -> list[Article]:
    """The articles beside the number: those of its chapter first, three at most."""
    parts = number.split(".")

    def distance(article: Article) -> tuple[int, int]:
        other = article.number.split(".")
        shared = sum(1 for one, two in zip(parts, other, strict=False) if one == two)
        return (-shared, abs(len(other) - len(parts)))

    return sorted(articles, key=distance)[:3]
