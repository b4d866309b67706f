"""Documents go to a provider outside once somebody has confirmed that it does not train on them."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Classification, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput
from hub.llm.client import ask
from hub.llm.confirmations import confirm_no_training, find_confirmation, withdraw_confirmation
from hub.llm.errors import LlmRefused
from hub.llm.models import ProviderConfirmation
from hub.llm.preparation import Purpose
from hub.llm.providers.openai_compatible import OpenAICompatibleProvider
from hub.llm.types import Limits
from tests.hub.llm.conftest import asking

pytestmark = pytest.mark.django_db
INTERNAL = Purpose(name="test", classification=Classification.C2)
EVIDENCE = {"evidence": "契約書 第12条", "retention": "30日"}


class Outside(OpenAICompatibleProvider):
    is_private = False


@pytest.fixture
def outside(configured):
    with closing(Outside(base_url=configured.url, limits=Limits(timeout_s=20, max_answer_chars=10_000))) as provider:
        yield provider


def send(provider, purpose: Purpose = INTERNAL):
    return ask(local_operator(), asking(), purpose=purpose, provider=provider)


def test_nothing_above_the_set_classification_goes_out_unconfirmed(configured, outside):
    with pytest.raises(LlmRefused, match="LLM_UNCONFIRMED_CLASSIFICATION") as caught:
        send(outside)
    assert caught.value.error_code == "llm_no_training_not_confirmed"
    assert configured.requests == []
    assert send(outside, Purpose(name="test")).data


def test_the_set_classification_is_a_setting(configured, outside, configure):
    configure(llm_unconfirmed_classification="c2")
    assert send(outside).data


def test_a_model_in_the_own_network_needs_no_confirmation(configured):
    assert ask(local_operator(), asking(), purpose=INTERNAL).data


def test_a_confirmation_opens_the_way_and_stands_with_each_request_in_the_audit_trail(configured, outside):
    row = confirm_no_training(principal=local_operator(), **EVIDENCE)
    assert send(outside).data
    told = AuditEvent.objects.get(action="LLM_INFERENCE").details
    assert told["no_training_confirmation"] == row.pk
    assert AuditEvent.objects.filter(action="CONFIG_CHANGE", details__no_training="confirmed").exists()


def test_a_confirmation_does_not_raise_the_ceiling(configured, outside):
    confirm_no_training(principal=local_operator(), **EVIDENCE)
    with pytest.raises(LlmRefused, match="LLM_MAX_CLASSIFICATION"):
        send(outside, Purpose(name="test", classification=Classification.C3))


def test_a_withdrawn_confirmation_and_one_of_another_endpoint_count_no_more(configured, outside, configure):
    row = confirm_no_training(principal=local_operator(), **EVIDENCE)
    configure(llm_base_url="https://other.example.com/v1")
    assert find_confirmation("openai") is None
    configure(llm_base_url=configured.url)
    withdraw_confirmation(principal=local_operator(), confirmation_id=row.pk)
    withdraw_confirmation(principal=local_operator(), confirmation_id=row.pk)
    with pytest.raises(LlmRefused):
        send(outside)
    assert AuditEvent.objects.filter(details__no_training="withdrawn").count() == 1
    assert confirm_no_training(principal=local_operator(), **EVIDENCE).pk != row.pk


def test_what_is_confirmed_is_not_confirmed_again_nor_without_evidence(configured):
    with pytest.raises(InvalidInput):
        confirm_no_training(principal=local_operator(), evidence=" ", retention="30日")
    confirm_no_training(principal=local_operator(), **EVIDENCE)
    with pytest.raises(Conflict):
        confirm_no_training(principal=local_operator(), **EVIDENCE)


def test_only_administrators_confirm_and_only_of_a_configured_provider(configured, configure):
    with pytest.raises(Forbidden):
        confirm_no_training(principal=replace(local_operator(), is_superuser=False), **EVIDENCE)
    configure(llm_provider="none")
    with pytest.raises(Conflict, match="LLM_PROVIDER"):
        confirm_no_training(principal=local_operator(), **EVIDENCE)


def test_it_is_recorded_and_withdrawn_in_the_admin(configured, admin_client):
    page = reverse("admin:llm_providerconfirmation_add")
    assert admin_client.get(page).status_code == 200
    admin_client.post(page, EVIDENCE)
    row = ProviderConfirmation.objects.get()
    assert (row.evidence, row.confirmed_by_name) == ("契約書 第12条", "admin")
    shown = admin_client.get(reverse("admin:llm_providerconfirmation_change", args=[row.pk])).content.decode()
    assert "契約書 第12条" in shown
    assert "<textarea" not in shown
    changelist = reverse("admin:llm_providerconfirmation_changelist")
    admin_client.post(changelist, {"action": "withdraw", "_selected_action": [row.pk]})
    row.refresh_from_db()
    assert row.withdrawn_at is not None


def test_the_command_line_records_shows_and_withdraws(configured, capsys):
    call_command("llm_confirmation")
    assert "not confirmed" in capsys.readouterr().out
    call_command("llm_confirmation", "--evidence", "契約書 第12条", "--retention", "30日")
    assert "契約書 第12条" in capsys.readouterr().out
    call_command("llm_confirmation", "--withdraw")
    assert "not confirmed" in capsys.readouterr().out


@pytest.mark.parametrize("is_confirmed", [False, True])
def test_doctor_tells_whether_a_provider_outside_is_confirmed(configured, configure, capsys, queue, is_confirmed):
    configure(llm_base_url="https://llm.invalid/v1")
    if is_confirmed:
        confirm_no_training(principal=local_operator(), **EVIDENCE)
    with pytest.raises(SystemExit):
        call_command("doctor", "--json")
    checks = json.loads(capsys.readouterr().out)["checks"]
    line = next(check for check in checks if check["check"] == "language model confirmation")
    assert line["status"] == ("ok" if is_confirmed else "note")
