"""Every page of the admin opens, in both languages, for a superuser and for staff without any role."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib import admin
from django.template.defaultfilters import linebreaksbr
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import escape

from hub.access.principals import Role, local_operator
from knowledge.models import Collection, OntologyClass
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListVersion, JudgePrompt
from review.runs import execution
from review.runs.reviews import start_review
from tests.hub.admin.support import PASSWORD, add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
MODELS = sorted((model._meta.app_label, model._meta.model_name) for model in admin.site._registry)
PAGES = ("admin:index", "admin:hub_search", "admin:review_review_start")


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize(("app_label", "model"), MODELS)
def test_every_list_opens(app_label: str, model: str, language: str) -> None:
    client = client_of(make_user("佐藤", is_superuser=True), language=language)
    assert client.get(reverse(f"admin:{app_label}_{model}_changelist")).status_code == 200


@pytest.mark.parametrize(("app_label", "model"), MODELS)
def test_every_add_page_opens_or_is_refused(app_label: str, model: str) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    assert client.get(reverse(f"admin:{app_label}_{model}_add")).status_code in {200, 302, 403}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("is_superuser", [True, False])
def test_every_page_of_our_own_opens(page: str, is_superuser: bool, queue: None) -> None:
    assert client_of(make_user("佐藤", is_superuser=is_superuser)).get(reverse(page)).status_code == 200


def test_every_page_about_one_row_opens() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    for model in (CheckList, CheckListVersion, CheckItem, CheckItemVersion, OntologyClass, Collection):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
        row = model._default_manager.first()
        assert row is not None
        assert client.get(reverse(name, args=[row.pk])).status_code == 200, name


def test_a_page_of_a_row_names_deleting_and_the_person_as_japanese_does() -> None:
    person = make_user("sato", is_superuser=True)
    person.last_name, person.first_name = "佐藤", "一郎"
    person.save(update_fields=["last_name", "first_name"])
    address = reverse("admin:knowledge_collection_change", args=[Collection.objects.values_list("pk")[0][0]])
    page = client_of(person).get(address).content.decode()
    assert "コレクションを削除" in page
    assert "佐藤 一郎" in page
    assert "一郎 佐藤" not in page
    assert "Delete collection" in client_of(person, language="en").get(address).content.decode()


def test_long_texts_that_are_only_read_keep_their_lines() -> None:
    prompt = JudgePrompt.objects.exclude(status="draft").first()
    assert prompt is not None
    address = reverse("admin:review_judgeprompt_change", args=[prompt.pk])
    page = client_of(make_user("佐藤", is_superuser=True)).get(address).content.decode()
    assert str(linebreaksbr(escape(prompt.text))) in page


def test_every_field_of_a_form_is_named_in_both_languages(rf: RequestFactory) -> None:
    request = rf.get("/admin/")
    request.user = make_user("佐藤", is_superuser=True)
    unnamed = []
    for model, page in admin.site._registry.items():
        if not page.has_change_permission(request):
            continue
        forms = [(model, page.get_form(request))]
        forms += [(one.model, one.get_formset(request).form) for one in page.get_inline_instances(request)]
        for of, form in forms:
            fields = {field.name: field for field in of._meta.get_fields() if hasattr(field, "verbose_name")}
            shown = [fields[name] for name in form.base_fields if name in fields]
            unnamed += [str(field) for field in shown if not isinstance(field.verbose_name, Promise)]
    assert unnamed == []


def test_without_signing_in_every_page_leads_to_the_login_page() -> None:
    for page in PAGES:
        response = Client().get(reverse(page))
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("admin:login"))


def test_signing_in_at_the_login_page_leads_home_or_where_one_wanted_to_go() -> None:
    make_user("佐藤", is_superuser=True)
    client = Client()
    page = client.get(reverse("admin:login")).content.decode()
    assert '<input type="hidden" name="next" value="/" form="login-form">' in page
    asked = {"username": "佐藤", "password": PASSWORD, "next": "/admin/"}
    assert client.post(reverse("admin:login"), asked)["Location"] == "/admin/"


def test_the_language_is_switched_and_kept() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    search = reverse("admin:hub_search")
    assert "何を探しますか" in client.get(search).content.decode()
    client.post(reverse("set_language"), {"language": "en", "next": search})
    assert "What are you looking for?" in client.get(search).content.decode()


def test_the_front_page_shows_states_failures_with_reasons_and_reviews(tmp_path: Path, queue: None) -> None:
    design = add_document(tmp_path)
    add_document(tmp_path, filename="壊れた.pdf", text="%PDF-1.4 broken", document_type="other")
    review = start_review(principal=local_operator(), document_id=design.public_id)
    execution.execute(review.pk)
    shown = client_of(make_user("佐藤", is_superuser=True)).get(reverse("admin:index")).content.decode()
    assert "壊れた.pdf" in shown
    assert "ファイルが壊れている" in shown
    assert reverse("admin:review_review_change", args=[review.pk]) in shown
    assert "直近 10 秒間に応答したワーカーがありません" in shown


def test_the_front_page_shows_nothing_of_what_one_may_not_see(tmp_path: Path, queue: None) -> None:
    Collection.objects.create(slug="himitsu", name="秘密")
    add_document(tmp_path, filename="秘密.pdf", text="%PDF-1.4 broken", collection="himitsu")
    staff = make_user("高橋")
    grant(staff, Role.READER, Collection.objects.get(slug="default"))
    assert "秘密.pdf" not in client_of(staff).get(reverse("admin:index")).content.decode()
