"""Versions of prompts and scenarios: saved as drafts and published by the same rules, whatever they are versions of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.access.versions import CuratedVersion, find_draft, publish, save_draft, take_draft
from hub.core.errors import Conflict
from mcp_bridge.models import PromptVersion
from review.models import JudgePrompt, Scenario
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db
ME = local_operator()


def prompt_draft() -> PromptVersion:
    return PromptVersion(template=PromptVersion.objects.all()[0].template, text_ja="要約せよ", text_en="Summarise")


def judge_draft() -> JudgePrompt:
    return JudgePrompt(kind="judge", text="厳しく判定すること。")


def scenario_draft() -> Scenario:
    return Scenario(code=Scenario.objects.all()[0].code, role="pjmo", name_ja="設計書の自己点検")


@pytest.fixture(params=[prompt_draft, judge_draft, scenario_draft])
def draft(request: pytest.FixtureRequest, db: None) -> CuratedVersion:
    make: Callable[[], CuratedVersion] = request.param
    made = make()
    save_draft(principal=ME, version=made)
    return made


def test_a_draft_gets_the_next_number_and_becomes_the_one_published_version(draft):
    others = draft.versions().exclude(pk=draft.pk)
    assert draft.number == max(one.number for one in others) + 1
    assert find_draft(others[0]) == draft
    with transaction.atomic():
        take_draft(draft)
        publish(principal=ME, version=draft)
    assert list(draft.versions().filter(status="published")) == [draft]
    assert draft.published_at is not None
    for action in ("MASTER_CHANGE", "MASTER_PUBLISH"):
        assert AuditEvent.objects.filter(action=action, resource=f"{draft.AUDITED_AS}:{draft}").count() == 1


def test_who_still_has_the_form_of_a_draft_that_was_published_can_neither_save_nor_publish_it(draft):
    stale = type(draft).objects.get(pk=draft.pk)
    with transaction.atomic():
        publish(principal=ME, version=draft)
    with pytest.raises(Conflict, match=str(draft)):
        save_draft(principal=ME, version=stale)
    with pytest.raises(Conflict, match=str(draft)), transaction.atomic():
        take_draft(stale)
    draft.refresh_from_db()
    assert draft.status == "published"


@pytest.mark.parametrize("make", [prompt_draft, scenario_draft])
def test_a_second_draft_beside_one_is_refused(make):
    save_draft(principal=ME, version=make())
    with pytest.raises(Conflict) as refused:
        save_draft(principal=ME, version=make())
    assert refused.value.error_code == "draft_exists"


def test_what_a_version_is_of_can_not_be_changed_in_its_form(draft):
    client = client_of(make_user("root", is_superuser=True))
    name = f"admin:{draft._meta.app_label}_{draft._meta.model_name}_change"
    client.post(reverse(name, args=[draft.pk]), {draft.THING: "summary", "text": "別の文", "note": ""})
    thing = draft.thing
    draft.refresh_from_db()
    assert draft.thing == thing
