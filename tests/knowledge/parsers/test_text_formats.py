"""Markdown, plain text, CSV and HTML, on the sample files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from knowledge.parsers.errors import ParseError
from knowledge.parsers.html.parser import html_as_markdown
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.pictures import PictureIntake
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts


def test_markdown_is_stored_as_it_was_written(samples: Path, parse: Parse) -> None:
    document = parse(samples / "library_design.md")

    assert document.markdown == (samples / "library_design.md").read_text(encoding="utf-8")
    assert_valid(document)


def test_markdown_headings_are_found_and_code_comments_are_not(samples: Path, parse: Parse) -> None:
    document = parse(samples / "library_design.md")

    sections = build_sections(document.markdown, document.blocks)

    assert [(section.level, section.title) for section in sections] == [
        (1, "図書館予約システム"),
        (2, "目次"),
        (2, "1. 目的"),
        (2, "システムの範囲"),
        (2, "2. システム構成"),
        (3, "2.1 サーバ"),
        (2, "3. 機能要件"),
        (2, "4. 非機能要件"),
    ]


def test_markdown_title_comes_from_the_front_matter(samples: Path, parse: Parse) -> None:
    document = parse(samples / "library_design.md")

    assert document.title == "図書館予約システム 基本設計書"
    assert texts(document, BlockKind.FRONT_MATTER)[0].startswith("---\ntitle:")


def test_markdown_tables_figures_captions_and_code_have_their_kinds(samples: Path, parse: Parse) -> None:
    document = parse(samples / "library_design.md")

    assert texts(document, BlockKind.CAPTION) == ["図1 システム構成図", "表1 機能一覧"]
    assert texts(document, BlockKind.FIGURE) == ["![構成図](images/architecture.png)"]
    assert [text.split("\n")[0] for text in texts(document, BlockKind.TABLE)] == ["| ID | 機能 | 説明 |"]
    assert [text.split("\n")[0] for text in texts(document, BlockKind.CODE)] == [
        "```mermaid",
        "# これも見出しではない",
    ]


def test_markdown_comments_are_no_blocks(samples: Path, parse: Parse) -> None:
    assert not any("下書き" in text for text in texts(parse(samples / "library_design.md")))


@pytest.mark.parametrize("source", ["---\n本文だけ\n", "--- \n\n# 見出し\n", "---"])
def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path, parse: Parse, source: str) -> None:
    (tmp_path / "a.md").write_text(source, encoding="utf-8")

    assert not texts(parse(tmp_path / "a.md"), BlockKind.FRONT_MATTER)


def test_a_markdown_title_without_front_matter_is_its_first_top_heading(tmp_path: Path, parse: Parse) -> None:
    (tmp_path / "a.md").write_text("## 前書き\n\n# **設計書** [A](#a) <!-- omit in toc -->\n", encoding="utf-8")

    assert parse(tmp_path / "a.md").title == "設計書 A"


def test_text_headings_need_a_clear_number(samples: Path, parse: Parse) -> None:
    document = parse(samples / "minutes.txt")

    sections = build_sections(document.markdown, document.blocks)

    assert_valid(document)
    assert [(section.level, section.number, section.title) for section in sections] == [
        (1, "1", "第１章 はじめに"),
        (2, "1.1", "１．１ 目的"),
        (2, "1.2", "1.2 対象範囲"),
        (1, "2", "第２章 課題"),
    ]


def test_numbered_items_of_a_text_are_a_list(samples: Path, parse: Parse) -> None:
    lists = texts(parse(samples / "minutes.txt"), BlockKind.LIST)

    assert [text.split("\n")[0] for text in lists] == ["1. 予約上限を10冊とする。", "(1) 端末の老朽化"]


def test_a_legacy_text_is_decoded_and_its_encoding_named(samples: Path, tmp_path: Path, parse: Parse) -> None:
    text = (samples / "minutes.txt").read_text(encoding="utf-8")
    (tmp_path / "a.txt").write_bytes(text.replace("\n", "\r\n").encode("cp932"))

    document = parse(tmp_path / "a.txt")

    assert document.markdown == text
    assert document.metadata["encoding"] == "cp932"


def test_csv_becomes_one_table_with_escaped_cells(samples: Path, parse: Parse) -> None:
    document = parse(samples / "books.csv")

    assert document.markdown == (
        "| 資料番号 | 書名 | 備考 |\n"
        "| --- | --- | --- |\n"
        "| 1001 | 坊っちゃん, 新装版 | 著者: 夏目漱石<br>貸出中 |\n"
        "| 1002 | 山月記 | A\\|B 両棚 |\n"
        "| 1003 | 雪国 |  |\n"
    )
    assert [(block.kind, block.cell) for block in document.blocks] == [(BlockKind.TABLE, "A1:C4")]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_the_delimiter_of_a_table_file_is_found(tmp_path: Path, parse: Parse, name: str, mark: str) -> None:
    (tmp_path / name).write_text(f"番号{mark}名称\n1{mark}甲, 乙\n2{mark}丙, 丁\n", encoding="utf-8")

    assert parse(tmp_path / name).markdown.startswith("| 番号 | 名称 |")


def test_a_csv_with_too_many_cells_is_refused(tmp_path: Path, parse: Parse) -> None:
    (tmp_path / "a.csv").write_text("甲,乙\n" * 10, encoding="utf-8")

    with pytest.raises(ParseError) as caught:
        parse(tmp_path / "a.csv", max_cells=10)
    assert caught.value.code == "too_many_cells"


def test_html_is_read_as_a_reader_sees_it(samples: Path, parse: Parse) -> None:
    document = parse(samples / "reservation.html")

    assert_valid(document)
    assert document.title == "予約の手引き"
    assert texts(document) == [
        "# 予約の手引き",
        "図書館の資料は、窓口または画面から予約できます。\n電話では受け付けません。",
        "## 1. 手順",
        "1. 利用者カードでログインする。\n2. 資料を選ぶ。\n  - 図書\n  - 視聴覚資料",
        "## 2. 上限",
        "表1 予約の上限",
        "| 区分 | 点数 | 期間 |\n| --- | --- | --- |\n| 図書 | 10\\|点 | 7日 |\n|  | 雑誌は<br>3点 | 3日 |",
        "```\n予約番号\n  R-0001\n```",
        "![利用者カード](card.png)",
        "図1 利用者カード",
    ]


def test_html_in_a_declared_legacy_encoding_is_read(tmp_path: Path, parse: Parse) -> None:
    page = '<html><head><meta charset="EUC-JP"></head><body><p>表</p></body></html>'
    (tmp_path / "a.html").write_bytes(page.encode("euc_jp"))

    assert parse(tmp_path / "a.html").markdown == "表\n"


def test_rendering_is_deterministic(samples: Path, parse: Parse) -> None:
    assert parse(samples / "reservation.html") == parse(samples / "reservation.html")


def test_markdown_footnotes_are_text(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "設計書.md"
    path.write_text("本文[^1]である。\n\n[^1]: 電話を除く。\n", encoding="utf-8")

    assert texts(parse(path)) == ["本文[^1]である。", "[^1]: 電話を除く。"]


def test_the_title_of_a_csv_file_stands_above_its_table(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "一覧.csv"
    path.write_text("予約一覧,,\n出力日,2024/4/1,\n,,\nID,名称,件数\n1,予約,10\n,,\n2,取消,3\n", encoding="cp932")

    document = parse(path)

    assert texts(document)[:2] == ["予約一覧", "出力日 2024/4/1"]
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert (table.cell, table.rows) == ("A4:C7", "4-5,7")


def test_a_head_of_two_rows_in_html_becomes_one_of_full_names(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "手数料.html"
    path.write_text(
        "<table><tr><th rowspan=2>区分<th colspan=2>手数料</tr><tr><th>窓口<th>郵送</tr>"
        "<tr><td rowspan=2>証明<td>300円<td>400円</tr><tr><td>200円<td>250円</tr></table>",
        encoding="utf-8",
    )

    assert parse(path).markdown == (
        "| 区分 | 手数料 / 窓口 | 手数料 / 郵送 |\n| --- | --- | --- |\n"
        "| 証明 | 300円 | 400円 |\n|  | 200円 | 250円 |\n"
    )


HTML_TABLE = """# 権限

下表のとおりとする。
<table align="center">
  <thead><tr><th rowspan="2">機能</th><th colspan="2">権限</th></tr>

  <tr><th>職員</th><th>市民</th></tr></thead>
  <tr><td>申請 <b>登録</b></td><td>○</td><td>a|b</td></tr>
</table>
続きの文。

```
<table><tr><td>例</td></tr></table>
```
"""


def test_a_table_in_html_inside_markdown_is_a_table(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "権限.md"
    path.write_text(HTML_TABLE, encoding="utf-8")
    document = parse(path)
    texts = [(block.kind, document.markdown[block.start : block.end]) for block in document.blocks]
    assert texts == [
        (BlockKind.HEADING, "# 権限"),
        (BlockKind.PARAGRAPH, "下表のとおりとする。"),
        (
            BlockKind.TABLE,
            "| 機能 | 権限 / 職員 | 権限 / 市民 |\n| --- | --- | --- |\n| 申請 登録 | ○ | a\\|b |",
        ),
        (BlockKind.PARAGRAPH, "続きの文。"),
        (BlockKind.CODE, "```\n<table><tr><td>例</td></tr></table>\n```"),
    ]


def test_pictures_and_unclosed_tables_in_html_inside_markdown_stay(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "画面.md"
    path.write_text(
        '<table><tr><th>画面</th><td><img src="a.png" alt="受付"></td></tr></table>\n\n<table>\n', encoding="utf-8"
    )
    assert parse(path).markdown == "| 画面 | ![受付](a.png) |\n| --- | --- |\n\n<table>\n"


def test_cells_that_reach_over_others_count_as_all_the_places_they_take(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "表.html"
    reaching = "<tr>" + '<td rowspan="1000">甲</td>' * 1500 + "</tr>"
    path.write_text(f"<table>{reaching}</table>", encoding="utf-8")
    assert parse(path).markdown.count("甲") == 1500  # no row is there to reach over
    path.write_text(f"<table>{reaching}{'<tr></tr>' * 999}</table>", encoding="utf-8")
    with pytest.raises(ParseError, match="too_many_cells"):
        parse(path)


def test_pictures_in_a_table_of_html_take_no_more_than_linear_time() -> None:
    limits = ParseLimits()

    def spent(count: int) -> float:
        text = "<table><tr><td>" + '<img src="a.png" alt="図">' * count + "</td></tr></table>"
        best = float("inf")
        for _try in range(2):
            begun = time.process_time()
            assert html_as_markdown(text, PictureIntake(limits), CellCount(limits)).count("![図](a.png)") == count
            best = min(best, time.process_time() - begun)
        return best

    assert spent(8_000) < 3 * spent(4_000)
