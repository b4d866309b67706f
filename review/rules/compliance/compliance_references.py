"""References to articles that the guideline in force does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.folding import normalise
from knowledge.text.numbering import heading_number
from knowledge.text.outline import place
from knowledge.types.requirements import Article
from review.rules.findings import finding, skipped
from review.rules.prose import read_prose
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

UNKNOWN = "compliance.unknown_article"
_SHOWN = 20
# 「…ガイドライン」第3.2条, …ガイドライン（第2版）の 3.2.1: a unit or a dotted number, so that a year is no article.
_AFTER_NAME = (
    r"[」』】\]]?+(?:\s*+[（(][^（）()\n]{0,40}[)）])?+\s*+(?:の|、|,|:|：|／|/)?+\s*+"
    r"(?P<number>第\s*[0-9０-９〇一二三四五六七八九十百]+(?:[.．][0-9０-９]+)*\s*[編部章節款項条]|[0-9０-９]+(?:[.．][0-9０-９]+)+)"
    r"(?![0-9０-９.．]|\s*版)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reference:
    guideline: str
    name: str
    number: str
    span: Span


@rule(UNKNOWN, tags=("compliance", "traceability"))
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
    return RuleOutcome(findings=tuple(findings), examined=len(references))


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
