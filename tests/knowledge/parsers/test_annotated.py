"""Notes come to stand on the very words of a Word file, wherever these are, and nothing is dropped."""

from __future__ import annotations

import json
import re
import tracemalloc
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from lxml import etree

from knowledge.parsers.annotated import returned
from knowledge.parsers.annotated.docx import annotate
from knowledge.parsers.annotated.returned import read_notes
from knowledge.parsers.docx.parser import parse
from knowledge.parsers.limits import ParseLimits
from tests.knowledge.parsers import test_docx as word_parts

LIMITS = ParseLimits()
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BOX = (
    f"<w:r {nsdecls('w')} xmlns:v='urn:schemas-microsoft-com:vml'><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r>"
    "<w:t>枠の中の注意書き</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
)


@pytest.fixture
def word_file(tmp_path: Path) -> Path:
    document = docx.Document()
    document.add_heading("目的", 1)
    paragraph = document.add_paragraph("同じ語の同じ")
    paragraph.add_run("語が").bold = True
    paragraph.add_run("三度ある同じ語。半角のｶﾅもある。")
    paragraph._p.append(parse_xml(BOX))
    document.add_paragraph("番号の付いた項目", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells], ("項目", "値|単位", "時間", "三秒\n以内"), strict=True
    ):
        cell.text = text
    path = tmp_path / "設計.docx"
    document.save(str(path))
    return path


def annotated(path: Path, notes: Sequence[dict[str, Any]], *, more_text: str = "") -> tuple[list[str], Path]:
    """Where each note stands, and the copy; ``more_text`` is in the stored text and not in the file."""
    text = parse(path, filename=path.name, limits=LIMITS).markdown + more_text
    for number, note in enumerate(notes):
        quote = note.pop("quote")
        start = [found.start() for found in re.finditer(re.escape(quote), text)][note.pop("nth", 0)]
        note |= {"text": f"{number}:", "author": "Hub", "start": start, "end": start + len(quote), "is_quote": True}
    answered = annotate(
        path,
        limits=LIMITS,
        folder=path.parent,
        filename=path.name,
        markdown=text,
        notes=notes,
        written="2026-04-01T00:00:00",
        list_title="場所を示せなかった指摘",
    )
    found = json.loads(answered)
    return found["placed"], path.parent / found["file"]


def words(copy: Path) -> dict[str, str]:
    notes = json.loads(read_notes(copy, limits=LIMITS, folder=copy.parent, filename=""))["notes"]
    return {note["text"]: note["words"] for note in notes}


def test_each_occurrence_is_its_own_place_across_runs_cells_and_boxes(word_file):
    quotes: list[dict[str, Any]] = [
        {"quote": "同じ語", "nth": 1},
        {"quote": "枠の中"},
        {"quote": "値\\|単位"},
        {"quote": "三秒<br>以内"},
        {"quote": "番号の付いた"},
        {"quote": "語が三度"},
    ]
    placed, copy = annotated(word_file, quotes)
    assert placed == ["exact"] * 6
    assert list(words(copy).values()) == ["同じ語", "枠の中", "値|単位", "三秒以内", "番号の付いた", "語が三度"]
    root = etree.fromstring(zipfile.ZipFile(copy).read("word/document.xml"))
    paragraph = next(one for one in root.iter(f"{W}p") if "三度" in "".join(one.itertext()))
    begins = [one.tag for one in paragraph if one.tag in (f"{W}r", f"{W}commentRangeStart")].index(
        f"{W}commentRangeStart"
    )
    assert "".join(paragraph.findall(f"{W}r")[number].findtext(f"{W}t") or "" for number in range(begins)) == "同じ語の"


def test_a_number_that_word_counts_is_noted_at_its_own_paragraph(word_file):
    placed, copy = annotated(word_file, [{"quote": "1."}])
    assert placed == ["near"]
    assert words(copy) == {"0:": "番号の付いた項目"}


def test_a_note_on_a_footnote_or_endnote_stands_at_its_mark_in_the_text(tmp_path):
    source = docx.Document()
    paragraph = source.add_paragraph("予約を受け付ける")
    word_parts.add_mark(paragraph, "footnote", 2)
    word_parts.add_mark(paragraph, "endnote", 3)
    word_parts.attach(source, "footnotes", word_parts.note("footnote", 2, "電話を除く。"))
    word_parts.attach(source, "endnotes", word_parts.note("endnote", 3, "条例による。"))
    path = tmp_path / "脚注.docx"
    source.save(str(path))
    placed, copy = annotated(path, [{"quote": "電話"}, {"quote": "条例"}])
    assert placed == ["near", "near"]
    assert words(copy) == {"0:": "", "1:": ""}
    before, after = (zipfile.ZipFile(one) for one in (path, copy))
    root = etree.fromstring(after.read("word/document.xml"))
    marked = [one.getnext()[0].tag for one in root.iter(f"{W}commentRangeStart")]
    assert marked == [f"{W}footnoteReference", f"{W}endnoteReference"]
    for part in ("word/footnotes.xml", "word/endnotes.xml"):
        assert after.read(part) == before.read(part)


def test_what_the_file_does_not_have_is_listed_at_the_end(word_file):
    placed, copy = annotated(
        word_file, [{"quote": "目的"}, {"quote": "どこにもない文"}], more_text="\nどこにもない文\n"
    )
    assert placed == ["exact", "listed"]
    texts = [comment.text for comment in docx.Document(str(copy)).comments]
    assert texts == ["0:", "場所を示せなかった指摘\n\n1:"]


def test_a_replacement_is_a_tracked_change_that_changes_nothing_before_it_is_accepted(word_file):
    _placed, copy = annotated(word_file, [{"quote": "ｶﾅ", "replacement": "カナ"}])
    root = etree.fromstring(zipfile.ZipFile(copy).read("word/document.xml"))
    assert [one.text for one in root.iter(f"{W}delText")] == ["ｶﾅ"]
    inserted = next(root.iter(f"{W}ins"))
    assert "".join(inserted.itertext()) == "カナ"
    assert words(copy) == {"0:": "ｶﾅ"}
    inserted.addnext(inserted[0])  # as accepting does
    inserted.getparent().remove(inserted)
    removed = next(root.iter(f"{W}del"))
    removed.getparent().remove(removed)
    source, target = zipfile.ZipFile(copy), copy.with_name("accepted.docx")
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, etree.tostring(root) if name == "word/document.xml" else source.read(name))
    assert words(target) == {"0:": "カナ"}


def test_very_many_open_comments_take_memory_by_their_number_and_not_its_square(monkeypatch):
    monkeypatch.setattr(returned, "LONGEST_WORDS", 20)

    def peak_of(number: int) -> int:
        numbers = range(number)
        begun, ended = (
            "".join(f'<w:commentRange{side} w:id="{one}"/>' for one in numbers) for side in ("Start", "End")
        )
        body = parse_xml(f"<w:body {nsdecls('w')}>{begun}{'<w:t>同じ語</w:t>' * number}{ended}</w:body>")
        tracemalloc.start()
        marked = returned._marked_in(body, "document")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert {one.words for one in marked.values()} == {("同じ語" * 7)[:20]}
        assert len(marked) == number
        return peak

    assert peak_of(2_000) < 3 * peak_of(1_000)
