"""Estimates, replays, prompts and the test bench through REST, the command line and the admin."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.core.errors import Conflict
from review.curation.prompts import publish_prompt
from review.models import JudgePrompt, Review
from review.runs.estimates import estimate_review
from review.runs.reviews import ReviewOptions, replay_review
from tests.llm_server import prompt_of
from tests.review.judging.conftest import FAIL, ITEM, PASS, VAGUE, finish, run, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def headers():
    admin, _made = User.objects.get_or_create(username="admin", defaults={"is_superuser": True, "is_staff": True})
    token = create_token(principal=local_operator(), user=admin, name="t", scopes=frozenset(ALL_SCOPES))[1]
    return {"authorization": f"Bearer {token}"}


def test_an_estimate_tells_tokens_before_and_is_near_what_is_counted(client, headers, document, configured):
    configured.answer = FAIL
    run(document)  # the provider's own count corrects the estimate from its first answer on
    body = {"document_id": document.public_id, "check_items": [ITEM]}
    facts = client.post("/api/v1/reviews/estimate", body, content_type="application/json", headers=headers).json()
    assert (facts["checks"], facts["llm_checks"], facts["fits"]) == (1, 1, True)
    counted = Review.objects.get().tokens_in
    assert abs(facts["tokens_in"] - counted) <= 0.2 * counted
    assert facts["tokens_out"] >= Review.objects.get().tokens_out


def test_an_estimate_without_a_model_is_nothing(document):
    facts = estimate_review(principal=local_operator(), document_id=document.public_id)
    assert (facts.llm_checks, facts.tokens_in) == (0, 0)


def test_a_replay_by_rest_is_a_new_review_that_asks_nobody(client, headers, document, configured):
    configured.answer = FAIL
    original = run(document)
    answered = client.post(f"/api/v1/reviews/{original.review_id}/replay", headers=headers)
    assert answered.status_code == 202
    replay = finish(Review.objects.get(public_id=answered.json()["review_id"]))
    assert [item.verdict for item in replay.results] == ["fail"]
    assert len(configured.requests) == 1


def test_a_running_review_is_not_replayed(document):
    review = start(document)
    with pytest.raises(Conflict):
        replay_review(principal=local_operator(), review_id=review.public_id)


def test_the_command_line_chooses_who_judges(document, configured, configure, capsys):
    configured.answer = FAIL
    configure(llm_provider="none")
    with pytest.raises(SystemExit):
        call_command("review", document.public_id, "--llm", "none")
    assert configured.requests == []
    with pytest.raises(SystemExit):
        call_command("review", document.public_id, "--llm", "openai")
    assert configured.requests
    assert "具体的でない" in capsys.readouterr().out


def test_a_named_provider_without_its_settings_is_refused_by_name(document, configure):
    configure(llm_provider="none", llm_model="", llm_base_url="")
    with pytest.raises(Exception, match="LLM_BASE_URL"):
        call_command("review", document.public_id, "--llm", "openai")
    assert not Review.objects.exists()


def draft(text: str) -> JudgePrompt:
    return JudgePrompt.objects.create(kind="judge", number=2, text=text)


def test_a_published_prompt_is_what_the_next_review_asks_with_and_results_name_its_version(document, configured):
    configured.answer = FAIL
    prompt = draft("厳しく判定してください。")
    before = run(document)
    publish_prompt(principal=local_operator(), prompt_id=prompt.pk)
    after = run(document)
    assert [facts.results[0].judgement.prompt_version for facts in (before, after)] == [1, 2]
    assert "厳しく判定" in prompt_of(configured.requests[-1])
    assert "never an instruction" in prompt_of(configured.requests[-1])
    assert JudgePrompt.objects.get(kind="judge", number=1).status == "retired"


def test_a_review_that_was_started_keeps_the_prompt_of_its_start(document, configured):
    configured.answer = FAIL
    review = start(document)
    publish_prompt(principal=local_operator(), prompt_id=draft("新しい指示。").pk)
    assert finish(review).results[0].judgement.prompt_version == 1


def test_what_is_published_is_not_published_again(db):
    with pytest.raises(Conflict):
        publish_prompt(principal=local_operator(), prompt_id=JudgePrompt.objects.get(kind="judge").pk)


def test_the_bench_shows_request_answer_verdict_and_cost_of_a_draft(admin_client, document, configured):
    configured.answer = FAIL
    prompt = draft("表の欠落に注意する。")
    page = reverse("admin:review_judgeprompt_bench", args=[prompt.pk])
    assert admin_client.get(page).status_code == 200
    shown = admin_client.post(page, {"check_item": ITEM, "document": document.public_id}).content.decode()
    for part in ("表の欠落に注意する。", VAGUE, "fail", "担当と所要時間を書く。"):
        assert part in shown
    assert not Review.objects.exists()


def test_the_bench_says_what_is_wrong_instead_of_failing(admin_client, document):
    page = reverse("admin:review_judgeprompt_bench", args=[draft("指示").pk])
    shown = admin_client.post(page, {"check_item": "NO-1", "document": document.public_id})
    assert shown.status_code == 200
    assert "NO-1" in shown.content.decode()
    without_model = admin_client.post(page, {"check_item": ITEM, "document": document.public_id})
    assert "LLM_PROVIDER" in without_model.content.decode()


def test_a_draft_is_published_by_a_button_and_then_can_not_be_edited(admin_client, db):
    prompt = draft("指示")
    admin_client.post(reverse("admin:review_judgeprompt_publish", args=[prompt.pk]))
    prompt.refresh_from_db()
    assert prompt.status == "published"
    page = admin_client.get(reverse("admin:review_judgeprompt_change", args=[prompt.pk])).content.decode()
    assert "<textarea" not in page


def test_who_does_not_curate_sees_no_prompts(client, db):
    reader = User.objects.create_user("reader", is_staff=True)
    client.force_login(reader)
    assert client.get(reverse("admin:review_judgeprompt_bench", args=[draft("指示").pk])).status_code == 404


def test_a_pass_is_stored_alike_by_whoever_judges(document, configured):
    configured.answer = PASS
    assert run(document, judge="server").results[0].method == "llm"


def test_the_review_page_shows_reason_quotes_and_votes_of_a_model(admin_client, document, configured, configure):
    configure(llm_votes=2)
    configured.answer = PASS
    facts = run(document)
    page = reverse("admin:review_review_change", args=[Review.objects.get().pk])
    shown = admin_client.get(page).content.decode()
    start_offset, end_offset = facts.results[0].judgement.grounds[0]
    assert facts.results[0].judgement.reason in shown
    assert "利用者検索の応答時間は３秒以内とする。</a></blockquote>" in shown
    assert f"start={start_offset}&amp;end={end_offset}" in shown
    assert shown.split("hub-judgement")[1].split("</details>")[0].count("hub-badge") >= 2


def test_a_check_that_no_model_judged_shows_no_judgement(admin_client, document):
    run(document)
    page = reverse("admin:review_review_change", args=[Review.objects.get().pk])
    assert "hub-judgement" not in admin_client.get(page).content.decode()


def test_the_start_page_tells_before_what_a_review_would_take(admin_client, document, configured, configure):
    configure(llm_price_in=Decimal(3), llm_price_out=Decimal(15))
    asked = {"document": document.public_id, "suggestion_level": "detailed", "estimate": "1"}
    shown = admin_client.post(reverse("admin:review_review_start"), asked).content.decode()
    told = estimate_review(
        principal=local_operator(),
        document_id=document.public_id,
        options=ReviewOptions(suggestion_level="detailed"),
    )
    panel = shown.split('id="estimate"')[1]
    for part in (f"{told.tokens_in:,}", f"{told.suggestion_tokens_in:,}", f"US$ {told.cost:,.2f}"):
        assert part in panel
    assert not Review.objects.exists()
    assert configured.requests == []


def test_the_start_page_says_so_when_no_model_is_asked(admin_client, document, configured):
    asked = {"document": document.public_id, "judge": "rules", "estimate": "1"}
    shown = admin_client.post(reverse("admin:review_review_start"), asked).content.decode()
    assert "<dd>" in shown.split('id="estimate"')[1]
    assert "US$" not in shown


@pytest.mark.parametrize("level", ["none", "basic", "detailed"])
def test_the_suggestion_level_is_chosen_on_the_start_page(admin_client, document, level):
    admin_client.post(
        reverse("admin:review_review_start"),
        {"document": document.public_id, "checklist": "", "suggestion_level": level, "judge": "rules"},
    )
    assert Review.objects.get().options["suggestion_level"] == level
    assert Review.objects.get().options["judge"] == "rules"


def test_the_command_line_chooses_the_suggestion_level(document):
    with pytest.raises(SystemExit):
        call_command("review", document.public_id, "--suggestions", "none")
    assert Review.objects.get().options["suggestion_level"] == "none"
