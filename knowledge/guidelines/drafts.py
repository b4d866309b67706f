"""Articles as an import read them, before they are stored, and what is wrong with them row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from django.utils.translation import gettext as _

from hub.core.bounds import CHAPTER_TEXT, CURATED_JSON, MOST_NAMED, check_json
from hub.core.errors import InvalidInput
from hub.core.languages import shown
from hub.core.patterns import PatternRefused, check_pattern
from knowledge.guidelines.diff import ArticleChange
from knowledge.models import ArticleSeverity, GuidelineEdition
from knowledge.types.requirements import RequiredElement

NUMBER = re.compile(r"[0-9A-Za-z]{1,10}(?:[.\-][0-9A-Za-z]{1,10}){0,8}")
_LIST_SEPARATORS = re.compile(r"[、,，;；\n]")
_WORD_OR_PATTERN = re.compile(r"/(?P<pattern>(?:[^/\\\n]|\\.){1,500})/|(?P<word>[^、,，;；/\n]+)")
LIMITS = {
    "number": 40,
    "title": 300,
    "category": 100,
    "source": 300,
    "source_edition": 100,
    "text": CHAPTER_TEXT,
}
ITEM_LIMITS = {"headings": 200, "applies_when": 300}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleDraft:
    """One article of a file; ``row`` is its line (Markdown) or row (Excel), counted from 1.

    ``parent`` is the number of the article above; empty means what the number says (3.2 is under 3).
    """

    row: int
    number: str
    title: str
    text: str = ""
    category: str = ""
    severity: str = "minor"
    parent: str = ""
    document_types: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    applies_when: tuple[str, ...] = ()
    elements: tuple[RequiredElement, ...] = ()
    source: str = ""
    source_edition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProblem:
    """Why a row can't be imported."""

    row: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedGuideline:
    """What a file holds: its articles in order, and what could not be read at all."""

    articles: tuple[ArticleDraft, ...]
    problems: tuple[ImportProblem, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What an import would do: the articles with their codes, what is wrong, and what changes against ``base``."""

    articles: tuple[ArticleDraft, ...]
    codes: tuple[str, ...]
    problems: tuple[ImportProblem, ...]
    changes: tuple[ArticleChange, ...]
    base: GuidelineEdition | None


def split_list(value: str) -> tuple[str, ...]:
    """Split at 、, comma, semicolon or line break; empty entries are dropped, doubled ones kept once.

    >>> split_list("性能、応答時間, 性能")
    ('性能', '応答時間')
    """
    return tuple(dict.fromkeys(part.strip() for part in _LIST_SEPARATORS.split(value) if part.strip()))


def read_element(line: str) -> RequiredElement:
    r"""Read ``name: word、word、/pattern/``; a name alone is its own word.

    >>> read_element(r"目標値: 応答時間、/\d+\s*秒/").patterns
    ('\\d+\\s*秒',)
    """
    name, _colon, rest = (part.strip() for part in re.sub(r"：", ":", line, count=1).partition(":"))
    found = list(_WORD_OR_PATTERN.finditer(rest))
    words = tuple(dict.fromkeys(match["word"].strip() for match in found if match["word"] and match["word"].strip()))
    patterns = tuple(dict.fromkeys(match["pattern"] for match in found if match["pattern"]))
    return RequiredElement(name=name, words=words if words or patterns else (name,), patterns=patterns)


def parent_numbers(drafts: Sequence[ArticleDraft]) -> tuple[str, ...]:
    """For each draft the number of the article above, or an empty text.

    That is the stated one, else the longest number of the file that the draft's goes on from (3.2 for 3.2.1).
    """
    known = {draft.number.replace("-", "."): draft.number for draft in drafts}
    return tuple(draft.parent or _above(draft.number, known) for draft in drafts)


def _above(number: str, known: Mapping[str, str]) -> str:
    parts = re.split(r"[.\-]", number)[:-1]
    while parts:
        if (found := known.get(".".join(parts))) is not None:
            return found
        parts.pop()
    return ""


def check_articles(drafts: Sequence[ArticleDraft], document_types: Mapping[str, str]) -> tuple[ImportProblem, ...]:
    """Name every row that can't be stored; ``document_types`` maps each accepted spelling to its code."""
    problems = [
        ImportProblem(row=draft.row, message=text)
        for draft in drafts
        for text in (*_wrong_texts(draft), *_wrong_values(draft, document_types), *_wrong_patterns(draft))
    ]
    rows: dict[str, int] = {}
    for draft in drafts:
        if draft.number in rows:
            text = _("The number {number} is already used in row {row}.").format(
                number=draft.number, row=rows[draft.number]
            )
            problems.append(ImportProblem(row=draft.row, message=text))
        rows.setdefault(draft.number, draft.row)
    seen: set[str] = set()
    for draft in drafts:
        if draft.parent and draft.parent not in seen:
            text = _("There is no article {parent} above this row.").format(parent=draft.parent)
            problems.append(ImportProblem(row=draft.row, message=text))
        seen.add(draft.number)
    return tuple(sorted(problems, key=lambda problem: problem.row))


def _wrong_texts(draft: ArticleDraft) -> Iterator[str]:
    if not NUMBER.fullmatch(draft.number):
        yield _(
            'The number "{number}" can\'t be used: digits and letters joined by dots are needed, such as 3.2.1.'
        ).format(number=draft.number)
    if not draft.title:
        yield _("The title is missing.")
    for name, limit in LIMITS.items():
        if len(getattr(draft, name)) > limit:
            yield _("{field} is longer than {limit} characters.").format(field=name, limit=limit)
    for name, limit in ITEM_LIMITS.items():
        if any(len(entry) > limit for entry in getattr(draft, name)):
            yield _("{field} is longer than {limit} characters.").format(field=name, limit=limit)
    for name in ("document_types", "headings", "applies_when"):
        if len(getattr(draft, name)) > MOST_NAMED:
            yield _("{field} has more than {limit} entries.").format(field=name, limit=MOST_NAMED)
    try:
        check_json([asdict(element) for element in draft.elements], "required_elements", CURATED_JSON)
    except InvalidInput as error:
        yield str(error)


def _wrong_values(draft: ArticleDraft, document_types: Mapping[str, str]) -> Iterator[str]:
    if draft.severity not in ArticleSeverity.values:
        yield _('The severity "{given}" is not one of {known}.').format(
            given=draft.severity, known=", ".join(ArticleSeverity.values)
        )
    if unknown := [name for name in draft.document_types if name not in document_types]:
        known = ", ".join(dict.fromkeys(document_types.values()))
        yield _("Unknown document types: {unknown}. Known: {known}.").format(unknown=", ".join(unknown), known=known)
    if any(not element.name for element in draft.elements):
        yield _("A required element has no name.")
    if draft.elements and not draft.document_types:
        yield _("Required elements need document types that they are required of.")


def _wrong_patterns(draft: ArticleDraft) -> Iterator[str]:
    for pattern in (*draft.applies_when, *(each for element in draft.elements for each in element.patterns)):
        try:
            check_pattern(pattern, where=draft.number)
        except PatternRefused as refused:
            yield _("{pattern} can't be used as a regular expression: {reason}").format(
                pattern=pattern, reason=shown(refused.reason)
            )
