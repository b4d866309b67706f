"""The columns of a check master's table: their names in both languages, and the words that choices go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import TextChoices
from django.utils import translation

from hub.core.languages import shown
from hub.core.texts import Text
from knowledge.text.folding import fold_compact
from review.masters.content import LIST_CRITERIA, TEXT_CRITERIA
from review.models import CheckType, Priority, Strategy

CHOICES: Mapping[str, type[TextChoices]] = {"check_type": CheckType, "strategy": Strategy, "priority": Priority}
LANGUAGES = ("ja", "en")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Text):
    """``width`` is in characters of the spreadsheet."""

    field: str
    width: int

    @property
    def title(self) -> str:
        """The header in the running language."""
        return shown(self)


def _column(field: str, ja: str, en: str, width: int) -> Column:
    return Column(field=field, ja=ja, en=en, width=width)


COLUMNS = (
    _column("code", "項目コード", "Code", 11),
    _column("category", "分類", "Category", 16),
    _column("name_ja", "名称（日本語）", "Name (ja)", 22),
    _column("name_en", "名称（英語）", "Name (en)", 22),
    _column("description_ja", "確認内容（日本語）", "Description (ja)", 44),
    _column("description_en", "確認内容（英語）", "Description (en)", 34),
    _column("check_type", "種別", "Type", 12),
    _column("priority", "優先度", "Priority", 10),
    _column("guideline_reference", "根拠ガイドライン", "Guideline", 30),
    _column("rules", "規則", "Rules", 44),
    _column("required_elements", "必須要素", "Required elements", 34),
    _column("patterns", "パターン", "Patterns", 30),
    _column("terms", "用語の組", "Term pairs", 26),
    _column("strategy", "方式", "Strategy", 12),
    _column("prompt", "指示文（言語モデル用）", "Prompt (language model)", 44),
    _column("expected_format", "回答形式（言語モデル用）", "Expected format (language model)", 30),
    _column("rubric", "判定基準（言語モデル用）", "Rubric (language model)", 40),
    _column("threshold", "しきい値", "Threshold", 10),
)
NEEDED = frozenset({"code", "name_ja"})
CRITERIA_COLUMNS = frozenset((*LIST_CRITERIA, *TEXT_CRITERIA, "threshold"))


@lru_cache(maxsize=1)
def _fields() -> Mapping[str, str]:
    return {fold_compact(name): each.field for each in COLUMNS for name in (each.field, each.ja, each.en)}


def field_named(header: str) -> str | None:
    """Return the field that a header cell means, in either language; None when it is none of ours."""
    return _fields().get(fold_compact(header))


def label_of(field: str, code: str) -> str:
    """Return the word for a choice in the running language."""
    return str(dict(CHOICES[field].choices).get(code, code))


def code_of(field: str, word: str) -> str | None:
    """Return the choice that a word means in either language, or by its code."""
    for language in LANGUAGES:
        with translation.override(language):
            for code, label in CHOICES[field].choices:
                if fold_compact(word) in (fold_compact(code), fold_compact(str(label))):
                    return str(code)
    return None


def title_of(field: str) -> str:
    """Return a field's header in the running language; fields of no column by their own name."""
    bare = field.removeprefix("criteria.")
    return next((each.title for each in COLUMNS if each.field == bare), bare)
