"""A list of judged statements about documents, turned into review cases. Pure.

A row says ``{"id", "document", "check_type", "item", "expected", "location", "line", "confidence", "note"}`` in a
reader's words: ``NFR-001``, ``サーバー／サーバ``, ``FR-001〜FR-014 の欠番``. What decides it is known by its kind
and wording; a row whose wording tells nothing names its kind only, which nothing decides: it counts as a miss.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hub.evaluation.cases import BadRow, Row

# The contract's codes; required_section rows of a document are in this order.
DESIGN_TOPICS = (
    "purpose", "scope", "system_architecture", "functional_requirements", "nfr_performance", "nfr_availability",
    "nfr_security", "nfr_maintainability", "nfr_migration", "nfr_operation", "data_design", "interface_design",
    "glossary", "test_policy", "change_history",
)  # fmt: skip
TEST_PLAN_TOPICS = (
    "tp_purpose", "tp_scope", "tp_levels", "tp_environment", "tp_data", "tp_organisation", "tp_schedule",
    "tp_entry_criteria", "tp_exit_criteria", "tp_defect_management", "tp_risk", "tp_glossary", "tp_change_history",
    "tp_tools", "tp_references",
)  # fmt: skip
TEST_PLAN_WORDS = re.compile(r"テスト(?:環境|データ|レベル|範囲|ツール)|(?:開始|終了|合格)基準|不具合")
FIELDS = ("document", "check_type", "item", "expected")
REQUIRED_SECTION = "required_section"
LOW = "low"
# FR-001, REQ-POC-001, REQ_01, NFR.1.2, UC01, 要件-3, 機1-2
PREFIX = (
    r"(?:[A-Z]{1,6}(?:[-_][A-Z]{1,6}){0,2}(?:[-_.](?:\d{1,3}[-_.])*|(?=\d{2})(?:\d{2,3}[-_](?=\d))?)"
    r"|[一-龯ァ-ヴー]{1,6}(?:\d{1,3})?[-_](?=\d))"
)
IDENTIFIER = re.compile(rf"(?<![A-Za-z]){PREFIX}\d{{1,5}}(?:\s*[〜～]\s*(?:{PREFIX})?\d{{1,5}})?")
QUOTED = re.compile(r"「([^」]{1,300}+)」")
EXPLAINED = re.compile(r"(?<![A-Za-z0-9])([A-Z][A-Z0-9]{1,9})\s*の(?:定義|説明)")
DOCUMENT_NAME = re.compile(r"(?<![A-Za-z0-9])D\d+(?![A-Za-z0-9])")

DEFINED_AND_USED = ["traceability.undefined_reference", "traceability.unreferenced_definition"]
# What a row is about, by kind and the words of its item; the first that fits.
RULES: tuple[tuple[str, str, list[str]], ...] = (
    ("terminology", r"[／/]", ["terminology.variant"]),
    ("terminology", r"略語|略称|[A-Z]{2}\s*の(?:定義|説明)", ["terminology.undefined_abbreviation"]),
    ("traceability", r"要件(?:ID)?への対応", ["traceability.no_upstream_reference"]),
    ("traceability", r"欠番|重複", ["traceability.duplicate_definition", "traceability.numbering_gap"]),
    ("traceability", r"一致|整合", ["traceability.inconsistent_mapping"]),
    ("traceability", r"未定義", ["traceability.undefined_reference"]),
    ("traceability", r"", DEFINED_AND_USED),
    ("coverage", r"版数|バージョン", ["document.version_mismatch"]),
    ("coverage", r"受入(?:れ)?(?:基準|条件)", ["consistency.missing_field"]),
    ("coverage", r"数値目標|数値", ["wording.unquantified_requirement", "wording.ambiguous"]),
    ("consistency", r"総数|合計|件数", ["consistency.total_mismatch", "consistency.conflicting_value"]),
    ("consistency", r"日付|更新日|期日|日程", ["consistency.date_order", "document.version_mismatch"]),
    ("consistency", r"", ["consistency.conflicting_value"]),
    ("style", r"曖昧|あいまい", ["wording.ambiguous"]),
    ("structure", r"章にまとま|散在|分散", ["structure.scattered_requirements"]),
    ("structure", r"[図表]\d*の?(?:参照|番号)|図表", ["figure.undefined_reference", "figure.numbering"]),
    ("structure", r"目次", ["structure.toc_mismatch"]),
    ("structure", r"番号|章番号", ["structure.duplicate_number", "structure.number_order"]),
)


def is_gold_row(row: object) -> bool:
    """Tell rows of this format from review cases."""
    return isinstance(row, dict) and all(name in row for name in FIELDS)


def to_cases(rows: Sequence[Row]) -> tuple[list[Row], list[BadRow]]:
    """Turn rows into those of review cases, leaving out those of low confidence, and say which are left out."""
    topics = _topics(rows)
    documents = sorted({str(row.fields["document"]) for row in rows})
    cases, skipped = [], []
    for row in rows:
        if row.fields.get("confidence") == LOW:
            skipped.append(BadRow(row=row.number, reason="confidence is low"))
        elif row.fields["check_type"] == REQUIRED_SECTION and row.number not in topics:
            skipped.append(BadRow(row=row.number, reason="more required sections than the contract has topics"))
        else:
            cases.append(Row(number=row.number, fields=_case(row.fields, topics.get(row.number), documents)))
    return cases, skipped


def _topics(rows: Sequence[Row]) -> dict[int, str]:
    """The topic code of each required_section row, by the row's number. Rows of low confidence keep their place."""
    of_document: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.fields["check_type"] == REQUIRED_SECTION:
            of_document[str(row.fields["document"])].append(row)
    found: dict[int, str] = {}
    for required in of_document.values():
        words = sum(bool(TEST_PLAN_WORDS.search(str(row.fields["item"]))) for row in required)
        codes = TEST_PLAN_TOPICS if words > 1 else DESIGN_TOPICS
        found |= dict(zip((row.number for row in required), codes, strict=False))
    return found


def _case(row: Mapping[str, Any], topic: str | None, documents: Sequence[str]) -> dict[str, Any]:
    case = {
        "path": row["document"],
        "check_type": row["check_type"],
        "item": row["item"],
        "expected_verdict": row["expected"],
        **{name: row[name] for name in ("id", "location", "note", "weight") if row.get(name)},
    }
    if topic:
        return case | {"topic": topic}
    case |= _decided_by(str(row["check_type"]), str(row["item"]))
    if others := list(_related(row, documents)):
        case["related_documents"] = others
    return case


def _decided_by(check_type: str, item: str) -> dict[str, Any]:
    """The rules that decide a row, and what its finding must be about."""
    rules = next((rules for kind, words, rules in RULES if kind == check_type and re.search(words, item)), None)
    facts: dict[str, Any] = {"rule_id": rules} if rules else {}
    if check_type == "terminology" and rules == ["terminology.variant"]:
        return facts | {"variants": [form.strip() for form in re.split(r"[／/]", item) if form.strip()]}
    if check_type == "coverage" and rules == ["document.version_mismatch"]:
        return facts | {"field": "version"}
    if check_type == "terminology" and (words := EXPLAINED.findall(item)):
        return facts | {"variants": words}
    if identifiers := [match.group() for match in IDENTIFIER.finditer(item)]:
        return facts | {"identifiers": identifiers}
    if words := QUOTED.findall(item):
        return facts | {"variants": [word.rstrip("な") or word for word in words]}
    return facts


def _related(row: Mapping[str, Any], documents: Sequence[str]) -> Iterator[str]:
    """Other documents of the list that a row's note names by the short name before the underscore: ``D2``."""
    for short in dict.fromkeys(DOCUMENT_NAME.findall(str(row.get("note", "")))):
        yield from (name for name in documents if name.startswith(f"{short}_") and name != row["document"])
