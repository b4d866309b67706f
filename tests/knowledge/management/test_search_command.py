"""`manage.py search`: what it prints, and in which language it remarks on it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.hub.admin.support import add_document

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("locale", "remark"),
    [
        ("ja_JP.UTF-8", "「XY-999」を含む文章は見つかりませんでした。"),
        ("en_US.UTF-8", "No passage was found that has XY-999."),
    ],
)
def test_remarks_are_in_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str, remark: str
) -> None:
    add_document(tmp_path)
    monkeypatch.setenv("LC_ALL", locale)
    out, err = StringIO(), StringIO()
    call_command("search", "XY-999 の応答時間", limit=1, stdout=out, stderr=err)
    assert out.getvalue().startswith("1. [")
    assert remark in err.getvalue()


def test_the_part_of_a_passage_that_was_asked_for_is_shown(tmp_path: Path) -> None:
    rows = "".join(f"| E-{n:04d} | 他の利用者が更新中です | 時間をおいて再実行する |\n" for n in range(1, 13))
    add_document(tmp_path, filename="一覧.md", text=f"# 一覧\n\n| ID | 文言 | 対処 |\n|---|---|---|\n{rows}")
    out = StringIO()
    call_command("search", "E-0009", limit=1, stdout=out)
    shown = out.getvalue().splitlines()[2].strip()
    assert shown.startswith("…")
    assert "E-0009" in shown
    assert "E-0001" not in shown
