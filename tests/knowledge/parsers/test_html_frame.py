"""Pages of Japanese sites: what frames a page is left out and told of, and what the page says never is."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.types.documents import ParsedDocument
from tests.knowledge.parsers.conftest import Parse

NEW = """<!DOCTYPE html><html lang="ja">
<head><meta charset="utf-8"><title>粗大ごみの出し方｜みどり市公式サイト</title></head>
<body>
<p class="skip"><a href="#main">本文へ移動</a></p>
<div id="cookie-banner"><p>当サイトでは利便性の向上のためCookieを使用します。</p><button>同意する</button></div>
<header><h1><a href="/">みどり市</a></h1><p>水と緑のまち</p>
<form role="search"><label>サイト内検索 <input type="text"></label><button>検索</button></form>
<nav aria-label="グローバルナビ"><ul><li>
<a href="/a">くらし・手続き</a></li><li><a href="/b">子育て・教育</a></li></ul></nav></header>
<nav aria-label="パンくずリスト"><ol>
<li><a href="/">トップ</a></li><li><a href="/a">くらし</a></li><li>粗大ごみの出し方</li></ol></nav>
<main id="main"><article><header><h1>粗大ごみの出し方</h1><p>更新日：2026年4月1日</p></header>
<nav><ul><li><a href="#s1">申し込み</a></li><li><a href="#s2">手数料</a></li></ul></nav>
<h2 id="s1">申し込み</h2><p>粗大ごみは電話で申し込んでください。</p>
<aside><p>引っ越しの時期は混み合います。</p></aside>
<table><tr><th>品目</th><th>手数料</th></tr><tr><td>自転車</td><td>500円</td></tr></table>
<footer><p>この記事に関するお問い合わせ先　環境課 ごみ減量係</p></footer></article></main>
<aside class="sidebar"><h2>関連メニュー</h2><ul>
<li><a href="/c">資源ごみの収集日</a></li><li><a href="/d">不燃ごみの分け方</a></li></ul></aside>
<footer><p><a href="#top">ページの先頭へ戻る</a></p><address>
みどり市役所 〒000-0000 みどり市中央1-1 電話 000-000-0000
開庁時間 8時30分から17時15分まで</address>
<ul><li><a href="/p">個人情報の取り扱い</a></li></ul><small>Copyright Midori City</small></footer></body></html>"""
OLD = """<html><head><meta charset="utf-8"><title>国民健康保険</title></head>
<body>
<div id="wrapper"><div id="header"><img src="logo.gif" alt="あおば町">
<ul id="gnavi"><li><a href="/">ホーム</a></li><li><a href="/t">町政</a></li></ul></div>
<div id="pankuzu"><a href="/">ホーム</a> &gt; <a href="/k">健康</a> &gt; 国民健康保険</div>
<div id="contents"><h1>国民健康保険の届出</h1><p>職場の健康保険をやめたときは、14日以内に届け出てください。</p>
<div class="menu"><h2>給食の献立</h2><p>4月1日 カレー</p></div></div>
<div id="side-menu"><ul>
<li><a href="/x">国民年金のお知らせ</a></li><li><a href="/y">後期高齢者医療</a></li></ul></div>
<div id="footer">あおば町役場 電話 000-111-2222 <a href="/m">サイトマップ</a></div></div></body></html>"""


@pytest.fixture
def read(tmp_path: Path, parse: Parse):
    def of(page: str) -> ParsedDocument:
        path = tmp_path / "ページ.html"
        path.write_text(page, encoding="utf-8")
        return parse(path)

    return of


def body(inside: str) -> str:
    return f"<html><head><title>お知らせ</title></head><body>{inside}</body></html>"


LINKS = '<a href="/1">くらしのガイド</a> <a href="/2">しごと・産業</a> <a href="/3">町の紹介</a>'


def test_a_page_of_a_city_has_its_own_part_only_and_a_notice_tells_of_the_rest(read) -> None:
    document = read(NEW)
    for kept in (
        "# 粗大ごみの出し方",
        "更新日：2026年4月1日",
        "手数料",
        "混み合います",
        "| 自転車 | 500円 |",
        "環境課 ごみ減量係",
    ):
        assert kept in document.markdown
    for left in (
        "本文へ移動",
        "Cookie",
        "水と緑",
        "くらし・手続き",
        "トップ",
        "資源ごみ",
        "関連メニュー",
        "〒000",
        "Copyright",
    ):
        assert left not in document.markdown
    (notice,) = document.notices
    assert notice.code == "page_frame"
    assert notice.en.startswith("6 part(s)")
    assert "6 か所" in notice.ja


def test_a_page_of_named_divisions_is_read_likewise(read) -> None:
    document = read(OLD)
    for kept in ("# 国民健康保険の届出", "14日以内", "給食の献立", "カレー"):
        assert kept in document.markdown
    for left in ("町政", "健康 >", "国民年金のお知らせ", "あおば町役場", "サイトマップ"):
        assert left not in document.markdown
    assert [notice.en.split()[0] for notice in document.notices] == ["4"]


@pytest.mark.parametrize(
    "inside",
    [
        f"<nav><p>避難所は中央小学校です。</p>{LINKS}</nav>",
        "<header><h1>避難所のお知らせ</h1><p>避難所は中央小学校です。</p></header>",
        "<article><header>避難所は中央小学校</header></article>",
        "<article><nav>避難所は中央小学校</nav></article>",
        f"<header>{LINKS}<main><p>避難所は中央小学校です。</p></main></header>",
        f"<header>{LINKS}</header><header><h2>お知らせ</h2><p>避難所は中央小学校です。体育館を開けます。</p></header>",
        f"<nav>{LINKS}</nav><aside><h2>お知らせ</h2><p>避難所は中央小学校です。</p></aside><p>{'本文。' * 20}</p>",
        f"<footer>{LINKS}<p>避難所は中央小学校です。{'毛布と水を配ります。' * 50}</p></footer><p>{'本文。' * 20}</p>",
        '<div id="footer"><article><p>避難所は中央小学校です。</p></article></div>',
        "<section><header>避難所は中央小学校</header><p>体育館を開けますので、避難してください。</p></section>",
        '<a href="/hinan.html">避難所は中央小学校</a>',
    ],
)
def test_what_a_page_says_is_never_lost(read, inside: str) -> None:
    assert "中央小学校" in read(body(inside)).markdown


def test_a_page_that_is_nothing_but_links_is_kept_whole(read) -> None:
    document = read(body(f"<h1>サイトマップ</h1><nav>{LINKS}</nav>"))
    assert "町の紹介" in document.markdown
    assert document.notices == ()


def test_the_only_title_stays_where_the_header_of_the_site_has_it(read) -> None:
    header = f"<header><p>みどり市</p><h1>令和8年度予算の概要</h1>{LINKS}</header>"
    document = read(body(f"{header}<p>{'一般会計の総額は次のとおりです。' * 3}</p>"))
    assert document.markdown.startswith("# 令和8年度予算の概要\n")
    assert "しごと・産業" not in document.markdown
    assert document.blocks[0].level == 1


def test_a_page_without_a_frame_has_no_notice(read) -> None:
    document = read(body("<h1>概要</h1><p>この文書は設計の概要を示す。詳細は別紙による。</p>"))
    assert document.notices == ()
