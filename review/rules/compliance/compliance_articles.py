"""Articles of guidelines that a document leaves out, and required elements missing where it treats them."""

from __future__ import annotations

from hub.core.texts import Text
from knowledge.text.outline import contents_ids
from knowledge.types.requirements import Article
from review.rules.compliance.compliance_reading import Reading, Treatment, obliging, read_articles
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft

NOT_ADDRESSED = "compliance.article_not_addressed"
ELEMENT_MISSING = "compliance.required_element_missing"
NO_ARTICLES = Text(
    ja="この文書種別が準拠すべき条項を持つ施行中のガイドラインがないか、条項の適用条件に当たる見出しがありません。",
    en="No guideline in force has articles for this document type whose conditions the document meets.",
)
NONE_ADDRESSED = Text(
    ja="必須要素を持つ条項を扱う節が、この文書にありません。",
    en="No section of this document treats an article with required elements.",
)
_STATE = {
    Treatment.MISSING: Text(ja="扱う見出しも記述もありません。", en="No heading and no passage treats it."),
    Treatment.MENTIONED: Text(
        ja="語として現れるだけで、扱う節がありません。", en="It is named only; no section treats it."
    ),
    Treatment.EMPTY: Text(ja="見出しはありますが、内容がありません。", en="There is a heading with nothing under it."),
}


@rule(
    id=NOT_ADDRESSED,
    title=Text(ja="ガイドライン条項の未対応", en="Guideline article not addressed"),
    looks_at=Text(
        ja="文書種別が準拠すべき条項ごとに、それを扱う内容のある節・項目・表の行があるか（目次や語の出現だけでは対応と見ない）",
        en="for each article that the document type must comply with, a section, item or table row with content on it "
        "(the table of contents, or the words alone, are no treatment)",
    ),
    tags=("compliance",),
    defaults={"articles": (), "guidelines": ()},
)
def article_not_addressed(target: RuleInput) -> RuleOutcome:
    """Report each obliging article that nothing treats. ``params["articles"]``, ``["guidelines"]`` narrow by code."""
    readings = _wanted(target)
    if not readings:
        return RuleOutcome(skip_reason=NO_ARTICLES)
    absent = [reading for reading in readings if reading.treatment is not Treatment.ADDRESSED]
    addressed = 1 - len(absent) / len(readings)
    findings = tuple(_absent_finding(target, reading, addressed, len(readings)) for reading in absent)
    return RuleOutcome(findings=findings, examined=len(readings))


@rule(
    id=ELEMENT_MISSING,
    title=Text(ja="条項の必須要素の欠落", en="Required element of an article missing"),
    looks_at=Text(
        ja="条項を扱う節に、その条項の必須要素（語・パターン）が書かれているか。要素だけの独立した節も認める",
        en="whether the sections that treat an article hold its required elements (words, patterns), or an element has "
        "a section of its own",
    ),
    tags=("compliance",),
    defaults={"articles": (), "guidelines": ()},
)
def required_element_missing(target: RuleInput) -> RuleOutcome:
    """Report, per treated article, the elements that are missing, with the places of those that were found."""
    readings = _wanted(target)
    if not readings:
        return RuleOutcome(skip_reason=NO_ARTICLES)
    treated = [each for each in readings if each.treatment is Treatment.ADDRESSED and each.article.elements]
    if not treated:
        return RuleOutcome(skip_reason=NONE_ADDRESSED)
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
    article, state = reading.article, _STATE[reading.treatment]
    contents = contents_ids(target.text, target.sections)
    return FindingDraft(
        rule_id=NOT_ADDRESSED,
        severity=Severity(article.severity),
        message=Text(
            ja=f"{_named(article)} に対応する記載がありません。{state.ja}",
            en=f"Article {article.code} “{article.title}” of “{article.guideline_name}” is not addressed. {state.en}",
        ),
        key=article.code,
        evidence=reading.places,
        searched=tuple(section.title for section in target.sections if section.id not in contents),
        data={**_facts(reading), "status": reading.treatment.value},
        confidence=round(addressed, 3),
        confidence_basis=Text(
            ja=f"適用される条項 {total} 件のうち、この文書が扱っている割合（高いほど残りは記載漏れらしい）",
            en=f"share of the {total} applicable articles that this document treats",
        ),
        suggestion=_suggestion(reading, list_all=True),
    )


def _element_finding(reading: Reading) -> FindingDraft:
    article = reading.article
    missing = [element.name for element in reading.missing]
    where = reading.sections[0] if reading.sections else ""
    total = len(article.elements)
    return FindingDraft(
        rule_id=ELEMENT_MISSING,
        severity=Severity(article.severity),
        message=Text(
            ja=f"{_named(article)} の必須要素「{'」「'.join(missing)}」が、"
            f"{f'「{where}」' if where else '該当の記述'}に見当たりません。",
            en=f"Required elements of article {article.code} “{article.title}” are missing"
            f"{f' in “{where}”' if where else ''}: {', '.join(missing)}.",
        ),
        key=f"{article.code}:{','.join(sorted(missing))}",
        evidence=(*reading.places[:1], *(found.span for found in reading.found)),
        searched=reading.sections,
        data=_facts(reading),
        confidence=round(len(reading.found) / total, 3),
        confidence_basis=Text(
            ja=f"この条項の必須要素 {total} 件のうち、見つかった割合",
            en=f"share of the article's {total} required elements that were found",
        ),
        suggestion=_suggestion(reading, list_all=False),
    )


def _named(article: Article) -> str:
    return f"「{article.guideline_name}」{article.code}（{article.title}）"


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


def _suggestion(reading: Reading, *, list_all: bool) -> SuggestionDraft:
    """Name the place and what to add; the example is a skeleton, which fits plain and polite style alike."""
    article = reading.article
    names = [element.name for element in (article.elements if list_all else reading.missing)]
    place = reading.sections[0] if reading.sections else ""
    where_ja = f"「{place}」に" if place else f"「{article.title}」の節を設け、"
    where_en = f"in “{place}”" if place else f"in a section “{article.title}”"
    what_ja = "、".join(names) or "条項が求める内容"
    what_en = ", ".join(names) or "what the article asks for"
    lines = [] if place else [f"### {article.title}", ""]
    example = "\n".join([*lines, *(f"- {name}: （内容を記載）" for name in names)])
    return SuggestionDraft(
        content=Text(ja=f"{where_ja}{what_ja}を書きます。", en=f"Write {what_en} {where_en}."),
        rationale=Text(
            ja=f"{article.code}: {article.text or article.title}", en=f"{article.code}: {article.text or article.title}"
        ),
        example=example if names else None,
    )
