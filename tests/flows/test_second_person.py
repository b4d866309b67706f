"""Whatever everybody shares is published by somebody else than who wrote it, of whatever kind it is."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Principal, Scope, local_operator
from hub.access.services import create_token, principal_for_user
from hub.core.errors import Conflict
from knowledge.guidelines import editions, imports
from knowledge.guidelines.imports import GuidelineImport
from knowledge.models import Guideline, GuidelineEdition, Ontology
from knowledge.ontology import editing, ontologies
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import new_prompt_version, publish_mcp_prompt, restore_shipped
from review.curation import master_versions
from review.curation.prompts import draft_prompt, publish_prompt, save_prompt_draft
from review.masters.listing import content_of
from review.models import CheckItemVersion, CheckListVersion, JudgePrompt, Scenario
from review.scenarios import versions as scenario_versions
from tests.factories import hub_curator, make_hub_curator, new_user
from tests.hub.admin.support import client_of, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]

TURTLE = """@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:x:Need> a owl:Class ; rdfs:label "Need"@en, "要件"@ja ."""
GUIDELINE = "# 指針\n\n## 1. 記載\n\n### 1.1 性能\n\n性能の目標を書く。\n"


@dataclass(frozen=True)
class Kind:
    """Something that is published: how a draft of it is made and put in force, and the state that it then has."""

    write: Callable[[Principal], Any]
    publish: Callable[[Principal, Any], Any]
    action: str = "MASTER_PUBLISH"
    in_force: str = "published"


def edition(principal: Principal) -> GuidelineEdition:
    asked = GuidelineImport(filename="x.md", content=GUIDELINE.encode(), code="house", prefix="HS-", name_ja="指針")
    return imports.import_edition(principal=principal, asked=asked)


def test_a_draft_of_a_guideline_in_force_changes_nothing_of_it_until_somebody_else_publishes_it() -> None:
    writer, second = hub_curator(), hub_curator()
    first = edition(writer)
    editions.publish_edition(principal=second, code="house", number=first.number)
    asked = GuidelineImport(
        filename="x.md", content=GUIDELINE.encode(), code="house", name_ja="偽の指針", publisher="他人", licence="なし"
    )
    draft = imports.import_edition(principal=writer, asked=asked)
    guideline = Guideline.objects.get(code="house")
    assert (guideline.name_ja, guideline.publisher, guideline.licence) == ("指針", "", "")
    page = client_of(make_user("佐藤", is_superuser=True)).get(
        reverse("admin:knowledge_guideline_diff", args=(guideline.pk, draft.number))
    )
    assert "指針 → 偽の指針" in page.content.decode()
    editions.publish_edition(principal=second, code="house", number=draft.number)
    guideline.refresh_from_db()
    assert (guideline.name_ja, guideline.publisher) == ("偽の指針", "他人")
    assert AuditEvent.objects.filter(action="GUIDELINE_PUBLISH").latest("pk").details["changed"] == [
        "licence",
        "name_ja",
        "publisher",
    ]


def item(principal: Principal) -> CheckItemVersion:
    approved = CheckItemVersion.objects.select_related("item").filter(status="approved").earliest("pk")
    return master_versions.draft_item(principal=principal, content=content_of(approved))


KINDS = {
    "judge prompt": Kind(
        lambda who: draft_prompt(principal=who, kind="judge", text="厳しく判定すること。"),
        lambda who, draft: publish_prompt(principal=who, prompt_id=draft.pk),
    ),
    "prompt for assistants": Kind(
        lambda who: new_prompt_version(principal=who, version_id=PromptVersion.objects.earliest("pk").pk),
        lambda who, draft: publish_mcp_prompt(principal=who, version_id=draft.pk),
    ),
    "scenario": Kind(
        lambda who: scenario_versions.new_scenario_version(
            principal=who, scenario_id=Scenario.objects.earliest("pk").pk
        ),
        lambda who, draft: scenario_versions.publish_scenario(principal=who, scenario_id=draft.pk),
    ),
    "check item": Kind(
        item,
        lambda who, draft: master_versions.approve_item_version(principal=who, version=draft),
        in_force="approved",
    ),
    "check list": Kind(
        lambda who: master_versions.copy_checklist_version(
            principal=who, version=CheckListVersion.objects.filter(status="approved").earliest("pk")
        ),
        lambda who, draft: master_versions.approve_checklist_version(principal=who, version=draft),
        in_force="approved",
    ),
    "ontology": Kind(
        lambda who: ontologies.draft_from(principal=who, domain="system_design"),
        lambda who, draft: ontologies.publish_ontology(principal=who, domain=draft.domain, number=draft.number),
        action="ONTOLOGY_PUBLISH",
    ),
    "guideline": Kind(
        edition,
        lambda who, draft: editions.publish_edition(principal=who, code="house", number=draft.number),
        action="GUIDELINE_PUBLISH",
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


def told(kind: Kind) -> dict[str, Any]:
    details: dict[str, Any] = AuditEvent.objects.filter(action=kind.action).latest("pk").details
    return {name: details[name] for name in ("written_by", "published_alone")}


@every_kind
def test_who_wrote_it_is_refused_and_it_stays_a_draft_until_somebody_else_publishes_it(kind: Kind) -> None:
    writer, second = hub_curator(), hub_curator()
    draft = kind.write(writer)
    with pytest.raises(Conflict) as refused:
        kind.publish(writer, draft)
    assert refused.value.error_code == "second_person_needed"
    assert second.name in str(refused.value)
    draft.refresh_from_db()
    assert draft.status == "draft"
    kind.publish(second, draft)
    draft.refresh_from_db()
    assert draft.status == kind.in_force
    assert told(kind) == {"written_by": [writer.user_id], "published_alone": False}


@pytest.mark.parametrize(
    ("kind", "page", "button"),
    [
        ("ontology", "knowledge_ontology_change", "knowledge_ontology_publish"),
        ("guideline", "knowledge_guideline_change", "knowledge_guideline_publish"),
        ("scenario", "review_scenario_changelist", "review_scenario_publish"),
        ("prompt for assistants", "mcp_bridge_promptversion_bench", "mcp_bridge_promptversion_publish"),
    ],
)
def test_a_page_offers_no_publication_that_is_refused_and_says_who_may(kind: str, page: str, button: str) -> None:
    writer, second = (make_hub_curator(make_user(name)) for name in ("起案", "承認"))
    User.objects.filter(pk=second.pk).update(last_name="高橋", first_name="次郎")
    draft = KINDS[kind].write(principal_for_user(writer))
    given = {"knowledge_guideline_change": [getattr(draft, "guideline_id", 0)], "review_scenario_changelist": []}
    address = reverse(f"admin:{page}", args=given.get(page, [draft.pk]))
    publish = reverse(f"admin:{button}", args=[draft.guideline_id, draft.number] if kind == "guideline" else [draft.pk])
    own, others = (client_of(person).get(address).content.decode() for person in (writer, second))
    assert (publish in own, publish in others) == (False, True)
    assert "高橋 次郎 (承認)" in own[own.index("書いた") :][:200]


def test_a_page_offers_no_retirement_that_is_refused_and_says_who_may() -> None:
    curator, administrator = make_hub_curator(make_user("担当")), make_user("管理", is_superuser=True)
    ontology = Ontology.objects.get(domain="system_design", status="published")
    version = CheckListVersion.objects.filter(status="approved").earliest("pk")
    for page, button, row in (
        ("knowledge_ontology_change", "knowledge_ontology_retire", ontology),
        ("review_checklistversion_change", "review_checklistversion_retire", version),
    ):
        address, retire = (reverse(f"admin:{name}", args=[row.pk]) for name in (page, button))
        refused, offered = (client_of(person).get(address).content.decode() for person in (curator, administrator))
        assert (retire in refused, retire in offered) == (False, True)
        assert "ハブの管理者だけ" in refused
        assert "ハブの管理者だけ" not in offered


@every_kind
def test_administrators_publish_alone_and_the_audit_trail_says_so(kind: Kind) -> None:
    administrator = principal_for_user(new_user(is_superuser=True))
    kind.publish(administrator, kind.write(administrator))
    assert told(kind) == {"written_by": [administrator.user_id], "published_alone": True}


def test_the_operator_is_no_known_person_and_publishes_alone() -> None:
    kind = KINDS["judge prompt"]
    kind.publish(local_operator(), kind.write(local_operator()))
    assert told(kind) == {"written_by": [], "published_alone": True}


@every_kind
def test_with_the_setting_off_one_person_does_both(kind: Kind, settings) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_second_person": False})
    writer = hub_curator()
    kind.publish(writer, kind.write(writer))
    assert told(kind) == {"written_by": [writer.user_id], "published_alone": True}


def test_doctor_says_that_one_person_publishes_alone(settings, capsys) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_second_person": False})
    with suppress(SystemExit):  # whatever else it finds
        call_command("doctor")
    assert "HUB_SECOND_PERSON is off" in capsys.readouterr().out


def test_everybody_who_wrote_in_a_draft_counts_and_not_the_last_one_alone() -> None:
    first, second, third = hub_curator(), hub_curator(), hub_curator()
    draft = draft_prompt(principal=first, kind="judge", text="甘く判定すること。")
    opened_before = JudgePrompt.objects.get(pk=draft.pk)
    draft.text = "甘く判定すること！"
    save_prompt_draft(principal=second, prompt=draft)
    opened_before.text = "甘く判定すること？"
    save_prompt_draft(principal=third, prompt=opened_before)
    for writer in (first, second, third):
        with pytest.raises(Conflict, match="judge"):
            publish_prompt(principal=writer, prompt_id=draft.pk)
    publish_prompt(principal=hub_curator(), prompt_id=draft.pk)


def test_a_user_who_takes_the_name_of_another_is_another_person_and_one_who_changes_theirs_is_not() -> None:
    user = make_hub_curator(new_user(username="sato"))
    draft = draft_prompt(principal=principal_for_user(user), kind="judge", text="文")
    user.username = "suzuki"
    user.save()
    with pytest.raises(Conflict):
        publish_prompt(principal=principal_for_user(user), prompt_id=draft.pk)
    namesake = make_hub_curator(new_user(username="sato"))
    publish_prompt(principal=principal_for_user(namesake), prompt_id=draft.pk)


def test_who_edits_a_class_of_an_ontologys_draft_wrote_it_too() -> None:
    first, second = hub_curator(), hub_curator()
    draft = ontologies.draft_from(principal=first, domain="system_design")
    row = draft.classes.earliest("pk")
    row.label_en = "Something else"
    editing.save_entry(principal=second, row=row, changed=["label_en"])
    with pytest.raises(Conflict, match="system_design"):
        ontologies.publish_ontology(principal=second, domain=draft.domain, number=draft.number)


def test_the_draft_items_of_a_list_count_with_the_list() -> None:
    writer, second = hub_curator(), hub_curator()
    approved = CheckListVersion.objects.filter(status="approved").earliest("pk")
    draft = master_versions.draft_checklist(principal=second, checklist=approved.checklist, items=[item(writer)])
    for own in (writer, second):
        with pytest.raises(Conflict, match=r"v\d"):
            master_versions.approve_checklist_version(principal=own, version=draft)
    master_versions.approve_checklist_version(principal=hub_curator(), version=draft)


def test_a_copy_of_a_scenario_was_not_written_by_who_wrote_the_one_before() -> None:
    writer = hub_curator()
    kind = KINDS["scenario"]
    kind.publish(hub_curator(), kind.write(writer))
    latest = Scenario.objects.filter(status="published").latest("pk")
    copy = scenario_versions.new_scenario_version(principal=hub_curator(), scenario_id=latest.pk)
    scenario_versions.publish_scenario(principal=writer, scenario_id=copy.pk)


def test_going_back_to_what_ships_takes_one_person() -> None:
    curator = hub_curator()
    kind = KINDS["prompt for assistants"]
    draft = kind.write(curator)
    draft.text_ja += "簡潔に。"
    draft.save()
    kind.publish(hub_curator(), draft)
    restore_shipped(principal=curator, version_id=draft.pk)


def test_an_ontology_put_with_publish_stays_a_draft_that_a_second_person_publishes() -> None:
    user = make_hub_curator(new_user())
    scopes = frozenset({Scope.READ, Scope.CURATE})
    tokens = [
        create_token(principal=local_operator(), user=one, name="t", scopes=scopes)[1]
        for one in (user, make_hub_curator(new_user()))
    ]

    def put(token: str) -> Any:
        return Client().put(
            "/api/v1/ontologies/needs?publish=true",
            TURTLE.encode(),
            content_type="text/turtle",
            headers={"Authorization": f"Bearer {token}"},
        )

    for _again in range(2):
        refused = put(tokens[0])
        assert (refused.status_code, refused.json()["code"]) == (409, "second_person_needed")
    draft = Ontology.objects.get(domain="needs")
    assert (draft.status, draft.writer_ids) == ("draft", [user.pk])
    assert put(tokens[1]).json()["status"] == "published"
    draft.refresh_from_db()
    assert draft.status == "published"


def test_the_page_says_who_can_publish_and_keeps_the_draft() -> None:
    writer, second = make_hub_curator(make_user("佐藤")), make_hub_curator(make_user("鈴木"))
    draft = draft_prompt(principal=principal_for_user(writer), kind="judge", text="文")
    page = reverse("admin:review_judgeprompt_publish", args=[draft.pk])
    shown = client_of(writer).post(page, follow=True).content.decode()
    assert "鈴木" in shown
    draft.refresh_from_db()
    assert draft.is_draft
    client_of(second).post(page)
    draft.refresh_from_db()
    assert not draft.is_draft


def test_an_import_page_with_publish_leads_to_the_draft_that_waits() -> None:
    writer = make_hub_curator(make_user("佐藤"))
    client = client_of(writer)
    page = reverse("admin:knowledge_ontology_import")
    file = io.BytesIO(TURTLE.encode())
    file.name = "needs.ttl"
    preview = client.post(page, {"domain": "needs", "file": file})
    asked = {"domain": "needs", "carried": preview.context["carried"], "store": "publish"}
    answer = client.post(page, asked)
    draft = Ontology.objects.get(domain="needs")
    assert answer["Location"] == reverse("admin:knowledge_ontology_change", args=[draft.pk])
    assert draft.is_draft


def test_one_curator_takes_nothing_out_of_force_without_something_in_its_place() -> None:
    curator = hub_curator()
    draft = edition(curator)
    editions.publish_edition(principal=hub_curator(), code="house", number=draft.number)
    checklist = CheckListVersion.objects.filter(status="approved").earliest("pk")
    ontology = Ontology.objects.filter(status="published").earliest("pk")

    def ways(who: Principal) -> list[Callable[[], object]]:
        return [
            lambda: editions.retire_edition(principal=who, code="house", number=draft.number),
            lambda: master_versions.retire_version(principal=who, version=checklist),
            lambda: ontologies.retire_ontology(principal=who, domain=ontology.domain, number=ontology.number),
        ]

    for retire in ways(curator):
        with pytest.raises(Conflict) as refused:
            retire()
        assert refused.value.error_code == "second_person_needed"
    for row in (checklist, ontology):
        row.refresh_from_db()
        assert row.status in ("approved", "published")
    for retire in ways(local_operator()):
        retire()


def test_with_the_setting_off_one_curator_retires_what_is_in_force(settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_second_person": False})
    checklist = CheckListVersion.objects.filter(status="approved").earliest("pk")
    master_versions.retire_version(principal=hub_curator(), version=checklist)
    checklist.refresh_from_db()
    assert checklist.status == "retired"
