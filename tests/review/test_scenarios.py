"""Scenarios: what ships, walking through one, curating versions, and the same facts through REST and MCP's reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Role, local_operator
from hub.access.services import create_token, principal_for_user
from hub.access.versions import PublicationStatus
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.models import Collection
from review import scenarios
from review.models import Scenario, ScenarioProgress, StepPage
from review.scenarios import versions as scenario_versions
from review.shipped import load_shipped_content
from tests.factories import new_collection, principal_with
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db
CODE = "pjmo-self-review"


def reader() -> Any:
    return principal_with(Role.READER, Collection.objects.get(slug="default"))


def draft_of(code: str) -> Scenario:
    source = Scenario.objects.get(code=code, status=PublicationStatus.PUBLISHED)
    return scenario_versions.new_scenario_version(principal=local_operator(), scenario_id=source.pk)


def test_one_scenario_ships_for_each_role_complete_in_both_languages():
    shipped = list(Scenario.objects.prefetch_related("steps"))
    assert {one.role for one in shipped} == {"pjmo", "quality_support", "admin"}
    for one in shipped:
        texts = [one.name_ja, one.name_en, one.description_ja, one.description_en]
        for step in one.steps.all():
            texts += [step.title_ja, step.title_en, step.description_ja, step.description_en]
            texts += [step.expected_ja, step.expected_en]
            assert step.page in StepPage.values
        assert all(texts), one
        assert one.steps.count() >= 5


def test_loading_again_adds_nothing_and_leaves_a_curator_s_version_alone():
    scenario_versions.publish_scenario(principal=local_operator(), scenario_id=draft_of(CODE).pk)
    before = Scenario.objects.count()
    load_shipped_content()
    assert Scenario.objects.count() == before
    assert scenarios.get_scenario(reader(), CODE).number == 2


def test_a_scenario_is_found_by_role_and_by_the_document_type_that_it_fits():
    who = reader()
    assert [one.id for one in scenarios.list_scenarios(who, role="pjmo")] == [CODE]
    assert {one.id for one in scenarios.list_scenarios(who, document_type="guideline")} == {"admin-master-revision"}
    for asked in ({"role": "boss"}, {"document_type": "novel"}):
        with pytest.raises(InvalidInput):
            scenarios.list_scenarios(who, **asked)


def test_the_list_asks_three_queries_whatever_is_in_it():
    who = reader()
    scenarios.tick_step(principal=who, code=CODE, action="upload")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        rows = scenarios.list_scenarios(who)
    assert len(asked) == 3
    assert {row.id: row.steps_done for row in rows}[CODE] == 1


def test_ticks_are_remembered_for_each_person_and_taken_away_again():
    one, other = reader(), reader()
    for _twice in range(2):
        found = scenarios.tick_step(principal=one, code=CODE, action="upload")
    assert found.ticked == ("upload",)
    assert found.next_step is not None
    assert found.next_step.action == "look-at-text"
    assert scenarios.walkthrough(other, CODE).ticked == ()
    assert scenarios.tick_step(principal=one, code=CODE, action="upload", done=False).ticked == ()
    scenarios.tick_step(principal=one, code=CODE, action="decide")
    assert scenarios.begin(principal=one, code=CODE).ticked == ()


def test_ticks_survive_a_new_version_of_the_scenario_where_the_step_is_still_there():
    who = reader()
    for action in ("upload", "hand-over"):
        scenarios.tick_step(principal=who, code=CODE, action=action)
    draft = draft_of(CODE)
    draft.steps.filter(action="hand-over").delete()
    scenario_versions.publish_scenario(principal=local_operator(), scenario_id=draft.pk)
    shown = scenarios.show_scenario(who, CODE)
    assert (shown.version, shown.steps_done) == (2, 1)
    assert [step.action for step in shown.workflow_steps if step.done] == ["upload"]


def test_unknown_scenarios_and_steps_are_named_with_those_that_are_known():
    who = reader()
    with pytest.raises(NotFound, match=CODE):
        scenarios.get_scenario(who, "nothing")
    with pytest.raises(NotFound, match="look-at-text"):
        scenarios.tick_step(principal=who, code=CODE, action="nothing")
    with pytest.raises(Conflict):
        scenarios.tick_step(principal=local_operator(), code=CODE, action="upload")
    assert not ScenarioProgress.objects.exists()


def test_a_document_that_the_person_may_no_longer_read_is_not_shown(review):
    document = review.version.document
    who = principal_with(Role.READER, document.collection)
    scenarios.walk_with(principal=who, code=CODE, document_id=document.public_id)
    assert scenarios.walkthrough(who, CODE).document == document
    document.collection = new_collection()
    document.save(update_fields=["collection"])
    assert scenarios.walkthrough(who, CODE).document is None
    with pytest.raises(NotFound):
        scenarios.walk_with(principal=who, code=CODE, document_id=document.public_id)


def test_a_published_version_is_replaced_by_the_draft_and_kept():
    draft = draft_of(CODE)
    assert draft_of(CODE).pk == draft.pk
    assert draft.steps.count() == Scenario.objects.get(code=CODE, number=1).steps.count()
    scenario_versions.publish_scenario(principal=local_operator(), scenario_id=draft.pk)
    states = dict(Scenario.objects.filter(code=CODE).values_list("number", "status"))
    assert states == {1: "retired", 2: "published"}
    assert AuditEvent.objects.filter(action="MASTER_PUBLISH", resource=f"scenario:{CODE} v2").exists()
    with pytest.raises(Conflict):
        scenario_versions.publish_scenario(principal=local_operator(), scenario_id=draft.pk)


def test_a_draft_without_steps_is_not_published_and_readers_curate_nothing():
    draft = draft_of(CODE)
    with pytest.raises(Forbidden):
        scenario_versions.publish_scenario(principal=reader(), scenario_id=draft.pk)
    with pytest.raises(Forbidden):
        scenario_versions.new_scenario_version(principal=reader(), scenario_id=draft.pk)
    draft.steps.all().delete()
    with pytest.raises(Conflict):
        scenario_versions.publish_scenario(principal=local_operator(), scenario_id=draft.pk)


def test_a_person_walks_through_with_links_to_the_pages_of_the_document(review):
    user = make_user("鈴木")
    document = review.version.document
    grant(user, Role.REVIEWER, document.collection)
    client = client_of(user)
    page = reverse("admin:review_scenario_walk", args=[CODE])
    assert reverse("admin:review_review_changelist") in client.get(page).content.decode()
    client.post(reverse("admin:review_scenario_document", args=[CODE]), {"document": document.public_id})
    shown = client.get(page).content.decode()
    for name in ("change", "triage", "diff"):
        assert reverse(f"admin:review_review_{name}", args=[review.pk]) in shown
    assert f"{reverse('admin:review_review_start')}?document={document.public_id}" in shown
    assert "2 / 9" in shown  # the text is there, and a review is finished
    answer = client.post(reverse("admin:review_scenario_tick", args=[CODE]), {"action": "decide", "done": "1"})
    assert answer["Location"].endswith("#step-decide")
    assert "3 / 9" in client.get(page).content.decode()
    assert "3 / 9" in client.get(reverse("admin:review_scenario_changelist")).content.decode()
    client.post(reverse("admin:review_scenario_begin", args=[CODE]))
    assert "0 / 9" in client.get(page).content.decode()


def test_a_curator_edits_a_draft_with_its_steps_and_publishes_it():
    client = client_of(make_user("佐藤", is_superuser=True), language="en")
    first = Scenario.objects.get(code=CODE)
    published = client.get(reverse("admin:review_scenario_change", args=[first.pk])).content.decode()
    assert "Basic design、Test plan" in published
    change = client.post(reverse("admin:review_scenario_copy", args=[first.pk]))["Location"]
    form = client.get(change).context["adminform"].form
    formset = client.get(change).context["inline_admin_formsets"][0].formset
    fields = {name: form[name].value() for name in form.fields} | {"document_types": "basic_design", "reason": "短縮"}
    fields |= {f"steps-{name}": formset.management_form[name].value() for name in formset.management_form.fields}
    assert [part["position"].value() for part in formset.forms] == list(range(1, 10))
    for part in formset.forms:
        fields |= {part.add_prefix(name): part[name].value() or "" for name in part.fields}
    answer = client.post(change, fields | {"steps-0-title_ja": "ファイルを登録する", "steps-8-DELETE": "on"})
    assert answer.status_code == 302
    draft = Scenario.objects.get(code=CODE, status="draft")
    assert (draft.steps.count(), draft.steps.first().title_ja, draft.reason) == (8, "ファイルを登録する", "短縮")
    assert list(draft.steps.values_list("position", flat=True)) == list(range(1, 9))
    client.post(reverse("admin:review_scenario_publish", args=[draft.pk]))
    assert scenarios.get_scenario(local_operator(), CODE).pk == draft.pk
    assert "_save" not in client.get(change).content.decode()


def test_rest_lists_shows_and_ticks(client):
    user = make_user("鈴木")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "en"}
    rows = client.get("/api/v1/scenarios?role=pjmo", headers=headers).json()
    assert [row["id"] for row in rows] == [CODE]
    door = f"/api/v1/scenarios/{CODE}"
    ticked = client.patch(
        f"{door}/steps/upload", json.dumps({"done": True}), content_type="application/json", headers=headers
    ).json()
    assert ticked == client.get(door, headers=headers).json()
    assert ticked["target_role"] == "pjmo"
    assert ticked["workflow_steps"][0] == {
        "order": 1,
        "action": "upload",
        "title": "Upload the document",
        "description": ticked["workflow_steps"][0]["description"],
        "expected_output": "The document is in the list, and its text has been taken in.",
        "page": "upload",
        "done": True,
        "seen": False,
        "proof": "text_ready",
    }
    missing = client.get("/api/v1/scenarios/x", headers=headers)
    assert (missing.status_code, missing.json()["code"]) == (404, "scenario_not_found")
    with translation.override("en"):
        shown = scenarios.show_scenario(principal_for_user(user), CODE).model_dump(mode="json")
    assert shown | {"published_at": ""} == ticked | {"published_at": ""}  # one of them tells microseconds
