"""Pages of prompts and scenarios in versions: who may publish a draft, and a copy of what stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from hub.access.services import principal_for_user
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import new_prompt_version
from review.curation.prompts import draft_prompt
from review.models import JudgePrompt, PromptKind, Scenario
from review.scenarios.versions import new_scenario_version
from tests.factories import make_hub_curator
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def writer() -> User:
    return make_hub_curator(make_user("hsato"))


@pytest.fixture
def other() -> User:
    """Somebody else who may publish."""
    user = make_hub_curator(make_user("suzuki"))
    User.objects.filter(pk=user.pk).update(last_name="鈴木", first_name="一郎")
    return user


def judge_prompt(writer: User) -> JudgePrompt:
    return draft_prompt(principal=principal_for_user(writer), kind=PromptKind.JUDGE, text="判定してください。")


def scenario(writer: User) -> Scenario:
    published = Scenario.objects.filter(status="published").first()
    assert published is not None
    return new_scenario_version(principal=principal_for_user(writer), scenario_id=published.pk)


def prompt_for_assistants(writer: User) -> PromptVersion:
    published = PromptVersion.objects.filter(status="published").first()
    assert published is not None
    return new_prompt_version(principal=principal_for_user(writer), version_id=published.pk)


DRAFTS = {
    "review_judgeprompt": judge_prompt,
    "review_scenario": scenario,
    "mcp_bridge_promptversion": prompt_for_assistants,
}


@pytest.mark.parametrize("model", DRAFTS)
def test_who_wrote_a_draft_reads_on_its_page_who_may_publish_it(writer: User, other: User, model: str) -> None:
    draft: Any = DRAFTS[model](writer)
    address = reverse(f"admin:{model}_change", args=[draft.pk])
    assert "鈴木 一郎 (suzuki)" in client_of(writer).get(address).content.decode()
    assert "公開できる人" not in client_of(other).get(address).content.decode()
    assert reverse(f"admin:{model}_copy", args=[draft.pk]) not in client_of(writer).get(address).content.decode()


@pytest.mark.parametrize("model", DRAFTS)
def test_what_is_in_force_is_copied_as_a_new_draft_from_its_page(writer: User, model: str) -> None:
    draft: Any = DRAFTS[model](writer)
    type(draft)._default_manager.filter(pk=draft.pk).update(status="retired")
    client = client_of(writer)
    copy = reverse(f"admin:{model}_copy", args=[draft.pk])
    assert copy in client.get(reverse(f"admin:{model}_change", args=[draft.pk])).content.decode()
    answer = client.post(copy)
    made = type(draft)._default_manager.exclude(pk=draft.pk).get(status="draft", **{draft.THING: draft.thing})
    assert answer["Location"] == reverse(f"admin:{model}_change", args=[made.pk])
    assert client.post(copy)["Location"] == answer["Location"]  # the draft that there is
    reader = client_of(make_user("readers"))
    assert copy not in reader.get(reverse(f"admin:{model}_change", args=[draft.pk])).content.decode()


def test_the_bench_of_a_judge_prompt_says_who_may_publish_and_copies_what_is_in_force(
    writer: User, other: User
) -> None:
    draft = judge_prompt(writer)
    bench = reverse("admin:review_judgeprompt_bench", args=[draft.pk])
    said = client_of(writer).get(bench).content.decode()
    assert "鈴木 一郎 (suzuki)" in said
    assert "比べて公開" not in said
    assert "公開できる人" not in client_of(other).get(bench).content.decode()
    listed = client_of(other).get(reverse("admin:review_judgeprompt_changelist")).content.decode()
    assert "hsato" in listed
    JudgePrompt.objects.filter(pk=draft.pk).update(status="retired")
    assert reverse("admin:review_judgeprompt_copy", args=[draft.pk]) in client_of(writer).get(bench).content.decode()
