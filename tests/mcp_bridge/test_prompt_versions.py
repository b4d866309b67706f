"""Curating the texts of the MCP prompts: drafts, what is refused, going back, what ships, and the admin's bench."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import translation

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Classification, Principal, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts import services
from mcp_bridge.prompts.bench import SAMPLES, try_version
from mcp_bridge.prompts.services import load_shipped_prompts, texts_in_force
from mcp_bridge.prompts.templates import LANGUAGES, Template

SHIPPED = {template: services.shipped_texts(template) for template in Template}
pytestmark = pytest.mark.django_db
QUERY_JA = "{check_item}について、{document_context}を探すクエリを書く。"
CURATOR = local_operator()


@pytest.fixture
def published() -> PromptVersion:
    load_shipped_prompts()
    return PromptVersion.objects.get(template=Template.QUERY, status="published")


@pytest.fixture
def draft(published: PromptVersion) -> PromptVersion:
    draft = services.new_prompt_version(principal=CURATOR, version_id=published.pk)
    draft.text_ja = QUERY_JA
    services.save_prompt_draft(principal=CURATOR, version=draft)
    return draft


@pytest.fixture
def english(admin_client) -> Iterator[None]:
    """Messages in English, from services and from pages."""
    admin_client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    with translation.override("en"):
        yield


def publish(version: PromptVersion) -> PromptVersion:
    return services.publish_mcp_prompt(principal=CURATOR, version_id=version.pk)


@pytest.mark.parametrize("template", Template)
def test_what_ships_could_be_published_and_the_samples_of_the_bench_write_it(published, template):
    version = PromptVersion.objects.get(template=template, status="published")
    assert version.texts == services.shipped_texts(template)
    for language in LANGUAGES:
        arguments = {**SAMPLES[template], "language": language}
        assert len(try_version(principal=CURATOR, version=version, arguments=arguments)) > 200


def test_a_draft_becomes_the_text_in_force_and_the_one_before_is_kept(
    published, draft, django_capture_on_commit_callbacks
):
    assert texts_in_force(Template.QUERY) == SHIPPED[Template.QUERY]  # a draft changes nothing yet
    with django_capture_on_commit_callbacks() as told:
        publish(draft)
    assert len(told) == 1
    assert texts_in_force(Template.QUERY) == {"ja": QUERY_JA, "en": SHIPPED[Template.QUERY]["en"]}
    published.refresh_from_db()
    assert (published.status, draft.number) == ("retired", published.number + 1)
    events = AuditEvent.objects.filter(resource=f"mcp_prompt:{draft}").values_list("action", flat=True)
    assert set(events) == {"MASTER_CHANGE", "MASTER_PUBLISH"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{check_item}と{docment_context}", "unknown places: {docment_context}"),
        ("{check_item}と{docment_context}", "This prompt has {check_item}, {document_context}"),
        ("{check_item}だけ", "lacks {document_context}"),
        ("{check_item.__class__}{check_item}{document_context}", "unknown places: {check_item.__class__}"),
        ("{check_item}" * 4 + "{document_context}", "{check_item} more than 3 times"),
        ("  \n", "is empty"),
    ],
)
def test_publishing_refuses_a_text_whose_places_are_wrong_and_names_the_right_ones(draft, english, text, words):
    draft.text_ja = text
    services.save_prompt_draft(principal=CURATOR, version=draft)
    with pytest.raises(InvalidInput) as caught:
        publish(draft)
    assert "(ja)" in str(caught.value)
    assert words in str(caught.value)
    assert texts_in_force(Template.QUERY) == SHIPPED[Template.QUERY]


def test_braces_of_examples_are_no_places(draft):
    draft.text_ja = QUERY_JA + '\n例: {"query": "応答時間", "limit": 5}\n{\n}'
    services.save_prompt_draft(principal=CURATOR, version=draft)
    publish(draft)


@pytest.mark.parametrize("text", ["あ" * (services.MAX_CHARACTERS + 1), QUERY_JA + "\x1b[31m"])
def test_a_text_that_could_not_be_sent_is_not_even_stored(draft, text):
    draft.text_ja = text
    with pytest.raises(InvalidInput):
        services.save_prompt_draft(principal=CURATOR, version=draft)


def test_what_is_published_never_changes_and_there_is_one_draft(published, draft):
    assert services.new_prompt_version(principal=CURATOR, version_id=published.pk) == draft
    second = PromptVersion(template=Template.QUERY, text_ja="x", text_en="x")
    with pytest.raises(Conflict):
        services.save_prompt_draft(principal=CURATOR, version=second)
    publish(draft)
    draft.refresh_from_db()
    for refused in (services.save_prompt_draft, lambda *, principal, version: publish(version)):
        with pytest.raises(Conflict):
            refused(principal=CURATOR, version=draft)


def test_the_text_that_ships_comes_back_as_a_new_version(published, draft):
    with pytest.raises(Conflict):
        services.restore_shipped(principal=CURATOR, version_id=published.pk)
    publish(draft)
    back = services.restore_shipped(principal=CURATOR, version_id=draft.pk)
    assert (back.number, back.is_shipped) == (draft.number + 1, True)
    assert texts_in_force(Template.QUERY) == SHIPPED[Template.QUERY]


def test_a_release_with_a_better_text_replaces_ours_and_leaves_curated_ones(published, draft, monkeypatch):
    publish(draft)
    better = {"ja": QUERY_JA + "改", "en": "{check_item} {document_context} better"}
    structure = {name: text + "\n改" for name, text in SHIPPED[Template.COVERAGE_OF_STRUCTURE].items()}
    newer = {**SHIPPED, Template.QUERY: better, Template.COVERAGE_OF_STRUCTURE: structure}
    monkeypatch.setattr(services, "shipped_texts", newer.__getitem__)
    load_shipped_prompts()
    load_shipped_prompts()  # again: nothing more
    assert texts_in_force(Template.QUERY)["ja"] == QUERY_JA
    assert texts_in_force(Template.COVERAGE_OF_STRUCTURE) == structure
    assert PromptVersion.objects.filter(template=Template.COVERAGE_OF_STRUCTURE).count() == 2


def test_without_any_version_the_texts_that_ship_are_written(db):
    PromptVersion.objects.all().delete()
    assert texts_in_force(Template.REVIEW) == SHIPPED[Template.REVIEW]


def test_only_curators_change_prompts(draft):
    reader = Principal(name="利用者", user_id=None, scopes=ALL_SCOPES, ceiling=Classification.C2)
    for refused in (services.publish_mcp_prompt, services.restore_shipped, services.new_prompt_version):
        with pytest.raises(Forbidden):
            refused(principal=reader, version_id=draft.pk)
    with pytest.raises(NotFound):
        services.publish_mcp_prompt(principal=CURATOR, version_id=0)


def test_the_bench_writes_a_draft_and_shows_what_differs_and_what_is_wrong(admin_client, draft, english):
    page = reverse("admin:mcp_bridge_promptversion_bench", args=[draft.pk])
    shown = admin_client.get(page).content.decode()
    assert f"+{QUERY_JA}" in shown
    written = admin_client.post(page, {"check_item": "BD-B02", "document_context": "2 性能", "language": "ja"})
    assert "&quot;BD-B02&quot;について、&quot;2 性能&quot;を探すクエリを書く。" in written.content.decode()
    refused = admin_client.post(page, {"check_item": "BD-B02", "document_context": "2 性能", "language": "fr"})
    assert "is not one of ja, en" in refused.content.decode().replace("&#x27;", "'")
    draft.text_ja = "{なにか}"
    services.save_prompt_draft(principal=CURATOR, version=draft)
    assert "unknown places: {なにか}" in admin_client.get(page).content.decode()


def test_the_bench_says_when_arguments_lead_to_the_prompts_other_text(published, english):
    version = PromptVersion.objects.get(template=Template.REASONING_RESULT, status="published")
    with pytest.raises(InvalidInput, match=r"its other text, reasoning_template\.question"):
        try_version(principal=CURATOR, version=version, arguments=SAMPLES[Template.REASONING_QUESTION])


def test_the_admin_makes_edits_publishes_and_restores(admin_client, published, english):
    def press(name: str, version: PromptVersion):
        return admin_client.post(reverse(f"admin:mcp_bridge_promptversion_{name}", args=[version.pk]), follow=True)

    press("copy", published)
    draft = PromptVersion.objects.get(template=Template.QUERY, status="draft")
    form = reverse("admin:mcp_bridge_promptversion_change", args=[draft.pk])
    assert "{check_item} {document_context}" in admin_client.get(form).content.decode()
    saved = admin_client.post(form, {"text_ja": QUERY_JA, "text_en": draft.text_en, "note": "短くする"})
    assert saved["Location"] == reverse("admin:mcp_bridge_promptversion_bench", args=[draft.pk])
    press("publish", draft)
    draft.refresh_from_db()
    assert (draft.status, draft.text_ja, draft.note) == ("published", QUERY_JA, "短くする")
    assert "<textarea" not in admin_client.get(form).content.decode()
    press("restore", draft)
    assert texts_in_force(Template.QUERY) == SHIPPED[Template.QUERY]
    assert admin_client.get(reverse("admin:mcp_bridge_promptversion_changelist")).status_code == 200


def test_who_does_not_curate_sees_no_prompts(client, draft):
    client.force_login(User.objects.create_user("reader", is_staff=True))
    assert client.get(reverse("admin:mcp_bridge_promptversion_bench", args=[draft.pk])).status_code == 404
    assert client.get(reverse("admin:mcp_bridge_promptversion_changelist")).status_code == 403
    client.post(reverse("admin:mcp_bridge_promptversion_publish", args=[draft.pk]))
    draft.refresh_from_db()
    assert draft.status == "draft"
