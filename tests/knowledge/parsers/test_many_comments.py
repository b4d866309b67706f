"""Files of very many comments: what they are is found in time that grows with their length alone."""

import pytest

from knowledge.ontology.passages import has_substance
from knowledge.parsers.detect import detect_format
from knowledge.parsers.pictures import _SVG_START
from knowledge.types.documents import BlockKind

pytestmark = pytest.mark.timeout(30)


def test_a_file_of_many_comments_is_told_apart_at_once(tmp_path) -> None:
    page, text = tmp_path / "page.txt", tmp_path / "text.txt"
    page.write_text("<!---->" * 5000 + "<html><body>本文</body></html>")
    text.write_text("<!---->" * 5000 + "本文")

    assert detect_format(page, filename="page.html") == "html"
    assert detect_format(text, filename="text.txt") == "txt"
    assert _SVG_START.match(b"<!---->" * 5000 + b"<svg ")
    assert not _SVG_START.match(b"<!---->" * 5000 + b"<b>")


def test_comments_that_end_say_nothing_and_those_that_do_not_are_text() -> None:
    assert not has_substance("<!-- 後で書く -->", BlockKind.PARAGRAPH)
    assert has_substance("<!-- 後で書く --> 本文", BlockKind.PARAGRAPH)
    assert has_substance("<!-- 後で書く", BlockKind.PARAGRAPH)
    assert has_substance("<!--" * 50_000 + "本文", BlockKind.PARAGRAPH)
