"""What a review does when the passages of its document can not be read: no verdict without them.

In a file of its own, for the long document of other files is held in a transaction.
"""

from __future__ import annotations

import pytest

from tests.knowledge.search.test_degraded import break_table, mend_table
from tests.review.judging.conftest import ITEM, PASS, codes, run


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
