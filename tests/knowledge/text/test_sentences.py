"""Every reader of sentences ends them at the same places."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.sentences import sentences_of
from knowledge.chunkers.pieces import _BOUNDARIES, block_pieces
from knowledge.parsers.markdown import markdown_blocks
from knowledge.text.excerpts import excerpt
from knowledge.text.sentences import CLOSING, OPENING, brackets, sentence_spans, sentences_around
from knowledge.types.documents import Block, BlockKind
from review.rules.prose import read_prose
from review.rules.style.reading import read_markdown
from tests.knowledge.answering.test_extractive import hit

CASES = {
    "要件を定める。次に設計する。": ["要件を定める。", "次に設計する。"],
    "「早い。安い。」と言う。これで終わり。": ["「早い。安い。」と言う。", "これで終わり。"],
    "要件を定める。（補足がある。）次に進める。": ["要件を定める。", "（補足がある。）", "次に進める。"],
    "要件を定める。(補足がある。)次に進める。": ["要件を定める。", "(補足がある。)", "次に進める。"],
    "要件を定める（補足がある。）。次に進める。": ["要件を定める（補足がある。）。", "次に進める。"],
    "可とする（例外がある。別紙参照。）。次に進める。": ["可とする（例外がある。別紙参照。）。", "次に進める。"],
    "閉じない「括弧がある。次の文に進む。": ["閉じない「括弧がある。", "次の文に進む。"],
    "それは本当なのか！？はいそうです。": ["それは本当なのか！？", "はいそうです。"],
    "それは本当なのか?次の文に進む。": ["それは本当なのか?", "次の文に進む。"],
    "がんばれ!!タブチくん": ["がんばれ!!タブチくん"],
    "処理の値は1.5である。": ["処理の値は1.5である。"],
    "第１．２節の内容を読む．次の文に進む．": ["第１．２節の内容を読む．", "次の文に進む．"],
    "［注意事項がある。］次の文に進む。": ["［注意事項がある。］", "次の文に進む。"],
}
TEXTS = st.text(alphabet="あ漢字る。！？「」（）()", min_size=1, max_size=60)
ENGLISH = "See Fig. 2 for the flow. The API answers in 2.5 s. Done"


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


def _pieces(text: str) -> list[str]:
    block = Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))
    return [text[piece.start : piece.end] for piece in block_pieces(text, block)]


def _segments(text: str) -> list[str]:
    block = Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))
    prose = read_prose(text, (block,))
    return [text[segment.start : segment.end] for segment in prose.segments]


def _style(text: str) -> list[str]:
    return [
        unit.plain[one.start : one.end]
        for unit in read_markdown(text, markdown_blocks(text)).units
        for one in unit.sentences
    ]


def _around(text: str) -> list[str]:
    """The sentences around each character, each once."""
    spans = dict.fromkeys(sentences_around(text, at, at + 1) for at in range(len(text)))
    return [text[start:end] for start, end in spans]


READERS: dict[str, Callable[[str], list[str]]] = {
    "a chunk's pieces": _pieces,
    "the rules' segments": _segments,
    "the rules of style": _style,
    "what a finding quotes": _around,
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
def test_every_reader_ends_sentences_alike(text: str, reader: Callable[[str], list[str]]) -> None:
    assert reader(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_an_answer_is_made_of_the_same_sentences(text: str) -> None:
    assert [one.text for one in sentences_of(hit(text))] == CASES[text]


@pytest.mark.parametrize("text", [text for text, parts in CASES.items() if len(parts) > 2])
def test_an_excerpt_and_a_cut_at_length_end_behind_the_same_sentences(text: str) -> None:
    ends = [0]
    for part in CASES[text]:
        ends.append(ends[-1] + len(part))
    marked = text.index("補足")
    assert set(excerpt(text, [(marked, marked + 2)], room=max(map(len, CASES[text])))) <= set(ends)
    assert [found.end() for found in _BOUNDARIES[0].finditer(text)] == ends[1:]


@given(TEXTS)
def test_no_two_readers_end_sentences_differently(text: str) -> None:
    expected = sentences(text)
    assert {name: reader(text) for name, reader in READERS.items() if name != "the rules of style"} == {
        name: expected for name in READERS if name != "the rules of style"
    }


def test_english_sentences_end_before_a_capital_and_not_behind_a_short_word() -> None:
    assert sentences(ENGLISH) == ["See Fig. 2 for the flow. ", "The API answers in 2.5 s. ", "Done"]


@given(st.text(alphabet="あ漢a 。！？.!「」（）()\n1．", max_size=200))
def test_sentences_leave_no_gaps(text: str) -> None:
    assert "".join(sentences(text)) == text


@given(st.text(alphabet="「」（）()あ", max_size=60))
def test_brackets_are_pairs_that_do_not_overlap(text: str) -> None:
    found = brackets(text, 0, len(text))
    assert all(CLOSING[OPENING.index(text[start])] == text[end - 1] for start, end in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))


def test_what_is_around_a_word_ends_at_its_cell_where_cells_are_asked_for() -> None:
    row = "| 応答は速い。良い。 | 備考 |"
    at = row.index("速い")
    assert row[slice(*sentences_around(row, at, at + 2, borders="\n|"))].strip() == "応答は速い。"
    assert re.sub(r"\s", "", row[slice(*sentences_around(row, at, at + 2))]) == "|応答は速い。"
