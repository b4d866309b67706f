"""Guidelines: reading files, editions in and out of force, what changed, and who may."""

from __future__ import annotations

import io
from typing import Any

import pytest
from openpyxl import Workbook

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.guidelines import editions, imports
from knowledge.guidelines.files import read_markdown
from knowledge.guidelines.imports import GuidelineImport
from knowledge.models import Collection, DocumentType, Guideline, GuidelineArticle, GuidelineEdition
from tests.factories import hub_curator, principal_with

pytestmark = pytest.mark.django_db

MARKDOWN = """# 設計書作成指針

## 目次

- 1. 記載事項

## 1. 記載事項

設計書に書くことを定める。

### 1.1 性能要件

性能の目標を数値で書く。
測り方も書く。

- 対象文書: 基本設計書、detailed_design
- 重大度: 重要
- 見出し語: 性能、応答時間
- 必須要素:
  - 目標値: /\\d+\\s*秒/
  - 測定条件
- 出典: 標準の手引 3.1

### 1.2 監視

監視する項目を書く。
"""


def asked(content: str | bytes = MARKDOWN, *, filename: str = "指針.md", **more) -> GuidelineImport:
    data = content.encode() if isinstance(content, str) else content
    facts = {"code": "house-guide", "prefix": "GL-", "name_ja": "設計書作成指針", **more}
    return GuidelineImport(filename=filename, content=data, **facts)


def sheet(*rows: tuple[Any, ...]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def imported(content: str | bytes = MARKDOWN, **more) -> GuidelineEdition:
    return imports.import_edition(principal=local_operator(), asked=asked(content, **more))


def published(content: str | bytes = MARKDOWN, **more) -> GuidelineEdition:
    number = imported(content, **more).number
    return editions.publish_edition(principal=local_operator(), code="house-guide", number=number)


def test_markdown_headings_become_a_tree_of_articles():
    articles = {row.code: row for row in imported().articles.select_related("parent")}
    assert list(articles) == ["GL-1", "GL-1.1", "GL-1.2"]
    performance = articles["GL-1.1"]
    assert performance.parent == articles["GL-1"]
    assert performance.text == "性能の目標を数値で書く。\n測り方も書く。"
    assert performance.document_types == ["basic_design", "detailed_design"]
    assert (performance.severity, performance.headings) == ("major", ["性能", "応答時間"])
    assert performance.required_elements == [
        {"name": "目標値", "words": [], "patterns": ["\\d+\\s*秒"]},
        {"name": "測定条件", "words": ["測定条件"], "patterns": []},
    ]
    assert performance.source == "標準の手引 3.1"


def test_a_heading_without_a_number_is_named_and_not_dropped():
    read = read_markdown("# 指針\n\n## 1 範囲\n\n文。\n\n## おわりに\n\n文。\n")
    assert [article.number for article in read.articles] == ["1"]
    assert [problem.row for problem in read.problems] == [7]


def test_excel_rows_become_articles_with_full_width_numbers_and_chosen_parents():
    content = sheet(
        ("設計書作成指針",),
        ("番号", "題名", "本文", "対象文書", "必須要素", "上位番号"),
        ("１", "記載事項", "書くこと。", None, None, None),
        (1.1, "性能要件", "数値で書く。", "基本設計書", "目標値: /\\d+秒/\n測定条件", None),
        ("A", "監視", "項目を書く。", "test_plan", None, "1"),
    )
    articles = {row.code: row for row in imported(content, filename="指針.xlsx").articles.select_related("parent")}
    assert list(articles) == ["GL-1", "GL-1.1", "GL-A"]
    assert articles["GL-A"].parent == articles["GL-1"]
    assert [element["name"] for element in articles["GL-1.1"].required_elements] == ["目標値", "測定条件"]


def test_wrong_rows_are_named_and_nothing_is_stored():
    content = sheet(
        ("number", "title", "document types", "required elements", "parent"),
        ("1", "範囲", "議事録", None, None),
        ("1", "", "basic_design", "目標: /[/", "9"),
    )
    preview = imports.preview_import(principal=local_operator(), asked=asked(content, filename="a.xlsx"))
    assert [problem.row for problem in preview.problems] == [2, 3, 3, 3, 3]
    with pytest.raises(InvalidInput, match="3:"):
        imported(content, filename="a.xlsx")
    assert not Guideline.objects.filter(code="house-guide").exists()


@pytest.mark.parametrize(
    ("content", "filename"),
    [
        (b"PK\x03\x04broken", "a.xlsx"),
        (b"text", "a.xlsx"),
        (b"", "a.md"),
        (b"\x00\x01\x02" * 50, "a.md"),
        (b"x", "a.exe"),
    ],
)
def test_files_that_can_not_be_read_are_refused_in_words(content, filename):
    with pytest.raises(InvalidInput):
        imported(content, filename=filename)


def test_a_new_guideline_needs_a_prefix_of_its_own_and_a_name():
    for wrong in ({"prefix": ""}, {"prefix": "gl"}, {"name_ja": ""}, {"code": "社内 指針"}):
        with pytest.raises(InvalidInput):
            imported(**wrong)
    with pytest.raises(Conflict):
        imported(prefix="PG-")


def test_a_preview_shows_what_changes_and_stores_nothing():
    published()
    changed = MARKDOWN.replace("監視する項目を書く。", "監視する項目と閾値を書く。").replace("### 1.1", "### 1.3")
    preview = imports.preview_import(principal=local_operator(), asked=asked(changed))
    kinds = {change.code: (change.kind.value, change.new_code) for change in preview.changes}
    assert kinds == {"GL-1.1": ("moved", "GL-1.3"), "GL-1.2": ("changed", "GL-1.2")}
    assert GuidelineEdition.objects.filter(guideline__code="house-guide").count() == 1


def test_publishing_retires_the_edition_before_and_is_written_down():
    first = published()
    second = published(MARKDOWN + "\n## 2 用語\n\n用語を定める。\n")
    first.refresh_from_db()
    assert (first.status, second.status, second.number) == ("retired", "published", 2)
    _before, _edition, changes = editions.compare_editions(local_operator(), "house-guide", number=2)
    assert [(change.kind.value, change.code) for change in changes] == [("added", "GL-2")]
    assert AuditEvent.objects.filter(action="GUIDELINE_PUBLISH", resource="guideline:house-guide v2").exists()
    assert editions.get_article(local_operator(), "GL-2").edition == second
    with pytest.raises(Conflict):
        editions.publish_edition(principal=local_operator(), code="house-guide", number=1)


def test_a_retired_edition_is_out_of_force():
    published()
    editions.retire_edition(principal=local_operator(), code="house-guide", number=1)
    with pytest.raises(NotFound):
        editions.get_article(local_operator(), "GL-1.1")


def test_readers_see_what_is_published_and_never_drafts():
    reader = principal_with(Role.CURATOR, Collection.objects.get(slug="default"))
    imported()
    with pytest.raises(NotFound) as hidden:
        editions.get_guideline(reader, "house-guide")
    with pytest.raises(NotFound) as unknown:
        editions.get_guideline(reader, "house-guidx")
    assert str(hidden.value).replace("house-guide", "house-guidx") == str(unknown.value)
    with pytest.raises(NotFound):
        editions.publish_edition(principal=hub_curator(), code="nothing", number=1)
    editions.publish_edition(principal=local_operator(), code="house-guide", number=1)
    assert editions.get_article(reader, "GL-1.1").title == "性能要件"
    with pytest.raises(Forbidden):
        editions.retire_edition(principal=reader, code="house-guide", number=1)
    with pytest.raises(Forbidden):
        imports.import_edition(principal=reader, asked=asked())


def test_lists_take_the_same_queries_however_many_there_are(django_assert_num_queries):
    published()
    with django_assert_num_queries(2):
        assert {row.code for row in editions.list_guidelines(local_operator())} >= {"house-guide"}
    with django_assert_num_queries(4):
        assert len(editions.list_articles(local_operator(), "public-practice-guides")) > 30


def test_shipped_articles_name_the_text_they_were_read_from_and_known_document_types():
    articles = GuidelineArticle.objects.filter(edition__guideline__code="public-practice-guides")
    assert 20 <= articles.exclude(document_types=[]).count() <= 40
    for article in articles:
        assert article.source
        assert article.source_edition
    known = set(DocumentType.objects.values_list("code", flat=True))
    assert {kind for article in articles for kind in article.document_types} <= known
