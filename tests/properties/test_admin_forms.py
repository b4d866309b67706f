"""Whatever a field of an admin form is given, the page says what is wrong: it is never a failure of the hub.

The forms are those of every registered model admin, for adding and for changing a row: a new one is tried by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import transaction
from django.forms import BaseForm
from django.test import Client
from django.urls import reverse

from tests.properties.conftest import Filled

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1800)]

VALUES = {
    "minus one": "-1",
    "2^31": "2147483648",
    "2^63": "9223372036854775808",
    "5,000 digits": "9" * 5000,
    "1e999": "1e999",
    "NaN": "NaN",
    "NUL": "a\x00b",
    "100,000 characters": "あ" * 100_000,
    "JSON with 1e999": '{"a": 1e999}',
    "JSON with NUL": '{"a": "\\u0000"}',
    "JSON of 1,000 levels": '{"a":' * 1000 + "1" + "}" * 1000,
    "the last day": "9999-12-31",
}
TURNS = 12


@pytest.fixture
def client(filled: Filled) -> Client:
    browser = Client(raise_request_exception=False)
    browser.force_login(filled.user)
    return browser


def form_pages() -> Iterator[str]:
    """The address of each model's form for a new row, and of one row that there is."""
    for model in admin.site._registry:
        name = f"{admin.site.name}:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_add")
        row = model._default_manager.order_by("pk").first()
        if row is not None:
            yield reverse(f"{name}_change", args=[row.pk])


def sent_by(form: BaseForm) -> dict[str, Any]:
    """What a browser sends for a form that nobody filled in."""
    values = {form.add_prefix(name): form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    return {name: value for name, value in values.items() if isinstance(value, str | int | float | list)}


def shown(client: Client, address: str) -> tuple[dict[str, Any], list[str]] | None:
    """What the page's form would send, and its fields' names; None where nothing can be changed."""
    page = client.get(address)
    assert page.status_code < 500, address
    if page.status_code != 200 or not page.context or "adminform" not in page.context:
        return None
    form = page.context["adminform"].form
    data = sent_by(form)
    for inline in page.context.get("inline_admin_formsets", ()):
        data |= sent_by(inline.formset.management_form)
    return data, [form.add_prefix(name) for name in form.fields]


def test_no_value_in_any_admin_form_is_a_failure_of_the_hub(client):
    failed, number = [], 0
    for address in form_pages():
        found = shown(client, address)
        if found is None:
            continue
        data, fields = found
        for field in fields:
            number += 1
            for index, (name, value) in enumerate(VALUES.items()):
                if (index + number) % TURNS:
                    continue
                with transaction.atomic():
                    answer = client.post(address, {**data, field: value})
                    transaction.set_rollback(True)
                if answer.status_code >= 500:
                    failed.append(f"{address} {field}: {name}")
    assert number > 60, "the admin has hardly any form"
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("days", ["0", "-1", "36501", "2147483648", "1e999"])
def test_a_period_outside_of_a_century_is_an_error_of_the_form(client, days):
    address = reverse("admin:knowledge_collection_add")
    found = shown(client, address)
    assert found is not None
    answer = client.post(address, {**found[0], "slug": "made-now", "name": "x", "retention_days": days})
    assert answer.status_code == 200
    assert "retention_days" in answer.context["adminform"].form.errors


@pytest.mark.parametrize("key", ["9999-12-31", "²", "9" * 40])
def test_what_can_be_no_key_of_several_rows_is_an_error_of_the_form(client, filled, key):
    address = reverse("admin:auth_user_change", args=[filled.user.pk])
    found = shown(client, address)
    assert found is not None
    answer = client.post(address, {**found[0], "groups": key})
    assert answer.status_code == 200
    assert "groups" in answer.context["adminform"].form.errors
