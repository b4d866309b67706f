"""Guessing what kind of document a text is, from its title, its file's name and its first headings. Pure.

A title names its kind last (要件定義に基づく基本設計書 is a design), and what is about a document of a kind is none of
it (基本設計書レビュー記録). Nothing is said where no name of a kind is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from knowledge.text.folding import fold_compact

# What people call the shipped kinds, beside the names that the kinds' rows have.
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "basic_design": (
        *("基本設計", "外部設計", "概要設計", "方式設計", "基本仕様書"),
        *("basic design", "high-level design", "external design", "architecture design"),
    ),
    "detailed_design": (
        *("詳細設計", "内部設計", "プログラム設計", "モジュール設計", "詳細仕様書"),
        *("detailed design", "low-level design", "internal design"),
    ),
    "requirements": (
        *("要件定義", "要求仕様", "要件仕様", "要求定義", "要件書"),
        *("requirements definition", "requirement definition", "requirements specification", "requirements document"),
    ),
    "test_plan": (
        *("テスト計画", "試験計画", "検証計画", "テスト実施計画", "試験実施計画"),
        *("test plan", "verification plan"),
    ),
    "guideline": ("ガイドライン", "ガイドブック", "指針", "guideline", "guidebook", "guidelines"),
}
MOST_HEADINGS = 3
# Between brackets a title says what else there is, or for which system; 【基本設計書】 is the title itself.
_ASIDE = re.compile(r"\([^()]*\)|〔[^〔〕]*〕|\[[^\[\]]*\]")
# A document about one of a kind: when this follows the kind's name, the kind is another. SmartReviewer is a system.
_ABOUT_IT = re.compile(
    r"レビュー|議事|記録|報告|一覧|チェックリスト|指摘|管理表|見積|契約|進捗|説明|変更点|差分|概要版|対応表|作成要領|"
    r"作成手順|雛形|ひな形|ひな型|テンプレート|様式|サンプル|への|に関する|"
    r"(?<![a-z])(?:review(?!er)|minutes|report|checklist|template|sample|summaryof)"
)


def guess_kind(
    title: str, filename: str, headings: Iterable[str], names: Mapping[str, Iterable[str]] | None = None
) -> str | None:
    """Give the code of the kind that the title names, or else the file's name, or else a first heading; or None.

    ``names`` are more names by code, of kinds that are no shipped ones too.
    """
    known = _known(names or {})
    for text in (title, PurePath(filename).stem, *list(headings)[:MOST_HEADINGS]):
        if found := _named(text, known):
            return found
    return None


def _known(names: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """Folded names with their codes."""
    both = [(name, code) for source in (OTHER_NAMES, names) for code, given in source.items() for name in given]
    return [(folded, code) for name, code in both if (folded := fold_compact(name))]


def _named(text: str, known: Iterable[tuple[str, str]]) -> str | None:
    """The kind whose name ends last in a text, the longer name of two that end there."""
    folded = _ASIDE.sub("", fold_compact(text).replace("_", ""))
    found = [(at + len(name), len(name), code) for name, code in known if (at := folded.rfind(name)) >= 0]
    if not found:
        return None
    end, _length, code = max(found)
    return None if _ABOUT_IT.search(folded[end:]) else code
