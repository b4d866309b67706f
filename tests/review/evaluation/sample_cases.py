"""The shipped sample document, and what people would say of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[3] / "knowledge" / "data" / "sample" / "基本設計書_図書予約システム.md"
UNDEFINED = {
    "path": SAMPLE.name,
    "rule_id": "traceability.undefined_reference",
    "item": "FR-006 の定義",
    "expected_verdict": "fail",
    "identifiers": ["FR-006"],
}
CASES: list[dict[str, Any]] = [
    UNDEFINED,
    UNDEFINED | {"item": "FR-001 の定義", "expected_verdict": "pass", "identifiers": ["FR-001"]},
    {"path": SAMPLE.name, "rule_id": "document.version_mismatch", "item": "誤った期待", "expected_verdict": "pass"},
    {"path": SAMPLE.name, "check_item_id": "BD-C01", "item": "項", "expected_verdict": "pass", "variants": ["あ"]},
    {"path": "無い文書.md", "topic": "purpose", "item": "目的", "expected_verdict": "pass"},
]  # fmt: skip
