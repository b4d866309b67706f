"""A guideline in a file: one article per row of an Excel sheet, or per numbered heading of Markdown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice

from django.utils.translation import gettext as _

from hub.core.languages import shown
from knowledge.guidelines.drafts import ArticleDraft, ImportProblem, ParsedGuideline, read_element, split_list
from knowledge.parsers.errors import ParseError
from knowledge.parsers.markdown import markdown_blocks
from knowledge.parsers.tables import Sheet, read_workbook
from knowledge.text.folding import fold_name, normalise
from knowledge.text.numbering import ORDINAL
from knowledge.text.structure import build_sections, is_table_of_contents
from knowledge.types.documents import Section

NAMES: Mapping[str, tuple[str, ...]] = {
    "number": ("番号", "条項番号", "number", "no"),
    "title": ("題名", "条項名", "見出し", "title"),
    "text": ("本文", "内容", "text"),
    "category": ("区分", "分類", "category"),
    "severity": ("重大度", "severity"),
    "parent": ("上位番号", "親", "parent"),
    "document_types": ("対象文書", "対象文書種別", "document types", "document_types"),
    "headings": ("見出し語", "headings"),
    "applies_when": ("適用見出し", "applies when", "applies_when"),
    "elements": ("必須要素", "required elements", "required_elements"),
    "source": ("出典", "source"),
    "source_edition": ("出典の版", "source edition", "source_edition"),
}
_FIELD_OF = {name: field for field, names in NAMES.items() for name in names}
_SEVERITIES = {"致命": "critical", "重大": "critical", "重要": "major", "軽微": "minor", "情報": "info"}
MAX_ROWS = 5_000
MAX_COLUMNS = 50
HEADER_WITHIN = 20

Row = tuple[int, tuple[str, ...]]
_LABELLED = re.compile(r"^[ \t]{0,3}(?:[-*+][ \t]+)?(?P<label>[^:：\n]{1,30})[:：](?P<value>[^\n]*)$")
_ITEM = re.compile(r"^[ \t]*[-*+][ \t]+(?P<item>\S[^\n]*)$")
_NUMBER_IN_TITLE = re.compile(
    rf"^\s*(?:{ORDINAL}(?:の[0-9０-９]+)?|[0-9０-９]+(?:[.．\-][0-9０-９]+)*[.．)）]?)[\s　]*"
)
# Before the text is parsed: what may be a heading, whether of the form "# title" or underlined.
_HEADING = re.compile(r"^[ ]{0,3}(?:#{1,6}(?![^ \t\n])|=+[ \t]*$|-+[ \t]*$)", re.M)
MAX_HEADINGS = 5_000
MAX_CHARACTERS = 2_000_000
_HISTORY = re.compile(r"(?:変更|改訂|改定|改版|更新)履歴|change\s*history|revision\s*history", re.I)


def field_named(label: str) -> str | None:
    """The field that a column or label names, or None."""
    return _FIELD_OF.get(fold_name(label))


def article_from(row: int, values: Mapping[str, str]) -> ArticleDraft:
    """Make a draft of the texts by field; what a field lists is split here."""
    text = {name: value.strip() for name, value in values.items()}
    severity = text.get("severity", "").casefold()
    return ArticleDraft(
        row=row,
        number=_number(text.get("number", "")),
        title=" ".join(text.get("title", "").split()),
        text=text.get("text", ""),
        category=text.get("category", ""),
        severity=_SEVERITIES.get(severity, severity or "minor"),
        parent=_number(text.get("parent", "")),
        document_types=split_list(text.get("document_types", "")),
        headings=split_list(text.get("headings", "")),
        applies_when=tuple(line.strip() for line in text.get("applies_when", "").splitlines() if line.strip()),
        elements=tuple(read_element(line) for line in text.get("elements", "").splitlines() if line.strip()),
        source=text.get("source", ""),
        source_edition=text.get("source_edition", ""),
    )


def _number(value: str) -> str:
    return normalise(value).strip().rstrip(".")


def read_excel(content: bytes) -> ParsedGuideline:
    """Read the first sheet that has a header with a number and a title column. Formulas count by their last value."""
    try:
        sheets = [list(_rows(sheet)) for sheet in read_workbook(content, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS)]
    except ParseError as error:
        return _refused(shown(error.text))
    for rows in sheets:
        if (header := _header(rows)) is not None:
            return _articles(rows, *header)
    return _refused(
        _("No sheet has a header row with the columns {number} and {title}.").format(
            number=NAMES["number"][0], title=NAMES["title"][0]
        )
    )


def _refused(message: str) -> ParsedGuideline:
    return ParsedGuideline(articles=(), problems=(ImportProblem(row=1, message=message),))


def _rows(sheet: Sheet) -> Iterator[Row]:
    for number, row in enumerate(sheet.rows, start=1):
        values = tuple(map(_text, row))
        if any(values):
            yield number, values


def _text(value: object) -> str:
    """A cell as text; a number that Excel made of 3 or 3.2 reads as it was typed."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _header(rows: list[Row]) -> tuple[int, dict[int, str]] | None:
    for number, values in rows[:HEADER_WITHIN]:
        columns = {index: field for index, value in enumerate(values) if (field := field_named(value))}
        if {"number", "title"} <= set(columns.values()):
            return number, columns
    return None


def _articles(rows: list[Row], header: int, columns: dict[int, str]) -> ParsedGuideline:
    drafts = tuple(
        article_from(number, {field: values[index] for index, field in columns.items() if index < len(values)})
        for number, values in rows
        if number > header
    )
    problems = () if drafts else (ImportProblem(row=header, message=_("No articles stand below the header row.")),)
    return ParsedGuideline(articles=drafts, problems=problems)


def read_markdown(text: str) -> ParsedGuideline:
    """Read the articles in order.

    A heading without a number is no article: the document's title, its table of contents and its change history are
    passed over, any other is named as a problem, so that nothing is lost without a word.
    """
    headings = sum(1 for _heading in islice(_HEADING.finditer(text), MAX_HEADINGS + 1))
    if len(text) > MAX_CHARACTERS or headings > MAX_HEADINGS:
        message = _("At most {characters} characters and {headings} headings are read at once. Split the file.")
        reason = message.format(characters=MAX_CHARACTERS, headings=MAX_HEADINGS)
        return ParsedGuideline(articles=(), problems=(ImportProblem(row=1, message=reason),))
    articles: list[ArticleDraft] = []
    problems: list[ImportProblem] = []
    line_ends = [end.start() for end in re.finditer("\n", text)]
    sections = build_sections(text, markdown_blocks(text))
    by_id = {section.id: section for section in sections}
    for index, section in enumerate(sections):
        is_title = index == 0 and section.number is None
        if is_title or _is_apparatus(section, text) or _is_below_apparatus(section, by_id, text):
            continue
        row = bisect_left(line_ends, section.start) + 1
        if section.number is None:
            message = _('The heading "{title}" has no number.').format(title=section.title)
            problems.append(ImportProblem(row=row, message=message))
        else:
            articles.append(_article(section, text, row))
    if not articles and not problems:
        problems.append(ImportProblem(row=1, message=_("The file has no numbered headings.")))
    return ParsedGuideline(articles=tuple(articles), problems=tuple(problems))


def _is_apparatus(section: Section, text: str) -> bool:
    return bool(_HISTORY.search(section.title)) or is_table_of_contents(section, text)


def _is_below_apparatus(section: Section, by_id: dict[str, Section], text: str) -> bool:
    above = by_id.get(section.parent_id or "")
    while above is not None:
        if above.number is not None and _is_apparatus(above, text):
            return True
        above = by_id.get(above.parent_id or "")
    return False


def _article(section: Section, text: str, row: int) -> ArticleDraft:
    values = dict.fromkeys(("category", "severity", "parent"), "")
    body: list[str] = []
    current = ""
    for label, line in _lines(text[section.body_start : section.body_end]):
        item = _ITEM.match(line)
        if label:
            current = label
            values[label] = line.strip()
        elif current and item:
            values[current] = f"{values.get(current, '')}\n{item['item']}".strip()
        else:
            current = current if not line.strip() else ""
            body.append(line)
    values |= {"number": section.number or "", "title": _NUMBER_IN_TITLE.sub("", section.title).strip()}
    values["text"] = "\n".join(body).strip()
    return article_from(row, values)


def _lines(body: str) -> Iterator[tuple[str, str]]:
    """Yield each line with the field that it states, if any; a labelled line is cut down to its value."""
    for line in body.split("\n"):
        match = _LABELLED.match(line)
        field = field_named(match["label"]) if match else None
        yield (field, match["value"]) if match and field and field not in {"number", "title", "text"} else ("", line)
