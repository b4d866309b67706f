"""Which lines of two texts belong together, which words of them changed, and how the work grows."""

from __future__ import annotations

import time

import pytest

from knowledge.text.line_differences import Line, LineChange, LinePair, compare_lines

OLD = """# 基本設計書

## 1. 目的
本書は、受発注システムの基本設計を定める。

## 2. 性能
画面の応答時間は通常時3秒以内とする。
同時に200人が利用できること。

| 項目 | 値 |
|---|---|
| 保存期間 | 5年 |
"""
NEW = """# 基本設計書

## 1. 目的
本書は、受発注システムの基本設計を定める。

## 2. 性能
画面の応答期間は通常時2秒以内とする。
利用者の認証には多要素認証を用いる。

| 項目 | 値 |
|---|---|
| 保存期間 | 7年 |
"""


def test_rules_below_the_heads_of_tables_are_no_lines() -> None:
    pairs = compare_lines(
        "| 項目 | 値 |\n|---|---|\n| 保存 | 5年 |\n---", "| 項目 | 値 |\n| :-- | --: |\n| 保存 | 5年 |\n|-"
    )
    assert [pair.new.text for pair in pairs if pair.new] == ["| 項目 | 値 |", "| 保存 | 5年 |", "|-"]
    assert [pair.old.text for pair in pairs if pair.old] == ["| 項目 | 値 |", "| 保存 | 5年 |", "---"]


def marked(line: Line | None) -> list[str]:
    assert line is not None
    return [line.text[start:end] for start, end in line.marks]


def changes_of(pairs: list[LinePair]) -> list[tuple[LineChange, str, str]]:
    return [
        (pair.change, pair.old.text if pair.old else "", pair.new.text if pair.new else "")
        for pair in pairs
        if pair.change is not LineChange.SAME
    ]


def test_changed_lines_stand_beside_each_other_and_new_and_old_ones_alone() -> None:
    pairs = compare_lines(OLD, NEW)
    assert changes_of(pairs) == [
        (LineChange.CHANGED, "画面の応答時間は通常時3秒以内とする。", "画面の応答期間は通常時2秒以内とする。"),
        (LineChange.REMOVED, "同時に200人が利用できること。", ""),
        (LineChange.ADDED, "", "利用者の認証には多要素認証を用いる。"),
        (LineChange.CHANGED, "| 保存期間 | 5年 |", "| 保存期間 | 7年 |"),
    ]
    assert sum(pair.change is LineChange.SAME for pair in pairs) == 5


def test_the_words_that_changed_are_marked_as_words() -> None:
    changed = [pair for pair in compare_lines(OLD, NEW) if pair.change is LineChange.CHANGED]
    assert [marked(pair.old) for pair in changed] == [["応答時間", "3"], ["5"]]
    assert [marked(pair.new) for pair in changed] == [["応答期間", "2"], ["7"]]


def test_lines_stand_where_they_do_in_their_text() -> None:
    for pair in compare_lines(OLD, NEW):
        for line, text in ((pair.old, OLD), (pair.new, NEW)):
            assert line is None or text[line.start : line.end] == line.text


@pytest.mark.parametrize(
    ("old", "new"), [("", ""), ("", "目的"), ("目的", ""), ("\n\n", "\n目的\n\n"), ("あ\nあ", "あ")]
)
def test_every_line_of_both_is_shown_once_and_in_order(old: str, new: str) -> None:
    pairs = compare_lines(old, new)
    assert [pair.old.text for pair in pairs if pair.old] == old.split()
    assert [pair.new.text for pair in pairs if pair.new] == new.split()


def test_a_section_that_moved_is_taken_out_and_put_in_and_the_rest_stays() -> None:
    lines = [f"第{number}条 規定{number}" for number in range(60)]
    moved = [*lines[10:20], *lines[:10], *lines[20:]]
    pairs = compare_lines("\n".join(lines), "\n".join(moved))
    assert sum(pair.change is LineChange.SAME for pair in pairs) == 50


def pages(count: int, form: str) -> str:
    return "\n".join(form.format(number, number // 7) for number in range(count * 40))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("要件{0}は{1}秒以内とする。", "要件{0}は{1}分以内とする。"),  # every line changed, none the same
        ("| 項目 | 値 |", "| 項目 | 値 | 備考 |"),  # one line over and over
        ("行{0}", "行{0}\n\n| - | - |"),  # one line put in everywhere
        ("同じ行\n第{1}節", "第{1}節\n同じ行"),
    ],
)
def test_the_work_grows_with_the_length_of_the_texts(old: str, new: str) -> None:
    took = []
    for count in (75, 300):
        texts = pages(count, old), pages(count, new)
        tries = []
        for _try in range(3):
            started = time.process_time()
            compare_lines(*texts)
            tries.append(time.process_time() - started)
        took.append(min(tries))
    assert took[1] < 4 * 2 * took[0] + 0.05


def test_long_lines_beside_many_short_ones_take_no_more_than_their_length() -> None:
    took = []
    for count in (500, 2000):
        short = "\n".join(f"あ{number}いうえ" for number in range(count))
        long = "\n".join(f"か{number}" * count for number in range(4))
        tries = []
        for _try in range(3):
            started = time.process_time()
            compare_lines(short, long)
            tries.append(time.process_time() - started)
        took.append(min(tries))
    assert took[1] < 4 * 2 * took[0] + 0.05


def test_of_lines_whose_few_words_recur_over_and_over_nothing_is_compared() -> None:
    old, new = "、。" * 100, "。、、" * 60
    (pair,) = compare_lines(old, new)
    assert (marked(pair.old), marked(pair.new)) == ([old], [new])
