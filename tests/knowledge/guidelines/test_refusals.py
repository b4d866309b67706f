"""What an import of a guideline and a step of an edition are refused for, in words; what is told of unknown codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from hub.access.principals import Scope, local_operator
from hub.access.services import principal_for_user
from hub.access.versions import PublicationStatus
from hub.core.bounds import MOST_NAMED
from hub.core.errors import Conflict, Forbidden, LimitExceeded, NotFound
from knowledge.guidelines import editions, files, imports
from knowledge.models import GuidelineEdition
from tests.factories import new_user
from tests.knowledge.guidelines.test_guidelines import MARKDOWN, asked, imported, published, sheet

pytestmark = pytest.mark.django_db
HEADER = ("number", "title", "text", "severity", "document types", "headings", "required elements", "applies when")


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


def problems_of(**row: object) -> list[str]:
    """What is wrong with a sheet that has this one row, besides a number and a title that are right."""
    values = {"number": "1", "title": "範囲", **{name.replace("_", " "): value for name, value in row.items()}}
    content = sheet(HEADER, tuple(values.get(name) for name in HEADER))
    preview = imports.preview_import(principal=local_operator(), asked=asked(content, filename="a.xlsx"))
    return [problem.message for problem in preview.problems]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"number": "第一"}, "can't be used"),
        ({"title": None}, "title is missing"),
        ({"title": "題" * 301}, "title is longer than 300"),
        ({"headings": "見" * 201}, "headings is longer than 200"),
        ({"headings": "、".join(map(str, range(MOST_NAMED + 1)))}, f"headings has more than {MOST_NAMED}"),
        ({"severity": "とても重い"}, "severity"),
        ({"document_types": "basic_design", "required_elements": ": 語"}, "no name"),
        ({"required_elements": "目標値"}, "need document types"),
        (
            {"document_types": "basic_design", "required_elements": "\n".join(f"目標{n}" for n in range(3000))},
            "required_elements",
        ),
        ({"applies_when": "[/"}, "regular expression"),
    ],
)
def test_what_a_row_can_not_have_is_named(row, said):
    assert problems_of() == []
    (problem,) = problems_of(**row)
    assert said in problem


def test_a_sheet_without_a_header_or_without_rows_below_it_is_told_so():
    without_header = files.read_excel(sheet(("範囲", "書くこと"), ("1", "性能")))
    assert [problem.row for problem in without_header.problems] == [1]
    assert "No sheet has a header row" in without_header.problems[0].message
    without_rows = files.read_excel(sheet((), ("番号", "題名")))
    assert [problem.row for problem in without_rows.problems] == [2]
    assert "No articles stand below" in without_rows.problems[0].message


def test_a_text_without_numbers_or_with_too_much_in_it_is_told_so(monkeypatch):
    assert "no numbered headings" in files.read_markdown("# 指針\n\n文。\n").problems[0].message
    monkeypatch.setattr(files, "MAX_HEADINGS", 2)
    many = files.read_markdown("# 1 甲\n\n# 2 乙\n\n# 3 丙\n")
    assert many.articles == ()
    assert "at once" in many.problems[0].message


def test_what_stands_below_the_history_of_changes_is_no_article():
    read = files.read_markdown("# 指針\n\n## 1 変更履歴\n\n### 1.1 初版\n\n作成。\n\n## 2 範囲\n\n文。\n")
    assert [article.number for article in read.articles] == ["2"]
    assert read.problems == ()


def test_a_file_that_is_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr(imports, "MAX_FILE_BYTES", 10)
    with pytest.raises(LimitExceeded):
        imported()


def test_an_edition_that_is_retired_or_empty_is_not_put_into_force_and_a_second_time_changes_nothing():
    edition = published()
    step: dict[str, Any] = {"principal": local_operator(), "code": "house-guide"}
    assert editions.publish_edition(**step, number=edition.number) == edition
    assert editions.retire_edition(**step, number=edition.number).status == PublicationStatus.RETIRED
    assert editions.retire_edition(**step, number=edition.number).status == PublicationStatus.RETIRED
    with pytest.raises(Conflict) as error:
        editions.publish_edition(**step, number=edition.number)
    assert error.value.error_code == "edition_retired"
    empty = GuidelineEdition.objects.create(guideline=edition.guideline, number=9, status=PublicationStatus.DRAFT)
    with pytest.raises(Conflict) as error:
        editions.publish_edition(**step, number=empty.number)
    assert error.value.error_code == "edition_empty"


def test_a_draft_that_is_given_up_takes_nothing_out_of_force(monkeypatch):
    edition = published()
    draft = imported(MARKDOWN.replace("監視する項目", "監視する値"))
    told: list[object] = []
    monkeypatch.setattr(editions, "EDITION_LISTENERS", [lambda *facts: told.append(facts)])
    editions.retire_edition(principal=local_operator(), code="house-guide", number=draft.number)
    assert not told
    assert editions.get_edition(local_operator(), "house-guide") == edition
    editions.retire_edition(principal=local_operator(), code="house-guide", number=edition.number)
    assert len(told) == 1


def test_what_is_not_there_is_told_with_what_is_near_and_who_may_not_read_is_refused():
    published()
    with pytest.raises(NotFound) as error:
        editions.get_edition(local_operator(), "house-guide", 99)
    assert error.value.error_code == "edition_not_found"
    with pytest.raises(NotFound, match="GL-1"):
        editions.get_article(local_operator(), "GL-1.9")
    with pytest.raises(NotFound) as error:
        editions.get_guideline(local_operator(), "no-guide")
    assert error.value.error_code == "guideline_not_found"
    stranger = replace(principal_for_user(new_user()), scopes=frozenset({Scope.SEARCH}))
    for ask in (
        lambda: editions.list_guidelines(stranger),
        lambda: editions.get_article(stranger, "GL-1"),
        lambda: editions.article_codes(stranger, prefix="GL", limit=5),
    ):
        with pytest.raises(Forbidden):
            ask()


def test_guidelines_and_articles_are_found_by_the_document_type_that_they_oblige():
    published()
    obliging = editions.list_guidelines(local_operator(), document_type="basic_design")
    assert "house-guide" in {guideline.code for guideline in obliging}
    assert not editions.list_guidelines(local_operator(), document_type="test_plan").filter(code="house-guide")
    articles = editions.list_articles(local_operator(), "house-guide", document_type="basic_design")
    assert [article.code for article in articles] == ["GL-1.1"]
    assert editions.article_codes(local_operator(), prefix="GL-1", limit=2) == ["GL-1", "GL-1.1"]


def test_check_items_that_rest_on_articles_are_named_once_in_order(monkeypatch):
    finders = [lambda codes: {"GL-1": ["BD-B02", "BD-A01"]}, lambda codes: {"GL-1": ["BD-A01"], "GL-2": ["BD-C01"]}]
    monkeypatch.setattr(editions, "CHECK_ITEM_FINDERS", finders)
    assert editions.check_items_of(["GL-1", "GL-2"]) == {"GL-1": ["BD-A01", "BD-B02"], "GL-2": ["BD-C01"]}
