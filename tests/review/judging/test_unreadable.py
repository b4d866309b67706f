"""What a review does when the passages of its document can not be read: no verdict without them.

In a file of its own, for the documents of other files are held in a transaction.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.access.principals import local_operator
from knowledge.models import Document
from review.models import CheckItemVersion
from tests.factories import upload_text, work_through
from tests.knowledge.search.test_degraded import break_table, mend_table
from tests.review.judging.conftest import ITEM, PASS, TEXT, codes, run


@pytest.fixture
def document(item: CheckItemVersion, tmp_path: Path) -> Document:
    return work_through(upload_text(local_operator(), tmp_path, TEXT, document_type="basic_design").document)


@pytest.mark.django_db(transaction=True)
def test_a_check_whose_passages_can_not_be_read_is_an_error(document, configured):
    configured.answer = PASS
    break_table("knowledge_chunkpolicy")
    try:
        facts = run(document, check_items=(ITEM,))
    finally:
        mend_table("knowledge_chunkpolicy")
    assert facts.results[0].verdict == "error"
    assert codes(facts) == {"not_migrated"}
    assert not configured.requests
