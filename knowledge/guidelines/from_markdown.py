"""A guideline as Markdown: numbered headings are its articles, labelled lines under them their fields."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from django.utils.translation import gettext as _

from knowledge.guidelines.drafts import ArticleDraft, ImportProblem, ParsedGuideline
from knowledge.guidelines.fields import article_from, field_named
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.structure import build_sections, is_table_of_contents
from knowledge.types.documents import Section

_LABELLED = re.compile(r"^[ \t]{0,3}(?:[-*+][ \t]+)?(?P<label>[^:：\n]{1,30})[:：](?P<value>[^\n]*)$")
_ITEM = re.compile(r"^[ \t]*[-*+][ \t]+(?P<item>\S[^\n]*)$")
_NUMBER_IN_TITLE = re.compile(
    r"^\s*(?:第\s*[0-9０-９一二三四五六七八九十百]+\s*[編部章節款項条](?:の[0-9０-９]+)?"
    r"|[0-9０-９]+(?:[.．\-][0-9０-９]+)*[.．)）]?)[\s　]*"
)
# Before the text is parsed: what may be a heading, whether of the form "# title" or underlined.
_HEADING = re.compile(r"^[ ]{0,3}(?:#{1,6}(?![^ \t\n])|=+[ \t]*$|-+[ \t]*$)", re.M)
MAX_HEADINGS = 5_000
MAX_CHARACTERS = 2_000_000
_HISTORY = re.compile(r"(?:変更|改訂|改定|改版|更新)履歴|change\s*history|revision\s*history", re.I)


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
        if _is_passed_over(section, text, is_title=index == 0) or _is_below_apparatus(section, by_id, text):
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


def _is_passed_over(section: Section, text: str, *, is_title: bool) -> bool:
    is_unnumbered_title = is_title and section.number is None
    return is_unnumbered_title or _is_apparatus(section, text)


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
