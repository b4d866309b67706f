"""A heading without its number: what a message shows, and what the heading names."""

from __future__ import annotations

import pytest

from knowledge.text.outline import bare_title, unnumbered_title


@pytest.mark.parametrize(
    ("title", "shown", "named"),
    [
        ("第3章 機能要件", "機能要件", "機能要件"),
        ("**第三章** 機能要件", "機能要件", "機能要件"),
        ("1.2 目的", "目的", "目的"),
        ("１－２．範囲", "範囲", "範囲"),
        ("3) 体制", "体制", "体制"),
        ("", "", ""),
        ("第3章", "第3章", "第3章"),
        # Brackets, letters and list marks: a message keeps them, a name is without.
        ("1 機能要件（案）", "機能要件(案)", "機能要件"),
        ("【目的】", "【目的】", "目的"),
        ("A. 準備", "A. 準備", "準備"),
        ("■ 体制", "■ 体制", "体制"),
        ("(ア) 対象", "(ア) 対象", "対象"),
        ("別紙1 用語集", "別紙1 用語集", "用語集"),
        ("第2編 第1章 概要", "第1章 概要", "概要"),
        # A number that belongs to the word stays in a name.
        ("3D表示", "D表示", "3D表示"),
    ],
)
def test_a_heading_without_its_number(title: str, shown: str, named: str) -> None:
    assert (unnumbered_title(title), bare_title(title)) == (shown, named)
