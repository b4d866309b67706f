"""What is written into cells: never a formula, never more than a cell holds, and read back as it was."""

import pytest

from hub.core.cells import MAX_CELL, safe_text, unguarded


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_is_no_formula_and_is_read_back(text):
    assert safe_text(text) == f"'{text}"
    assert unguarded(safe_text(text)) == text


def test_a_formula_behind_a_character_that_is_left_out_is_none_either():
    assert safe_text("\x01=1+1") == "'=1+1"


def test_a_text_is_cut_to_what_a_cell_holds():
    assert len(safe_text("字" * (MAX_CELL + 1))) == MAX_CELL
