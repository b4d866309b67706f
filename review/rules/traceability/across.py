"""Identifiers: where they stand and what they are called, here and in related documents, some of which lie upstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hub.core.texts import Text
from knowledge.text.folding import fold_compact
from knowledge.text.identifier_shapes import Family, Mention, Role, conventions, prefix_of
from knowledge.text.identifiers import read_families
from knowledge.text.structure import line_span
from knowledge.text.tables import Row, Table
from review.types import RelatedDocument, RuleInput, Span

_ORDER = ("requirements", "basic_design", "detailed_design", "test_plan")
_WORDS = (
    ("requirements", ("要件定義", "要求定義", "要求仕様", "調達仕様", "requirement")),
    ("test_plan", ("テスト計画", "試験計画", "test plan")),
    ("detailed_design", ("詳細設計", "内部設計", "detailed design")),
    ("basic_design", ("基本設計", "概要設計", "外部設計", "方式設計", "basic design")),
)
_NAMES = {
    "requirements": Text(ja="要件定義書", en="requirements document"),
    "basic_design": Text(ja="基本設計書", en="basic design"),
    "detailed_design": Text(ja="詳細設計書", en="detailed design"),
    "test_plan": Text(ja="テスト計画書", en="test plan"),
}
_OTHER = Text(ja="関連文書", en="related document")


def kind_of(document_type: str, title: str) -> str:
    """Return a document's place in the chain from requirements to test plan, by its type or else its title, or ''.

    >>> kind_of("requirements", ""), kind_of("other", "図書予約 要件定義書"), kind_of("other", "議事録")
    ('requirements', 'requirements', '')
    """
    if document_type in _ORDER:
        return document_type
    folded = title.casefold()
    return next((kind for kind, words in _WORDS if any(word in folded for word in words)), "")


def kind_name(related: RelatedDocument) -> Text:
    """Return what a message may call a related document: its kind, never its title."""
    return _NAMES.get(kind_of(related.document_type, related.title), _OTHER)


def families_in(related: RelatedDocument) -> tuple[Family, ...]:
    """Return the identifier families of a related document, ordered by first mention."""
    return read_families(related.text, related.sections, related.blocks)


def upstream(target: RuleInput) -> tuple[RelatedDocument, ...]:
    """Return the related documents that the reviewed one has to answer to, such as a design's requirements."""
    return tuple(related for related in target.related if _rank(related) < _own_rank(target))


def has_downstream(target: RuleInput) -> bool:
    """Tell whether a related document has to answer to the reviewed one."""
    return any(_own_rank(target) < _rank(related) < len(_ORDER) for related in target.related)


def defined_elsewhere(target: RuleInput) -> frozenset[str]:
    """Return the identifiers that related documents define."""
    return frozenset(name for family in _related_families(target) for name in family.defined)


def mentioned_elsewhere(target: RuleInput) -> frozenset[str]:
    """Return the identifiers that related documents name in text or tables."""
    return frozenset(m.id for family in _related_families(target) for m in family.mentions if not m.in_code)


def unanswered(
    target: RuleInput, own: tuple[Family, ...], related: RelatedDocument
) -> Iterator[tuple[Family, list[Mention]]]:
    """Yield, per family of an upstream document, the first definitions of what the reviewed one never names.

    Requirements have to be answered; components, screens and the like only where the reviewed document names some
    of their family.
    """
    named = {mention.id for family in own for mention in family.mentions if not mention.in_code}
    prefixes = {prefix_of(name) for name in named}
    for family in families_in(related):
        if not family.definitions or family.role in (Role.TEST, Role.REGISTER):
            continue
        if is_requirement(family) or family.prefix in prefixes:
            lost = [places[0] for name, places in family.defined.items() if name not in named]
            if lost:
                yield family, lost


def is_requirement(family: Family) -> bool:
    """Tell whether a family's identifiers are requirements, by where they are defined or by their prefix."""
    by_custom = family.prefix.split("-")[0] in conventions()["requirement_prefixes"]["prefixes"]
    return family.role is Role.DOWNSTREAM or (by_custom and family.role is not Role.TEST)


def related_spans(related: RelatedDocument, mentions: Iterable[Mention]) -> tuple[Span, ...]:
    """Return where identifiers stand in a related document, in its order."""
    places = sorted({(mention.start, mention.end) for mention in mentions})
    return tuple(Span(start=start, end=end, document=related.document_id) for start, end in places)


def _related_families(target: RuleInput) -> Iterator[Family]:
    for related in target.related:
        yield from families_in(related)


def _rank(related: RelatedDocument) -> int:
    kind = kind_of(related.document_type, related.title)
    return _ORDER.index(kind) if kind else len(_ORDER)


def _own_rank(target: RuleInput) -> int:
    kind = kind_of(target.document_type, f"{target.title} {target.document_name}")
    return _ORDER.index(kind) if kind else -1


def home(mention: Mention, tables: tuple[Table, ...]) -> tuple[Table | None, Row | None]:
    """Return the table and row that an identifier stands in, or None twice."""
    for table in tables:
        for row in table.rows:
            if row.start <= mention.start < row.end:
                return table, row
    return None, None


def name_of(mention: Mention, row: Row | None, target: RuleInput) -> str:
    """Return what the definition calls the thing: the rest of its cell, else the next cell; or the rest of the line."""
    if row is None:
        line_end = line_span(target.text, mention.end, mention.end)[1]
        return fold_compact(target.text[mention.end : line_end].replace("<br>", " ")).strip(":：*_-|）)】]")
    cells = [cell for cell in row.cells if cell.end > mention.start]
    inside = (
        fold_compact(target.text[mention.end : cells[0].end].replace("<br>", " ")).strip(":：*_-（()）")
        if cells
        else ""
    )
    return inside or (fold_compact(cells[1].text) if len(cells) > 1 else "")


def same_thing(first: str, second: str) -> bool:
    """Names that share two neighbouring characters are taken for two wordings of one name."""
    if not first or not second or first in second or second in first:
        return True
    return any(first[index : index + 2] in second for index in range(len(first) - 1))
