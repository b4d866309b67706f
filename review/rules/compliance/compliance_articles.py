"""Articles of guidelines that a document leaves out, and required elements missing where it treats them."""

from __future__ import annotations

from hub.core.texts import Text
from knowledge.text.outline import contents_ids
from review.rules.compliance.compliance_reading import Reading, Treatment, obliging, read_articles
from review.rules.findings import finding, joined, skipped
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity

NOT_ADDRESSED = "compliance.article_not_addressed"
ELEMENT_MISSING = "compliance.required_element_missing"
_STATE = {
    Treatment.MISSING: Text(ja="扱う見出しも記述もありません。", en="No heading and no passage treats it."),
    Treatment.MENTIONED: Text(
        ja="語として現れるだけで、扱う節がありません。", en="It is named only; no section treats it."
    ),
    Treatment.EMPTY: Text(ja="見出しはありますが、内容がありません。", en="There is a heading with nothing under it."),
}


@rule(NOT_ADDRESSED, tags=("compliance",), defaults={"articles": (), "guidelines": ()})
def article_not_addressed(target: RuleInput) -> RuleOutcome:
    """Report each obliging article that nothing treats. ``params["articles"]``, ``["guidelines"]`` narrow by code."""
    readings = _wanted(target)
    if not readings:
        return skipped("no_articles")
    absent = [reading for reading in readings if reading.treatment is not Treatment.ADDRESSED]
    addressed = 1 - len(absent) / len(readings)
    findings = tuple(_absent_finding(target, reading, addressed, len(readings)) for reading in absent)
    return RuleOutcome(findings=findings, examined=len(readings))


@rule(ELEMENT_MISSING, tags=("compliance",), defaults={"articles": (), "guidelines": ()})
def required_element_missing(target: RuleInput) -> RuleOutcome:
    """Report, per treated article, the elements that are missing, with the places of those that were found."""
    readings = _wanted(target)
    if not readings:
        return skipped("no_articles")
    treated = [each for each in readings if each.treatment is Treatment.ADDRESSED and each.article.elements]
    if not treated:
        return skipped("no_article_addressed")
    findings = tuple(_element_finding(reading) for reading in treated if reading.missing)
    return RuleOutcome(findings=findings, examined=sum(len(reading.article.elements) for reading in treated))


def _wanted(target: RuleInput) -> tuple[Reading, ...]:
    if not obliging(target):
        return ()
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
        words={**words, "state": _STATE[reading.treatment], "total": total},
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
