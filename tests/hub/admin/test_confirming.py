"""What can't be undone, or is in force for everybody at once, asks who is there."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.urls import reverse

from hub.access.sessions import CONFIRMED
from hub.admin_site.confirming import CONFIRMED_ENDINGS, CONFIRMED_PAGES
from tests.factories import new_collection
from tests.hub.admin.support import client_of, make_user

pytestmark = pytest.mark.django_db
WORDS = ("publish", "approve", "retire", "sign_off", "delete", "drop")


def test_every_page_of_the_admin_that_publishes_signs_or_deletes_is_among_them():
    names = {str(pattern.name) for model in admin.site._registry.values() for pattern in model.get_urls()}
    found = {name for name in names if any(word in name.split("_") or word in name for word in WORDS)}
    assert len(found) > 40
    asked = {name for name in found if name in CONFIRMED_PAGES or name.endswith(CONFIRMED_ENDINGS)}
    assert found - asked == set()


@pytest.mark.parametrize(
    "name",
    [
        *("knowledge_ontology_publish", "review_review_sign_off", "review_checklistversion_approve"),
        *("knowledge_collection_change", "knowledge_collection_delete", "review_checkitemversion_retire"),
    ],
)
def test_a_session_without_a_recent_proof_is_led_to_it_and_nothing_happens(name):
    client = client_of(make_user("総括", is_superuser=True))
    session = client.session
    del session[CONFIRMED]
    session.save()
    collection = new_collection(retention_days=10)
    answer = client.post(reverse(f"admin:{name}", args=[collection.pk]), {"retention_days": "1", "post": "yes"})
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("admin:hub_confirm"))
    collection.refresh_from_db()
    assert collection.retention_days == 10


def test_who_confirms_goes_on_at_the_page_whose_button_was_pressed():
    client = client_of(make_user("総括", is_superuser=True))
    session = client.session
    del session[CONFIRMED]
    session.save()
    pressed, page = (
        reverse("admin:knowledge_ontology_publish", args=[1]),
        reverse("admin:knowledge_ontology_change", args=[1]),
    )
    answer = client.post(pressed, headers={"Referer": f"http://testserver{page}"})
    assert answer["Location"] == f"{reverse('admin:hub_confirm')}?{urlencode({'next': page})}"
    elsewhere = client.post(pressed, headers={"Referer": "http://elsewhere.example/"})
    assert "elsewhere" not in elsewhere["Location"]
