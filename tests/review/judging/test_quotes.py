"""What a model's answer has to stand on: quotes that are in the text."""

from __future__ import annotations

import pytest

from review.models import CheckItemVersion
from tests.llm_server import prompt_of
from tests.review.judging.conftest import FAIL, GROUND, ITEM, PASS, TEXT, VAGUE, codes, judged, run

pytestmark = pytest.mark.django_db


def test_a_pass_stands_on_a_quote_however_its_width_is_written(document, configured):
    configured.answer = PASS
    facts = run(document)
    result = facts.results[0]
    assert (result.verdict, result.method, result.score) == ("pass", "llm", 0.8)
    start_offset, end_offset = result.judgement.grounds[0]
    assert TEXT[start_offset:end_offset] == "利用者検索の応答時間は３秒以内とする。"
    assert result.evidence.retrieved_chunks
    assert facts.summary.complete
    assert facts.usage.tokens_in > 0
    assert facts.usage.tokens_out > 0


def test_a_fail_has_the_place_of_its_quote_and_a_suggestion(document, configured):
    configured.answer = FAIL
    facts = run(document)
    assert facts.results[0].verdict == "fail"
    finding = facts.findings[0]
    assert finding.evidence[0].quote == VAGUE
    assert finding.evidence[0].verified
    assert finding.location.section_path[-1] == "3 障害時の対応"
    assert facts.suggestions[0].content == "担当と所要時間を書く。"


def test_something_missing_needs_no_quote_and_says_where_was_looked(document, configured):
    configured.answer = judged("fail", findings=({"kind": "missing", "message": "復旧の所要時間がない。"},))
    facts = run(document)
    assert facts.results[0].verdict == "fail"
    assert any("3 障害時の対応" in place for place in facts.findings[0].searched)


def test_something_missing_shows_the_words_that_state_a_part_of_it(document, configured):
    half = {"kind": "missing", "message": "復旧の所要時間がない。"}
    configured.answer = judged("fail", findings=({**half, "quote": VAGUE, "other": "復旧は30分以内に行う。"},))
    facts = run(document)
    assert facts.results[0].verdict == "fail"
    (found,) = facts.findings
    assert [(one.quote, one.verified) for one in found.evidence] == [(VAGUE, True), ("復旧は30分以内に行う。", False)]
    assert found.searched
    assert "llm_unverified" in codes(facts)


def test_a_pass_on_invented_quotes_is_asked_again_and_then_an_error(document, configured):
    configured.answer = judged("pass", quotes=("復旧は運用担当が30分以内に行う。",))
    facts = run(document)
    assert facts.results[0].verdict == "error"
    assert "llm_no_grounds" in codes(facts)
    assert facts.verdict == "error"
    assert len(configured.requests) == 2
    assert "refused" in prompt_of(configured.requests[1])


def test_one_true_quote_beside_an_invented_one_makes_no_pass(document, configured):
    configured.answer = judged("pass", quotes=(GROUND, "復旧は30分以内に行う。"))
    assert run(document).results[0].verdict == "error"


def test_a_pass_without_any_quote_or_with_a_blocking_finding_is_no_pass(document, configured):
    configured.answer = judged("pass")
    assert run(document).results[0].verdict == "error"
    configured.answer = judged("pass", quotes=(GROUND,), findings=({"quote": VAGUE},), reason="別の答え")
    CheckItemVersion.objects.filter(item__code=ITEM).update(description_ja="別の説明")
    assert "llm_contradiction" in codes(run(document))


def test_a_second_answer_that_holds_is_taken(document, configured):
    configured.answer = lambda asked: (
        PASS if "refused" in prompt_of(asked) else judged("pass", quotes=("ない文です。",))
    )(asked)
    assert run(document).results[0].verdict == "pass"


def test_findings_with_invented_quotes_are_kept_unverified_and_make_no_certain_fail(document, configured):
    configured.answer = judged("fail", findings=({"quote": "障害時は電話で連絡する。"},))
    facts = run(document)
    assert facts.results[0].verdict == "error"
    assert {"llm_only_fabricated", "llm_unverified"} <= codes(facts)
    assert [evidence.verified for evidence in facts.findings[0].evidence] == [False]
    assert facts.findings[0].evidence[0].quote == "障害時は電話で連絡する。"


def test_a_true_finding_beside_an_invented_one_is_a_fail(document, configured):
    configured.answer = judged("fail", findings=({"quote": VAGUE}, {"quote": "どこにもない文である。"}))
    facts = run(document)
    assert facts.results[0].verdict == "fail"
    assert sorted(all(e.verified for e in finding.evidence) for finding in facts.findings) == [False, True]
