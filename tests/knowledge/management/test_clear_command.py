"""`manage.py clear`: what may not be deleted stays, with its reason, and does not keep the rest."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from hub.access.principals import local_operator
from knowledge.documents.editing import set_legal_hold
from knowledge.models import DeletionReceipt, Document
from tests.factories import upload_text

pytestmark = pytest.mark.django_db


def test_a_document_under_a_legal_hold_is_kept_and_the_others_go(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    first, held, last = (
        upload_text(local_operator(), tmp_path, f"# {name}\n", name=f"{name}.md").document for name in "甲乙丙"
    )
    set_legal_hold(principal=local_operator(), document_id=held.public_id, reason="監査のため")
    out, err = StringIO(), StringIO()

    with pytest.raises(SystemExit) as left:
        call_command("clear", "--collection", "default", "--yes", stdout=out, stderr=err)

    assert left.value.code == 1
    assert list(Document.objects.values_list("path", flat=True)) == ["乙.md"]
    assert "監査のため" in err.getvalue()
    assert out.getvalue().strip() == "documents 2, chunks 0 deleted"
    receipts = DeletionReceipt.objects.values_list("document_id", flat=True)
    assert set(receipts) == {first.public_id, last.public_id}
