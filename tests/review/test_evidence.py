from __future__ import annotations

import pytest

from review.evidence import quote
from review.types import Span

TEXT = "PNG サムネイル"


def test_a_blank_that_a_finding_is_about_is_a_quote_that_stands_there():
    assert quote("doc_a", TEXT, Span(start=3, end=4)) == {
        "quote": " ",
        "document_id": "doc_a",
        "start_offset": 3,
        "end_offset": 4,
        "verified": True,
    }


@pytest.mark.parametrize("span", [Span(start=5, end=5), Span(start=6, end=90), Span(start=-1, end=2)])
def test_what_is_not_in_the_text_is_not_verified(span):
    assert not quote("doc_a", TEXT, span)["verified"]
