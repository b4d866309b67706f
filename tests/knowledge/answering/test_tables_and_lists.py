"""What an extractive answer takes from tables, lists and headings, and which of several rows."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.answering.named import read_named
from knowledge.answering.sentences import sentences_of
from knowledge.models import Chunk, VersionContent
from knowledge.search.pages import get_chunk
from tests.knowledge.answering.conftest import says
from tests.knowledge.answering.test_extractive import ask, hit
from tests.knowledge.search.shelf import Library, Passage
from tests.llm_server import prompt_of

pytestmark = pytest.mark.django_db
HEADER = "| ジョブID | ジョブ名 | 起動時刻 | 処理時間上限（分） |"
RULER = "| --- | --- | --- | --- |"
JOBS = (
    "| JB031 | 口座振替依頼作成（前処理） | 21:15 | 20 |\n"
    "| JB032 | 口座振替依頼作成（主処理）。締切に注意。 | 22:00 | 45 |\n"
    "| JB033 | 口座振替依頼作成（後処理） | 23:30 | 10 |"
)
GLOSSARY = (
    "# 11 用語集\n\n| 用語 | 読み | 意味 |\n|---|---|---|\n| 調定 | ちょうてい | 徴収すべき料金の額を確定すること |\n"
    "| 検針 | けんしん | メーターの指針を読み取ること |"
)
MINUTES = (
    Passage(
        text="## 議題2 移行リハーサル\n第2回の移行リハーサルは、定例会で報告する。",
        section_path=("定例会 議事録", "議題2 移行リハーサル"),
    ),
    Passage(
        text="## 決定事項\n1. 通信方式はHTTPSとする。\n2. 外字は縮退しない。",
        section_path=("定例会 議事録", "決定事項"),
    ),
)


@pytest.fixture
def jobs(db) -> Chunk:
    """The second half of a long table: its header stands in the passage before."""
    _first, rest = Library().add("詳細設計書.xlsx", [f"## バッチ一覧\n\n{HEADER}\n{RULER}\n", JOBS])
    rest.context_prefix = f"バッチ一覧\n{HEADER}\n{RULER}\n"
    rest.save()
    return rest


def test_a_row_is_one_sentence_under_the_header_of_its_table():
    content = f"{HEADER}\n{RULER}\n{JOBS}\n\n締切に注意。"
    found = list(sentences_of(hit(content)))
    assert [one.text for one in found] == [*JOBS.splitlines(), "締切に注意。"]
    assert [one.header for one in found] == [HEADER, HEADER, HEADER, ""]


def test_a_row_goes_on_under_a_header_that_the_passage_before_has(jobs):
    given = ask("JB032の処理時間上限は何分か")
    row = JOBS.splitlines()[1]
    assert given.sentences[0].text == row
    assert given.text == f"{HEADER}\n{row}", "the names of the columns stand over the row"
    (citation,) = given.sentences[0].citations
    assert citation.table_header == HEADER
    assert VersionContent.objects.get().markdown[citation.start_offset : citation.end_offset] == row


def test_a_passage_tells_the_header_that_it_goes_on_under(jobs):
    assert HEADER in get_chunk(local_operator(), jobs.public_id).context_prefix
    assert HEADER not in get_chunk(local_operator(), jobs.public_id).content


def test_a_model_reads_the_header_that_rows_go_on_under(jobs, configured):
    configured.answer = lambda asked: says(("JB032の処理時間上限は45分です。", "p1", JOBS.splitlines()[1]))
    given = ask("JB032の処理時間上限は何分か", limit=2)
    assert f"{HEADER}\n{JOBS}" in prompt_of(configured.requests[-1])
    assert given.text == "JB032の処理時間上限は45分です。"


@pytest.mark.parametrize("question", ["調定とは何か", "調定の意味", "「調定」とは"])
def test_who_asks_what_a_word_means_gets_its_entry_first(question):
    Library().add("設計.md", ["調定の確定は、月次で行う。調定の更正は、随時行う。", "調定は担当者が行う。", GLOSSARY])
    assert ask(question).sentences[0].text.startswith("| 調定 | ちょうてい |")


def test_a_list_answers_by_the_heading_that_the_question_names():
    Library().add("議事録.md", MINUTES)
    assert {"通信方式はHTTPSとする。", "外字は縮退しない。"} <= {one.text for one in ask("決定事項を教えて").sentences}


def test_each_heading_that_the_question_names_has_a_part_in_the_answer():
    passages = [
        Passage(text="## 1 事象\n夜間バッチが終了しなかった。", section_path=("障害報告書", "1 事象")),
        Passage(text="## 2 原因\n夜間バッチの統計情報が古かった。", section_path=("障害報告書", "2 原因")),
        Passage(text="## 4 再発防止策\n- 手順に再開の確認を加える。", section_path=("障害報告書", "4 再発防止策")),
    ]
    Library().add("障害報告書.html", passages, title="障害報告書")
    found = {one.text for one in ask("夜間バッチの障害の原因と再発防止策は").sentences}
    assert {"夜間バッチの統計情報が古かった。", "手順に再開の確認を加える。"} <= found


def test_what_stands_under_a_label_with_the_code_answers_and_not_the_label():
    texts = [
        "### 3.4.4 給水停止の執行\n\n要件ID：FR-019\n\n給水停止は、課長の承認を得て執行する。",
        "要件ID：FR-020\n\n分納誓約は、係長が承認する。",
    ]
    Library().add("基本設計書.md", texts)
    assert ask("FR-019は誰が承認するか").text == "給水停止は、課長の承認を得て執行する。"


def test_a_time_answers_when_before_another_number():
    text = (
        "復旧の目標は4時間とする。\n\n| 発生日時 | 令和7年11月4日6時12分 |\n| --- | --- |\n| 復旧日時 | 同日9時47分 |"
    )
    Library().add("障害報告書.md", [text])
    assert ask("障害から復旧したのはいつか").sentences[0].text == "| 復旧日時 | 同日9時47分 |"


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("JB032とＦＲ－００１", {"jb032", "fr-001"}),
        ("T-12aの担当", {"t-12a"}),
        ("令和7年4月1日の30分", set()),
        ("3.2の内容", set()),
    ],
)
def test_codes_are_letters_with_digits(question, codes):
    assert read_named(question).codes == codes


@pytest.mark.timeout(60)  # the square of this length would take hours
def test_a_text_without_spaces_is_read_for_codes_in_one_go() -> None:
    assert read_named("予約" * 300_000 + "JB032").codes == {"jb032"}
