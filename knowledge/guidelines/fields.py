"""The names by which files call the fields of an article, and reading a field's text."""

from __future__ import annotations

from collections.abc import Mapping

from knowledge.guidelines.drafts import ArticleDraft, read_element, split_list
from knowledge.text.folding import fold_name, normalise

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
