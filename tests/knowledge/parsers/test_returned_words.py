"""The words of a returned Word file that a comment is on: what hides them, and how often that is asked."""

from __future__ import annotations

import pytest
from lxml import etree

from knowledge.parsers.annotated import returned
from knowledge.parsers.docx.text import qn
from knowledge.parsers.ooxml.package import Element


def paragraph(depth: int, texts: int) -> Element:
    """A comment on words: some deleted, some of people's insertions ``depth`` deep, and the last outside of all."""
    root = etree.Element(qn("w:p"))
    etree.SubElement(root, qn("w:commentRangeStart"), {qn("w:id"): "1"})
    etree.SubElement(etree.SubElement(root, qn("w:del")), qn("w:delText")).text = "旧"
    inner = root
    for _level in range(depth):
        inner = etree.SubElement(inner, qn("w:ins"), {qn("w:author"): "佐藤"})
    for _at in range(texts):
        etree.SubElement(inner, qn("w:t")).text = "新"
    etree.SubElement(root, qn("w:t")).text = "末"
    etree.SubElement(root, qn("w:commentRangeEnd"), {qn("w:id"): "1"})
    return root


@pytest.mark.parametrize(("depth", "texts"), [(10, 20), (10, 400), (100, 400)])
def test_what_hides_is_asked_of_each_change_and_not_for_each_word_in_it(
    depth: int, texts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Element] = []
    real = returned._hides

    def counted(element: Element) -> bool:
        asked.append(element)
        return real(element)

    monkeypatch.setattr(returned, "_hides", counted)
    found = returned._marked_in(paragraph(depth, texts), "document")

    assert found["1"].words == "新" * texts + "末"
    assert len(asked) == 2 * (depth + 1)


@pytest.mark.parametrize(("texts", "is_cut"), [(9, False), (10, True)])
def test_a_note_says_whether_more_words_follow_than_are_read(
    texts: int, is_cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(returned, "LONGEST_WORDS", 10)
    found = returned._marked_in(paragraph(1, texts), "document")["1"]
    assert (found.is_cut, len(found.words or "")) == (is_cut, 10)
