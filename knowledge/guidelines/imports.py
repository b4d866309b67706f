"""Importing an edition of a guideline: read, check row by row, show what would change, then store as a draft."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.access.versions import PublicationStatus, next_number, writers_of
from hub.core.bounds import check_row
from hub.core.errors import Conflict, InvalidInput, LimitExceeded
from hub.core.languages import shown
from knowledge.guidelines.diff import COMPARED, ArticleState, diff_articles
from knowledge.guidelines.drafts import (
    ArticleDraft,
    ImportPreview,
    ImportProblem,
    ParsedGuideline,
    check_articles,
    parent_numbers,
)
from knowledge.guidelines.editions import states_of
from knowledge.guidelines.files import read_excel, read_markdown
from knowledge.models import DocumentType, Guideline, GuidelineArticle, GuidelineEdition
from knowledge.models.guidelines import PREFIX_PATTERN
from knowledge.parsers.errors import ParseError
from knowledge.parsers.tables import read_plain_text

MAX_FILE_BYTES = 10_000_000
PROBLEMS_SHOWN = 20
_TEXTS = ("number", "title", "text", "category", "severity", "source", "source_edition")
GUIDELINE_FILES = Path(__file__).resolve().parent.parent / "data" / "guidelines"
_SAME = (
    "number",
    "title",
    "text",
    "category",
    "severity",
    "document_types",
    "headings",
    "applies_when",
    "required_elements",
    "source",
    "source_edition",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineImport:
    """A file and what it is: an edition of the guideline ``code``, which is made when it is new.

    ``prefix``, names and the rest are needed for a new guideline only; for a known one what is given replaces what is
    stored, except for the prefix, which never changes. Where an edition is in force, that is when the draft is
    published, since names and sources of what is in force are everybody's.
    """

    filename: str
    content: bytes
    code: str
    prefix: str = ""
    name_ja: str = ""
    name_en: str = ""
    source: str = ""
    publisher: str = ""
    licence: str = ""
    label: str = ""
    effective_date: date | None = None


def preview_import(*, principal: Principal, asked: GuidelineImport) -> ImportPreview:
    """Read a file and say what importing it would change, and what is wrong in which row. Stores nothing."""
    principal.require_hub(HubRight.ONTOLOGIES)
    guideline = Guideline.objects.filter(code=asked.code).first()
    prefix = _prefix(asked, guideline)
    parsed = _parse(asked)
    known_types = _known_types()
    problems = (*parsed.problems, *check_articles(parsed.articles, known_types))
    rows = _rows(parsed.articles, prefix=prefix, known_types=known_types)
    base = _in_force(guideline)
    changes = diff_articles(states_of(base), _states(rows, parsed.articles)) if not problems else ()
    return ImportPreview(
        articles=parsed.articles,
        codes=tuple(row.code for row in rows),
        problems=tuple(sorted(problems, key=lambda problem: problem.row)),
        changes=changes,
        base=base,
    )


@transaction.atomic
def import_edition(*, principal: Principal, asked: GuidelineImport) -> GuidelineEdition:
    """Store a file's articles as the next edition, a draft. All or nothing: raises InvalidInput naming wrong rows."""
    preview = preview_import(principal=principal, asked=asked)
    if preview.problems:
        raise _refusal(preview.problems)
    guideline, changes = _save_guideline(asked)
    edition = GuidelineEdition.objects.create(
        guideline=guideline,
        guideline_changes=changes,
        number=next_number(guideline.editions.all()),
        label=asked.label,
        effective_date=asked.effective_date,
        writer_ids=writers_of(principal),
    )
    store_articles(edition, preview.articles)
    record_event(
        principal=principal,
        action="GUIDELINE_IMPORT",
        resource=f"guideline:{edition}",
        articles=len(preview.articles),
        filename=asked.filename[:200],
    )
    return edition


def store_articles(edition: GuidelineEdition, drafts: Sequence[ArticleDraft]) -> None:
    """Write checked drafts as the edition's articles, in order. Two queries."""
    rows = _rows(drafts, prefix=edition.guideline.prefix, known_types=_known_types())
    for row in rows:
        row.edition = edition
    GuidelineArticle.objects.bulk_create(rows)
    by_number = {row.number: row for row in rows}
    for row, above in zip(rows, parent_numbers(drafts), strict=True):
        row.parent = by_number.get(above)
    GuidelineArticle.objects.bulk_update([row for row in rows if row.parent], ["parent"])


def _parse(asked: GuidelineImport) -> ParsedGuideline:
    if len(asked.content) > MAX_FILE_BYTES:
        raise LimitExceeded(_("A guideline's file may have {limit} bytes at most."), limit=MAX_FILE_BYTES)
    suffix = asked.filename.lower().rpartition(".")[2]
    if suffix == "xlsx":
        return read_excel(asked.content)
    if suffix in {"md", "markdown", "txt"}:
        return read_markdown(_decoded(asked.content))
    raise InvalidInput(
        _('"{filename}" can\'t be imported: Markdown (.md) or Excel (.xlsx) is needed.'),
        code="unknown_import_format",
        filename=asked.filename[:200],
    )


def _decoded(content: bytes) -> str:
    try:
        return read_plain_text(content)
    except ParseError as error:
        raise InvalidInput("{reason}", code="unreadable_text", reason=shown(error.text)) from error


def _prefix(asked: GuidelineImport, guideline: Guideline | None) -> str:
    if guideline is not None:
        if asked.prefix and asked.prefix != guideline.prefix:
            raise Conflict(
                _('The prefix of "{given}" is {prefix} and never changes.'), given=asked.code, prefix=guideline.prefix
            )
        return guideline.prefix
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,60}", asked.code):
        raise InvalidInput(
            _('The code "{given}" can\'t be used: letters, digits, - and _ are needed.'), given=asked.code[:80]
        )
    if not re.fullmatch(PREFIX_PATTERN, asked.prefix):
        raise InvalidInput(
            _('A new guideline needs a prefix for its articles such as "GL-": capital letters and digits, then -.'),
            code="prefix_needed",
        )
    if Guideline.objects.filter(prefix=asked.prefix).exists():
        raise Conflict(_("Another guideline has the prefix {prefix}."), prefix=asked.prefix)
    if not asked.name_ja:
        raise InvalidInput(_("A new guideline needs a name (name_ja)."), code="name_needed")
    return asked.prefix


def _known_types() -> dict[str, str]:
    types = DocumentType.objects.order_by("code")
    by_code = {kind.code: kind.code for kind in types}
    return {**{kind.name_ja: kind.code for kind in types}, **{kind.name_en: kind.code for kind in types}, **by_code}


def _rows(drafts: Sequence[ArticleDraft], *, prefix: str, known_types: dict[str, str]) -> list[GuidelineArticle]:
    return [
        GuidelineArticle(
            position=position,
            code=f"{prefix}{draft.number}",
            document_types=list(dict.fromkeys(known_types.get(name, name) for name in draft.document_types)),
            headings=list(draft.headings),
            applies_when=list(draft.applies_when),
            required_elements=[
                {"name": each.name, "words": list(each.words), "patterns": list(each.patterns)}
                for each in draft.elements
            ],
            **{name: getattr(draft, name) for name in _TEXTS},
        )
        for position, draft in enumerate(drafts)
    ]


def _states(rows: Sequence[GuidelineArticle], drafts: Sequence[ArticleDraft]) -> list[ArticleState]:
    codes = {row.number: row.code for row in rows}
    return [
        ArticleState(code=row.code, parent=codes.get(above, ""), facts={name: getattr(row, name) for name in COMPARED})
        for row, above in zip(rows, parent_numbers(drafts), strict=True)
    ]


def _in_force(guideline: Guideline | None) -> GuidelineEdition | None:
    if guideline is None:
        return None
    return guideline.editions.filter(status=PublicationStatus.PUBLISHED).first()


def _save_guideline(asked: GuidelineImport) -> tuple[Guideline, dict[str, str]]:
    """Make the guideline, or lock it and take over what was given; gives what waits for the draft's publication."""
    facts = {name: getattr(asked, name) for name in ("name_ja", "name_en", "source", "publisher", "licence")}
    given = {name: value for name, value in facts.items() if value}
    first = {"name_en": asked.name_ja, **given, "prefix": asked.prefix}
    check_row(Guideline(code=asked.code, **given), only=["code", *given])
    check_row(GuidelineEdition(label=asked.label), only=["label"])
    guideline, is_new = Guideline.objects.get_or_create(code=asked.code, defaults=first)
    guideline = Guideline.objects.select_for_update().get(pk=guideline.pk)
    changes = {name: value for name, value in given.items() if getattr(guideline, name) != value}
    if is_new or _in_force(guideline) is not None:
        return guideline, changes
    for name, value in changes.items():
        setattr(guideline, name, value)
    guideline.save(update_fields=list(changes))
    return guideline, {}


def _refusal(problems: Sequence[ImportProblem]) -> InvalidInput:
    shown_rows = "; ".join(f"{problem.row}: {problem.message}" for problem in problems[:PROBLEMS_SHOWN])
    more = f" … (+{len(problems) - PROBLEMS_SHOWN})" if len(problems) > PROBLEMS_SHOWN else ""
    return InvalidInput(
        _("Nothing was imported. Wrong rows: {problems}"), code="guideline_rows_invalid", problems=shown_rows + more
    )


def load_guidelines() -> None:
    """Load the shipped guidelines that are missing; one that is there is left alone, whatever curators made of it."""
    for path in sorted(GUIDELINE_FILES.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8"))
        if not Guideline.objects.filter(code=source["code"]).exists():
            _load(source)


def _load(source: dict[str, Any]) -> None:
    guideline = Guideline.objects.create(
        code=source["code"],
        prefix=source["prefix"],
        name_ja=source["name"]["ja"],
        name_en=source["name"]["en"],
        source=source["source"],
        publisher=source["publisher"],
        licence=source["licence"],
    )
    edition = GuidelineEdition.objects.create(
        guideline=guideline,
        label=source["edition"]["label"],
        status=PublicationStatus.PUBLISHED,
        published_at=timezone.now(),
    )
    rows = [
        GuidelineArticle(
            edition=edition,
            position=position,
            code=f"{guideline.prefix}{entry['number']}",
            **{name: entry[name] for name in _SAME},
        )
        for position, entry in enumerate(source["articles"])
    ]
    GuidelineArticle.objects.bulk_create(rows)
    by_number = {row.number: row for row in rows}
    for row in rows:
        row.parent = by_number.get(row.number.rpartition(".")[0])
    GuidelineArticle.objects.bulk_update(rows, ["parent"])
