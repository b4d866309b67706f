"""What differs between two editions of a guideline. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

COMPARED = ("title", "text", "category", "severity", "document_types", "headings", "applies_when", "required_elements")
SAME_TEXT = 0.9
SAME_TITLE_TEXT = 0.5


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleState:
    """An article as far as editions are compared; ``facts`` holds the values of COMPARED by name."""

    code: str
    parent: str
    facts: dict[str, Any]

    @property
    def title(self) -> str:
        return str(self.facts["title"])


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleChange:
    """One article that differs. ``code`` is the old one (the new one of an added article); a moved one has both.

    A moved article may have changed as well: ``fields`` says how.
    """

    kind: ChangeKind
    code: str
    title: str
    new_code: str = ""
    fields: tuple[FieldChange, ...] = ()


def diff_articles(before: Sequence[ArticleState], after: Sequence[ArticleState]) -> tuple[ArticleChange, ...]:
    """Compare by code, and recognise an article under a new number by its title or text.

    The order is that of ``before``, then what was added, in the order of ``after``. A moved article has the
    same title over text that is half the same, or text that is 90 % the same; of several the first counts.
    """
    old = {state.code: state for state in before}
    new = {state.code: state for state in after}
    added = [state for state in after if state.code not in old]
    changes: list[ArticleChange] = []
    for state in before:
        if state.code in new:
            changes += _compared(state, new[state.code])
        elif (target := next((other for other in added if _is_same(state, other)), None)) is not None:
            added.remove(target)
            changes.append(_moved(state, target))
        else:
            changes.append(ArticleChange(kind=ChangeKind.REMOVED, code=state.code, title=state.title))
    changes += [ArticleChange(kind=ChangeKind.ADDED, code=state.code, title=state.title) for state in added]
    return tuple(changes)


def _compared(before: ArticleState, after: ArticleState) -> Iterable[ArticleChange]:
    if before.parent != after.parent:
        yield _moved(before, after)
    elif fields := _field_changes(before, after):
        yield ArticleChange(
            kind=ChangeKind.CHANGED, code=before.code, new_code=after.code, title=after.title, fields=fields
        )


def _moved(before: ArticleState, after: ArticleState) -> ArticleChange:
    return ArticleChange(
        kind=ChangeKind.MOVED,
        code=before.code,
        new_code=after.code,
        title=after.title,
        fields=_field_changes(before, after),
    )


def _field_changes(before: ArticleState, after: ArticleState) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(field=name, before=before.facts[name], after=after.facts[name])
        for name in COMPARED
        if before.facts[name] != after.facts[name]
    )


def _is_same(before: ArticleState, after: ArticleState) -> bool:
    """The same title over text that is half the same, or nearly the same text."""
    one, two = str(before.facts["text"]), str(after.facts["text"])
    if before.title == after.title:
        return one == two or _is_alike(one, two, SAME_TITLE_TEXT)
    return bool(one and two) and _is_alike(one, two, SAME_TEXT)


def _is_alike(one: str, two: str, ratio: float) -> bool:
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    return matcher.real_quick_ratio() >= ratio and matcher.quick_ratio() >= ratio and matcher.ratio() >= ratio
