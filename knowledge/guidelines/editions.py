"""What may be done with guidelines: every door calls these, with the caller's principal."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence

from django.db import transaction
from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.versions import PublicationStatus, publish, retire
from hub.core.errors import Conflict, NotFound
from hub.core.extensions import ExtensionPoint
from knowledge.guidelines.diff import COMPARED, ArticleChange, ArticleState, diff_articles
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition
from knowledge.types.requirements import Article, RequiredElement

_NEAR_MATCHES = 5
EDITION_LISTENERS = ExtensionPoint[Callable[[Principal, GuidelineEdition, Sequence[ArticleChange]], None]]()
"""Called when an edition follows another, in the same transaction, with the articles that changed."""
CHECK_ITEM_FINDERS = ExtensionPoint[Callable[[Sequence[str]], Mapping[str, Sequence[str]]]]()
"""Return the codes of the check items that rest on articles, by the codes of these."""


def check_items_of(codes: Sequence[str]) -> dict[str, list[str]]:
    """The check items that rest on each of some articles, sorted; articles without any are left out."""
    found: dict[str, set[str]] = {}
    for finder in CHECK_ITEM_FINDERS:
        for code, items in finder(codes).items():
            found.setdefault(code, set()).update(items)
    return {code: sorted(items) for code, items in found.items()}


def list_guidelines(principal: Principal, *, document_type: str = "") -> QuerySet[Guideline]:
    """The guidelines with a published edition, by code; curators of the hub also see those with drafts only.

    Each has ``shown_editions``, newest first, with ``articles_count``. ``document_type`` keeps those that oblige it.
    """
    principal.require(Scope.READ)
    guidelines = Guideline.objects.all()
    if not principal.may(HubRight.ONTOLOGIES):
        guidelines = guidelines.filter(editions__status=PublicationStatus.PUBLISHED)
    if document_type:
        obliging = GuidelineArticle.objects.filter(
            edition__status=PublicationStatus.PUBLISHED, document_types__contains=[document_type]
        )
        guidelines = guidelines.filter(pk__in=obliging.values("edition__guideline_id"))
    editions = visible_editions(principal).annotate(articles_count=Count("articles")).order_by("-number")
    shown = Prefetch("editions", queryset=editions, to_attr="shown_editions")
    return guidelines.distinct().order_by("code").prefetch_related(shown)


def visible_editions(principal: Principal) -> QuerySet[GuidelineEdition]:
    """The editions that the caller may read: published and retired ones, for curators of the hub drafts too."""
    principal.require(Scope.READ)
    editions = GuidelineEdition.objects.select_related("guideline")
    return editions if principal.may(HubRight.ONTOLOGIES) else editions.exclude(status=PublicationStatus.DRAFT)


def get_guideline(principal: Principal, code: str) -> Guideline:
    """A guideline with its shown editions. Raises NotFound, also for what the caller may not see."""
    guideline = list_guidelines(principal).filter(code=code).first()
    if guideline is None:
        raise NotFound(_('There is no guideline "{given}".'), code="guideline_not_found", given=code)
    return guideline


def get_edition(principal: Principal, code: str, number: int | None = None) -> GuidelineEdition:
    """An edition; without ``number`` the published one. Raises NotFound, also for hidden drafts."""
    guideline = get_guideline(principal, code)
    editions = visible_editions(principal).filter(guideline=guideline)
    wanted = Q(status=PublicationStatus.PUBLISHED) if number is None else Q(number=number)
    edition = editions.filter(wanted).first()
    if edition is None:
        raise NotFound(
            _('The guideline "{given}" has no edition {number}.'),
            code="edition_not_found",
            given=code,
            number=number or "-",
        )
    return edition


def list_articles(
    principal: Principal, code: str, *, edition: int | None = None, document_type: str = ""
) -> QuerySet[GuidelineArticle]:
    """An edition's articles in order, with their parents; ``document_type`` keeps those that oblige it."""
    found = get_edition(principal, code, edition).articles.select_related("parent", "edition__guideline")
    articles = found.order_by("position")
    return articles.filter(document_types__contains=[document_type]) if document_type else articles


def get_article(principal: Principal, code: str) -> GuidelineArticle:
    """An article in force by its code, with what it needs to be shown. Raises NotFound."""
    principal.require(Scope.READ)
    article = (
        GuidelineArticle.objects.filter(edition__status=PublicationStatus.PUBLISHED, code=code)
        .select_related("edition__guideline", "parent")
        .prefetch_related("children")
        .first()
    )
    if article is None:
        raise article_not_found(code)
    return article


def article_not_found(code: str) -> NotFound:
    """The error for an article that is not in force, naming some that are: those with like codes first. One query."""
    codes = GuidelineArticle.objects.filter(edition__status=PublicationStatus.PUBLISHED).order_by("code")
    known = list(codes.values_list("code", flat=True))
    near = difflib.get_close_matches(code, known, n=_NEAR_MATCHES, cutoff=0.5) or known[:_NEAR_MATCHES]
    return NotFound(
        _('No guideline in force has an article "{given}". Some that there are: {near}.'),
        code="article_not_found",
        given=code[:60],
        near=", ".join(near) or "-",
    )


def article_codes(principal: Principal, *, prefix: str, limit: int) -> list[str]:
    """The codes of articles in force that begin with ``prefix``, in order. One query."""
    principal.require(Scope.READ)
    found = GuidelineArticle.objects.filter(edition__status=PublicationStatus.PUBLISHED, code__startswith=prefix)
    rows = found.order_by("edition__guideline__code", "position")
    return list(rows.values_list("code", flat=True)[:limit])


def compare_editions(
    principal: Principal, code: str, *, base: int | None = None, number: int
) -> tuple[GuidelineEdition | None, GuidelineEdition, tuple[ArticleChange, ...]]:
    """What edition ``number`` changed against ``base`` (default: the one before it that was published)."""
    edition = get_edition(principal, code, number)
    before = get_edition(principal, code, base) if base is not None else _edition_before(edition)
    return before, edition, diff_articles(states_of(before), states_of(edition))


def _edition_before(edition: GuidelineEdition) -> GuidelineEdition | None:
    earlier = GuidelineEdition.objects.filter(guideline=edition.guideline, number__lt=edition.number)
    return earlier.exclude(status=PublicationStatus.DRAFT).order_by("-number").first()


@transaction.atomic
def publish_edition(*, principal: Principal, code: str, number: int) -> GuidelineEdition:
    """Put a draft into force; the edition in force before retires. Publishing it again is no error.

    Raises NotFound, and Conflict: it is retired or empty, or the caller wrote it and somebody else has to publish it.
    Whatever rests on an article that changed is marked by ``EDITION_LISTENERS``.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    edition = _lock_edition(principal, code, number)
    if edition.status == PublicationStatus.PUBLISHED:
        return edition
    if edition.status == PublicationStatus.RETIRED:
        raise Conflict(_("Edition {number} is retired; import it anew."), code="edition_retired", number=number)
    if not edition.articles.exists():
        raise Conflict(_("Edition {number} has no articles."), code="edition_empty", number=number)
    before = edition.versions().filter(status=PublicationStatus.PUBLISHED).first()
    facts = {"replaces": before.number if before else None, "changed": sorted(edition.guideline_changes)}
    publish(principal=principal, version=edition, facts=facts)
    for name, value in edition.guideline_changes.items():
        setattr(edition.guideline, name, value)
    edition.guideline.save(update_fields=edition.guideline_changes)
    if before is not None:
        _notify(principal, edition, diff_articles(states_of(before), states_of(edition)))
    return edition


@transaction.atomic
def retire_edition(*, principal: Principal, code: str, number: int) -> GuidelineEdition:
    """Take an edition out of force, or give up a draft; all of its articles count as removed."""
    principal.require_hub(HubRight.ONTOLOGIES)
    edition = _lock_edition(principal, code, number)
    if edition.status == PublicationStatus.RETIRED:
        return edition
    was_in_force = edition.status == PublicationStatus.PUBLISHED
    retire(principal=principal, version=edition)
    if was_in_force:
        _notify(principal, edition, diff_articles(states_of(edition), ()))
    return edition


def _lock_edition(principal: Principal, code: str, number: int) -> GuidelineEdition:
    """Lock the guideline's row, so that its editions change one after the other, and read the edition again."""
    found = get_edition(principal, code, number)
    Guideline.objects.select_for_update().get(pk=found.guideline_id)
    return GuidelineEdition.objects.select_related("guideline").get(pk=found.pk)


def _notify(principal: Principal, edition: GuidelineEdition, changes: Sequence[ArticleChange]) -> None:
    for listener in EDITION_LISTENERS:
        listener(principal, edition, changes)


def editions_in_force() -> QuerySet[GuidelineEdition]:
    """The published editions, by their guideline's code."""
    return GuidelineEdition.objects.filter(status=PublicationStatus.PUBLISHED).order_by("guideline__code")


def articles_of(edition_ids: Collection[int]) -> tuple[Article, ...]:
    """The articles of some editions as values, by guideline and in order. One query."""
    rows = GuidelineArticle.objects.filter(edition_id__in=edition_ids).select_related("edition__guideline")
    return tuple(_article(row) for row in rows.order_by("edition__guideline__code", "edition__number", "position"))


def _article(row: GuidelineArticle) -> Article:
    guideline = row.edition.guideline
    return Article(
        code=row.code,
        number=row.number,
        title=row.title,
        guideline=guideline.code,
        guideline_name=guideline.name_ja,
        prefix=guideline.prefix,
        edition=row.edition.number,
        text=row.text,
        category=row.category,
        severity=row.severity,
        document_types=tuple(row.document_types),
        headings=tuple(row.headings),
        applies_when=tuple(row.applies_when),
        elements=elements_of(row),
    )


def elements_of(row: GuidelineArticle) -> tuple[RequiredElement, ...]:
    """An article's required elements as values."""
    return tuple(
        RequiredElement(name=entry["name"], words=tuple(entry["words"]), patterns=tuple(entry["patterns"]))
        for entry in row.required_elements
    )


def states_of(edition: GuidelineEdition | None) -> tuple[ArticleState, ...]:
    """An edition's articles for comparing, in order; none for no edition. One query."""
    if edition is None:
        return ()
    rows = edition.articles.select_related("parent").order_by("position")
    return tuple(
        ArticleState(
            code=row.code,
            parent=row.parent.code if row.parent else "",
            facts={name: getattr(row, name) for name in COMPARED},
        )
        for row in rows
    )
