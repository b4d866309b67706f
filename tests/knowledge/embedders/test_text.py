import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.embedders.base import default_prefixes, prepare_text
from knowledge.text.folding import normalise


@given(
    st.lists(st.text(alphabet="aか゛ｶﾞ漢字。\u3099\u0301 ①㈱", min_size=1, max_size=40), max_size=3), st.integers(1, 90)
)
def test_normalising_in_segments_equals_nfkc_of_the_whole(parts: list[str], repeats: int) -> None:
    text = "申".join(part * repeats for part in parts)

    assert normalise(text) == unicodedata.normalize("NFKC", text)


def test_a_long_run_of_combining_marks_is_normalised_in_pieces() -> None:
    text = "a" + "\u0315\u0300" * 100_000  # as one piece: minutes

    assert len(normalise(text)) >= 199_000


def test_lone_surrogates_become_replacement_characters() -> None:
    assert normalise("申\ud800請\udfff") == "申\ufffd請\ufffd"


def test_surrounding_white_space_does_not_change_what_the_model_reads() -> None:
    assert prepare_text("\u3000申請書\n", prefix="passage: ") == "passage: 申請書"
    assert prepare_text(" \n\t", prefix="passage: ") == "passage:"


@pytest.mark.parametrize("model", ["intfloat/multilingual-e5-large", "e5-small-v2", "multilingual-E5-small-q4"])
def test_e5_models_get_their_prefixes(model: str) -> None:
    assert default_prefixes(model) == ("query: ", "passage: ")


@pytest.mark.parametrize("model", ["text-embedding-3-small", "BAAI/bge-m3", "made5", "e50"])
def test_other_models_get_no_prefix(model: str) -> None:
    assert default_prefixes(model) == ("", "")
