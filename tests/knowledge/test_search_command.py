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
