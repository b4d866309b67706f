"""Quotes in one line, without what Markdown marks them with; what is the author's own stays."""

from __future__ import annotations

import pytest

from knowledge.text.quotes import in_one_line


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("## 3.2 性能要件", "3.2 性能要件"),
        ("- **応答時間**は 3 秒以内", "応答時間は 3 秒以内"),
        ("| 画面 | **備考** |\n| --- | :-: |\n| 検索 |  |\n", "画面 / 備考 検索"),
        ("| 夜間バッチ | 毎日<br>2 時 |", "夜間バッチ / 毎日 2 時"),
        ("一行目\n二行目", "一行目 二行目"),
        ("a\\|b と \\*注", "a|b と *注"),
        ("2**3 と * と ` は記号", "2**3 と * と ` は記号"),
        ("", ""),
    ],
)
def test_a_quote_is_read_without_signs(stored, shown):
    assert in_one_line(stored) == shown
