"""Reading evaluation cases from JSON Lines, JSON and sheets. Pure: no database.

A question of search is ``{"query": "…", "relevant": ["設計書.md", {"document": "要件.md", "text": "応答は3秒"}]}``,
with ``collection`` and ``weight`` as one likes, and ``filter``, ``mode``, ``threshold`` and ``per_document`` as POST
/search takes them. ``document`` is a path or an id; ``text`` is a quote that a passage must hold to count.

What a reviewer should say of a document is ``{"path": "設計書.md", "rule_id": "traceability.numbering_gap", "item":
"FR-001〜FR-014 の欠番", "expected_verdict": "pass", "identifiers": ["FR-001〜FR-014"]}``. Which document:
``document_id`` or ``path`` (with ``collection`` where a path is in several), and ``version``, a number; the current one
without it. What decides: ``check_item_id``, ``rule_id`` (one, or several), ``topic`` or ``check_type``. What the
finding must be about: ``identifiers``, ``variants``, ``field`` (version or date of an edition), ``location`` (a text of
the document).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

from hub.core.strict_json import read_json

RETRIEVAL = "retrieval"
# How the question was asked, besides its collection; what they hold is for search to judge.
SEARCH_FIELDS = ("filter", "mode", "threshold", "per_document")
HEAVIEST = 1000
RETRIEVAL_FIELDS = frozenset({"query", "relevant", "collection", "weight", *SEARCH_FIELDS})
REVIEW = "review"
VERDICTS = ("pass", "fail")
SELECTORS = ("check_item_id", "rule_id", "topic", "check_type")
TEXTS = ("id", "item", "check_item_id", "topic", "check_type", "collection", "field", "note")
LISTS = ("identifiers", "variants", "related_documents")
REVIEW_FIELDS = frozenset(
    {*TEXTS, *LISTS, "document_id", "path", "version", "rule_id", "expected_verdict", "location", "weight"},
)
MOST_IDENTIFIERS = 2000
SEPARATORS = re.compile(r"[,，、;；\n]")
RANGE = re.compile(r"^(?P<prefix>.*?)(?<!\d)(?P<first>\d++)\s*+[〜～~]\s*+(?P<again>.*?)(?<!\d)(?P<last>\d++)$")
_LONGEST_RANGE = 200
MOST_ROWS = 50_000
ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedCase:
    """A case as it is stored; ``digest`` is the same for the same question, whatever its answer."""

    kind: str
    digest: str
    input: dict[str, Any]
    expected: dict[str, Any]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """A row or line that makes no case: its number from 1, as an editor or Excel shows it, and why."""

    row: int
    reason: str


def read_retrieval_cases(
    lines: Iterable[str], *, check: Callable[[Mapping[str, Any]], object] = lambda _asked: None
) -> tuple[list[ParsedCase], list[BadRow]]:
    """Read cases and the lines that are none, both in order; empty lines don't count.

    ``check`` raises ValueError for an input that can't be searched for.
    """
    cases: list[ParsedCase] = []
    bad: list[BadRow] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = retrieval_case(read_json(line))
            check(case.input)
            cases.append(case)
        except ValueError as error:  # JSONDecodeError is one
            bad.append(BadRow(row=number, reason=str(error)))
    return cases, bad


def retrieval_case(row: Any) -> ParsedCase:  # noqa: ANN401 (whatever JSON holds)
    """Read one case. Raises ValueError saying what is wrong."""
    if not isinstance(row, dict):
        raise ValueError('expected an object like {"query": "…", "relevant": ["設計書.md"]}')
    if unknown := sorted(row.keys() - RETRIEVAL_FIELDS):
        raise ValueError(f"unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(RETRIEVAL_FIELDS))}")
    asked: dict[str, Any] = {"query": text_of(row, "query")}
    if row.get("collection"):
        asked["collection"] = text_of(row, "collection")
    asked |= {name: row[name] for name in SEARCH_FIELDS if row.get(name)}
    relevant = list(_relevant(row.get("relevant")))
    return ParsedCase(
        kind=RETRIEVAL,
        digest=digest_of(asked),
        input=asked,
        expected={"relevant": relevant},
        weight=weight_of(row.get("weight", 1.0)),
    )


def digest_of(question: Mapping[str, Any]) -> str:
    """Name what a case asks, whatever the order of its fields; 64 hex digits."""
    canonical = json.dumps(question, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def text_of(row: Mapping[str, Any], field: str) -> str:
    """Read a field that must hold some text. Raises ValueError naming it."""
    value = row.get(field)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(f"{field}: expected some text")
    return value.strip()


def _relevant(given: object) -> Iterator[dict[str, str]]:
    if not isinstance(given, list) or not given:
        raise ValueError("relevant: expected a list of one document or more")
    for item in given:
        if isinstance(item, str):
            yield {"document": text_of({"relevant": item}, "relevant")}
        elif isinstance(item, dict) and item.keys() <= {"document", "text"}:
            entry = {"document": text_of(item, "document")}
            yield entry | ({"text": text_of(item, "text")} if "text" in item else {})
        else:
            raise ValueError('relevant: expected paths, ids, or {"document": "…", "text": "…"}')


def weight_of(value: object) -> float:
    """Read how much a case counts. Raises ValueError for anything but a number above 0, up to HEAVIEST."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= HEAVIEST:
        raise ValueError(f"weight: expected a number above 0, up to {HEAVIEST}")
    return float(value)


def review_case(row: Any) -> ParsedCase:  # noqa: ANN401 (whatever JSON or a sheet holds)
    """Read one case. Raises ValueError saying what is wrong."""
    if not isinstance(row, dict):
        raise ValueError('expected an object like {"path": "設計書.md", "rule_id": "…", "expected_verdict": "fail"}')
    given = {name: value for name, value in row.items() if value not in (None, "", [])}
    if unknown := sorted(given.keys() - REVIEW_FIELDS):
        raise ValueError(f"unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(REVIEW_FIELDS))}")
    asked: dict[str, Any] = {"document": _document(given)}
    asked |= {name: text_of(given, name) for name in TEXTS if name in given}
    asked |= {name: _texts(given[name], name) for name in LISTS if name in given}
    if "version" in given:
        asked["version"] = _version(given["version"])
    if "rule_id" in given:
        asked["rule_ids"] = _texts(given["rule_id"], "rule_id")
    if "location" in given:
        asked["location"] = text_of(given, "location")
    if not any(name in given for name in SELECTORS):
        raise ValueError(f"name what decides: one of {', '.join(SELECTORS)}")
    if "identifiers" in asked:
        asked["identifiers"] = expand_identifiers(asked["identifiers"])
    weight = weight_of(_number(given.get("weight", 1.0)))
    return ParsedCase(
        kind=REVIEW, digest=_digest(asked), input=asked, expected={"verdict": _verdict(given)}, weight=weight
    )


def _digest(asked: Mapping[str, Any]) -> str:
    """A case with an id of its own is named by it, so that a corrected one replaces the old."""
    if "id" in asked:
        return digest_of({"id": asked["id"], "document": asked["document"]})
    return digest_of({name: value for name, value in asked.items() if name != "note"})


def _document(given: Mapping[str, Any]) -> str:
    if "document_id" in given and "path" in given:
        raise ValueError("give document_id or path, not both")
    if "document_id" in given:
        return text_of(given, "document_id")
    if "path" in given:
        return unicodedata.normalize("NFC", text_of(given, "path"))
    raise ValueError("name the document: document_id or path")


def _verdict(given: Mapping[str, Any]) -> str:
    verdict = given.get("expected_verdict")
    if verdict not in VERDICTS:
        raise ValueError(f"expected_verdict: expected pass or fail, not {verdict!r}")
    return str(verdict)


def _texts(value: object, field: str) -> list[str]:
    """A list of texts; a cell of a sheet holds them with commas between."""
    if isinstance(value, str):
        value = [part.strip() for part in SEPARATORS.split(value) if part.strip()]
    if not isinstance(value, list) or not value:
        raise ValueError(f"{field}: expected a text, or a list of texts")
    return [text_of({field: item}, field) for item in value]


def _version(value: object) -> int:
    number = _number(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number) or number < 1:
        raise ValueError(f"version: expected a version's number, not {value!r}")
    return int(number)


def _number(value: object) -> object:
    """A sheet may hold a number as text."""
    if not isinstance(value, str):
        return value
    try:
        return float(unicodedata.normalize("NFKC", value))
    except ValueError:
        return value


def expand_identifiers(given: list[str]) -> list[str]:
    """Write ranges out.

    >>> expand_identifiers(["FR-008〜FR-010", "C-001"])
    ['FR-008', 'FR-009', 'FR-010', 'C-001']

    :raises ValueError: a range ends before it begins, changes its prefix, or is longer than MOST_IDENTIFIERS.
    """
    found: list[str] = []
    for text in (unicodedata.normalize("NFKC", item) for item in given):
        match = RANGE.match(text) if len(text) <= _LONGEST_RANGE else None
        found += _range(match, text) if match else [text]
    return list(dict.fromkeys(found))


def _range(match: re.Match[str], text: str) -> list[str]:
    first, last, width = int(match["first"]), int(match["last"]), len(match["first"])
    if match["again"] not in ("", match["prefix"]) or not first <= last < first + MOST_IDENTIFIERS:
        raise ValueError(f"identifiers: {text!r} is no range like FR-001〜FR-014")
    return [f"{match['prefix']}{number:0{width}d}" for number in range(first, last + 1)]


class UnreadableCases(ValueError):
    """The file as a whole is none that cases can be read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its number from 1 as an editor or Excel shows it, and what it holds (or why it can't be read)."""

    number: int
    fields: Any
    problem: str = ""


def is_workbook(content: bytes) -> bool:
    """Tell by the first bytes whether a file is to be read as an Excel workbook, into `table_rows`."""
    return content.startswith(ZIP_MAGIC)


def json_rows(content: bytes, *, filename: str) -> list[Row]:
    """Read every row of a JSON or JSON Lines file. Raises UnreadableCases."""
    return _counted(_json_rows(content, filename))


def table_rows(lines: Sequence[Sequence[object]]) -> list[Row]:
    """Number the rows of a sheet, whose first line names the fields; an empty line counts for nothing.

    :raises UnreadableCases: there is no row.
    """
    return _counted(_table_rows(lines))


def _counted(rows: Iterator[Row]) -> list[Row]:
    read = list(islice(rows, MOST_ROWS + 1))  # the rest of a file that is too long is not looked at
    if not read:
        raise UnreadableCases("the file holds no cases")
    if len(read) > MOST_ROWS:
        raise UnreadableCases(f"the file holds more rows than {MOST_ROWS}, which is the most that are read at once")
    return read


def _json_rows(content: bytes, filename: str) -> Iterator[Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableCases(f"{filename} is neither Excel (.xlsx) nor UTF-8 text") from error
    whole = _whole(text)
    if whole is not None:
        yield from (Row(number=number, fields=fields) for number, fields in enumerate(whole, 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield Row(number=number, fields=read_json(line))
        except ValueError as error:
            yield Row(number=number, fields=None, problem=f"no JSON: {error}")


def _whole(text: str) -> list[Any] | None:
    """The rows when the text is one JSON list or {"cases": […]}; None when it is JSON Lines."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value = read_json(text)
    except ValueError:
        return None
    if isinstance(value, dict) and isinstance(value.get("cases"), list):
        return list(value["cases"])
    return value if isinstance(value, list) else None


def _table_rows(lines: Sequence[Sequence[object]]) -> Iterator[Row]:
    names = [str(name).strip() if name is not None else "" for name in (lines[0] if lines else ())]
    for number, line in enumerate(lines[1:], 2):
        fields = {name: _cell(value) for name, value in zip_longest(names, line[: len(names)]) if name}
        if any(value is not None for value in fields.values()):
            yield Row(number=number, fields=fields)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value.strip() or None
    return value
