"""Terms of passages and questions."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sudachipy import SplitMode

from knowledge.index.analysis import MAX_QUERY_TERMS, analyse_passage, analyse_query, surfaces
from knowledge.index.morphemes import _terms
from knowledge.text.codes import MAX_TERM_LENGTH
from knowledge.text.folding import fold_terms
from knowledge.text.morphology import tokenizer


def words(text: str) -> set[str]:
    return set(analyse_passage("", text).words)


def test_spellings_of_one_word_become_one_term() -> None:
    assert words("サーバ") == words("サーバー") == words("ｻｰﾊﾞｰ") == words("Server") == {"サーバー"}


def test_variants_of_katakana_words_become_one_term() -> None:
    assert words("アベイラビリティ") == words("アベイラビリティー")


def test_particles_endings_and_punctuation_are_no_terms() -> None:
    assert words("要件を、定義する。") == {"要件", "定義", "為る"}


@pytest.mark.parametrize("written", ["FR-001", "ＦＲ－００１", "fr‐001", "FR−001", "FRー001"])
def test_a_code_is_one_term_in_both_fields_however_its_dash_is_written(written: str) -> None:
    terms = analyse_passage("", f"要件{written}を満たす")
    assert "fr-001" in terms.words
    assert "fr-001" in terms.bigrams


def test_dotted_numbers_and_names_stay_whole_next_to_their_parts() -> None:
    terms = words("GL-3.2.1 と hub.core.errors と foo_bar")
    assert {"gl-3.2.1", "hub.core.errors", "foo_bar", "エラー", "gl"} <= terms


@pytest.mark.parametrize(
    "text",
    [
        "| 項目 | 内容 |\n|---|---|\n| 申請者 |  東京都 | \n| 期限  | 令和３年４月１日 |\n",
        "概要\n  - 手順を\n    - 定める\n\n注　意",
        "new york | c++ |a|b| c|d |\t| e",
        "ー\nー | ー | 〜\n1,2\n3,4 | 千\n五百 | 漢字(かん\nじ) | 漢字(かんじ)",
        "|||\n| |\n | | \r\n| あ\r\n",
        "",
    ],
)
def test_lines_and_cells_are_cut_into_the_same_words_alone_as_in_the_whole_text(text: str) -> None:
    folded = fold_terms(f"題名\n{text}")
    whole = Counter(_terms(tokenizer().tokenize(folded, SplitMode.A)))

    found = analyse_passage("題名", text).words

    assert {term: found[term] for term in whole} == dict(whole)


def test_bigrams_cover_cjk_runs_and_keep_ascii_words_whole() -> None:
    assert set(analyse_passage("", "性能要件 v2").bigrams) == {"性能", "能要", "要件", "v2"}


def test_heading_counts_as_text_of_the_passage() -> None:
    assert "性能" in analyse_passage("3.2 性能", "応答は3秒以内").words


def test_a_single_character_run_is_a_term_of_its_own() -> None:
    assert set(analyse_passage("", "図 1").bigrams) == {"図", "1"}


@pytest.mark.parametrize("text", ["", "   ", "!?…「」", "は、がをに", "😀🎉", "\0\0", "ですか？"])
def test_a_question_that_says_nothing_has_no_terms(text: str) -> None:
    assert not analyse_query(text)


@pytest.mark.parametrize("text", ["한국어 문서", "привет", "café"])
def test_other_scripts_have_terms(text: str) -> None:
    assert analyse_query(text)


def test_question_words_are_not_asked_for() -> None:
    assert set(analyse_query("応答時間は何秒").words) == {"応答", "時間", "秒"}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("SOAP を選んだほうがよいのはどんなときか", {"ソープ", "選ぶ"}),
        ("職員が推測して登録していてもよいか", {"職員", "推測", "登録"}),
        ("移行を終えることができる時", {"移行", "終える", "時"}),
        ("What should have been done to your servers", {"サーバー"}),
    ],
)
def test_what_a_sentence_needs_and_no_subject_is_is_neither_asked_for_nor_marked(
    question: str, asked: set[str]
) -> None:
    assert set(analyse_query(question).words) == asked
    assert not {"ほう", "よい", "とき", "し", "い", "こと", "できる"} & set(surfaces(question))


def test_english_is_asked_without_stop_words_and_stemmed_in_both_fields() -> None:
    asked = analyse_query("How many of these servers does one have before the policies are enforced?")
    assert list(asked.words) == ["サーバー", "ワン", "ポリシー", "enforc"]
    assert list(asked.bigrams) == ["server", "one", "polici", "enforc"]
    assert analyse_passage("", "A policy enforces").bigrams == {"a": 1, "polici": 1, "enforc": 1}


def test_passages_keep_every_word() -> None:
    assert {"為る", "良い"} <= words("登録してよい")


def test_lone_surrogates_and_nul_do_not_hide_the_rest() -> None:
    assert {"性能", "要件"} <= words("性能\ud800\0 要件\udfff")


def test_a_question_of_ten_thousand_characters_is_cut_and_says_so() -> None:
    terms = analyse_query("".join(chr(0x4E00 + index) for index in range(10_000)))
    assert len(terms.words) == len(terms.bigrams) == MAX_QUERY_TERMS
    assert terms.is_cut


def test_text_longer_than_sudachi_takes_at_once_is_analysed_whole() -> None:
    text = "性能" * 30_000 + "可用性"
    assert "可用" in words(text)
    assert analyse_passage("", "😀" * 20_000 + "要件").words == {"要件": 1}


@pytest.mark.parametrize("run", ["a", "1.", "a-", "-", "ア", "-_", "。", "a\u3099"])
def test_a_long_run_without_a_break_is_analysed_in_linear_time(run: str) -> None:
    assert "要件" in words(run * 200_000 + " 要件")  # quadratic, it would outlast the suite's time limit


def test_a_term_fits_its_column() -> None:
    assert max(map(len, words("https://example.jp/" + "a" * 500))) <= MAX_TERM_LENGTH


def test_many_combining_marks_are_folded_in_linear_time() -> None:
    assert fold_terms("か" + "\u3099" * 50_000).startswith("が")


def test_threads_analyse_at_once_without_mixing_their_texts() -> None:
    texts = [f"第{number}章 性能要件と可用性の設計方針について述べる" * 20 for number in range(40)]
    with ThreadPoolExecutor(max_workers=8) as pool:
        parallel = list(pool.map(lambda text: analyse_passage("", text), texts))
    assert parallel == [analyse_passage("", text) for text in texts]
