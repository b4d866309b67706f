"""A real document with defects planted in it, as a strong model reads it.

The document is デジタル庁 DS-430 コアデータモデル全体概要 (2022), from the test data. What is planted are
statements that can't be true beside others of the document, and a promise that it does not keep.
"""

from __future__ import annotations

import os
from pathlib import Path

DOCUMENT = "documents/430_core_datamodel_overview.md"
PLANTED = {
    "required_items": (
        "個人のコアデータモデルではIDの他、氏名と氏名のカナ表記、性別、連絡先を必須項目としています。",
        "個人のコアデータモデルではIDの他、氏名と氏名のカナ表記、連絡先を必須項目とし、性別は任意項目としています。",
    ),
    "country_codes": (
        "種別関連情報にはコードの値の他、コードが示す値そのものを入力することもできます。",
        "種別関連情報にはコードの値の他、コードが示す値そのものを入力することもできます。"
        "国を表すコードはISO 3166-1 alpha-2（日本ならば「JP」）で記述します。",
    ),
    "document_groups": (
        "全体を説明する本書とは別に３つの大きなドキュメント群で構成されます。",
        "全体を説明する本書とは別に４つの大きなドキュメント群で構成されます。",
    ),
    "sex_codes": (
        ' { "種別": "性別コード", "種別関連情報": "1" }\n```\n\n または',
        ' { "種別": "性別コード", "種別関連情報": "2" }\n```\n\n この例は男性を表します。または',
    ),
    "conversion_rules": (
        "コンバーター等を介してコアデータパーツの記述形式と揃えることで、相互運用性を高めることができます。",
        "コンバーター等を介してコアデータパーツの記述形式と揃えることで、相互運用性を高めることができます。"
        "旧形式からの変換規則の一覧は5章の付録に示します。",
    ),
}


def strong_text() -> str | None:
    """The document with its defects; None where the test data is not at hand."""
    path = Path(os.environ.get("HUB_TEST_DATA", "")) / DOCUMENT
    if not os.environ.get("HUB_TEST_DATA") or not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    for before, after in PLANTED.values():
        assert before in text
        text = text.replace(before, after)
    return text
