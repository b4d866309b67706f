"""Corrections of a text as a diff that other programs apply."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.parsers.annotated.notes import Markup, Note
from review.report import build_report
from review.report.annotated.suggestion_diff import suggestion_diff
from review.report.facts import ReportOptions
from tests.review.report.test_annotated import OPERATOR, review_file

TEXT = "\n".join(f"{number} 行目のﾃｷｽﾄとﾃｷｽﾄ。" for number in range(1, 31))


def note(start: int, end: int, replacement: str | None) -> Note:
    return Note(text="半角", author="Hub", start=start, end=end, is_quote=True, replacement=replacement)


def markup(text: str, *notes: Note) -> Markup:
    return Markup(notes=notes, markdown=text, written=datetime(2026, 4, 1, tzinfo=UTC), list_title="")


def applied(folder: Path, text: str, diff: bytes) -> str:
    (folder / "設計.md").write_text(text, encoding="utf-8", newline="")
    (folder / "a.diff").write_bytes(diff)
    subprocess.run(["git", "apply", "--unsafe-paths", f"--directory={folder}", "a.diff"], cwd=folder, check=True)
    return (folder / "設計.md").read_text(encoding="utf-8")


def test_git_applies_it_with_several_in_a_line_and_without_an_end_of_the_last_line(tmp_path: Path) -> None:
    places = [at for at in range(len(TEXT)) if TEXT.startswith("ﾃｷｽﾄ", at)]
    chosen = [places[0], places[1], places[20], places[-1]]
    notes = [note(at, at + 4, "テキスト") for at in chosen]
    diff = suggestion_diff(markup(TEXT, *notes), "設計.md")
    wanted = TEXT
    for at in reversed(chosen):
        wanted = wanted[:at] + "テキスト" + wanted[at + 4 :]
    assert applied(tmp_path, TEXT, diff) == wanted
    assert diff.decode().count("@@ -") == 3


def test_what_overlaps_or_breaks_lines_is_left_out() -> None:
    text = "一行目の文。\n二行目の文。\n"
    notes = [note(0, 4, "1 行目"), note(2, 5, "x"), note(5, 9, "。"), note(7, 9, "二\n三"), note(0, 1, None)]
    diff = suggestion_diff(markup(text, *notes), "a.md").decode()
    assert diff.splitlines()[3:] == ["-一行目の文。", "+1 行目文。", " 二行目の文。"]
    assert suggestion_diff(markup(text, note(0, 1, None)), "a.md") == b""


@pytest.mark.django_db
def test_a_reviewed_markdown_file_comes_back_as_a_diff_of_its_corrections(tmp_path: Path) -> None:
    path = tmp_path / "基本設計書.md"
    text = "# 基本設計書\n\n## 1. 目的\n\n本書は予約ｼｽﾃﾑの基本設計を定める。\n"
    path.write_text(text, encoding="utf-8")
    review = review_file(path)
    options = ReportOptions(tracked_changes=True)
    report = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated", options=options)
    assert report.filename.endswith(".diff")
    assert "+本書は予約システムの基本設計を定める。" in report.content.decode()
    plain = build_report(principal=OPERATOR, review_id=review.public_id, report_format="annotated")
    assert plain.filename.endswith(".md")
