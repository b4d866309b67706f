"""What a review does when the search in its document does not answer: no verdict rests on passages nobody chose."""

from __future__ import annotations

import pytest

from review.models import CheckItemVersion
from tests.knowledge.search.test_degraded import break_table, mend_table
from tests.llm_server import prompt_of
from tests.review.judging.conftest import GROUND, ITEM, PASS, codes, run
from tests.review.judging.long_model import grounded, model

VECTORS, WORDS = "knowledge_chunkvector", "knowledge_lexicalterm"
BY_RULES = "BD-A01"


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "code"), [(VECTORS, "vector_unavailable"), (WORDS, "lexical_unavailable")])
def test_a_check_is_judged_with_what_one_leg_finds_and_says_so(document, configured, table: str, code: str):
    configured.answer = PASS
    break_table(table)
    facts = run(document)
    assert facts.results[0].verdict == "pass"
    assert code in codes(facts)


@pytest.mark.django_db
def test_a_document_that_is_shown_whole_is_judged_without_search(document, configured):
    configured.answer = PASS
    break_table(VECTORS)
    break_table(WORDS)
    facts = run(document)
    assert facts.results[0].verdict == "pass"
    assert "passages_unranked" in codes(facts)
    assert GROUND.replace("3", "３") in prompt_of(configured.requests[-1])


@pytest.mark.django_db
def test_a_check_of_a_long_document_is_an_error_without_search_and_the_other_checks_go_on(long, configured):
    CheckItemVersion.objects.filter(item__code=BY_RULES).update(
        criteria={"rules": [{"rule_id": "structure.duplicate_number", "params": {}}]}
    )
    configured.answer = model(grounded)
    break_table(VECTORS)
    break_table(WORDS)
    facts = run(long, check_items=(ITEM, BY_RULES))
    told = {result.check_item_id: (result.verdict, [one["code"] for one in result.notices]) for result in facts.results}
    assert told[ITEM] == ("error", ["passages_unranked", "passages_unranked"])
    assert told[BY_RULES][0] in {"pass", "fail", "warning"}
    assert facts.verdict == "error"
    assert not configured.requests
    mend_table(VECTORS)
    mend_table(WORDS)
    assert run(long).results[0].verdict == "pass"
