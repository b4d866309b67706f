"""Every page, action, filter and form field of the admin, and every other address of the site, for every person.

Templates are empty here, so that pages cost little: who may open what does not rest on them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.db.models import Model
from django.template import Origin
from django.template.loaders.base import Loader
from django.test import Client, override_settings
from django.urls import URLPattern, reverse

from hub.access.sessions import CONFIRMED
from hub.admin_site.pages import FETCHED
from hub.site.api import api
from hub.site.urls import urlpatterns
from tests.access.answers import Answer, Observed
from tests.access.asked import AskedAs
from tests.access.people import COLLECTION, NOBODY, PERSONS, PeopledHub
from tests.properties.examples import TURTLE

PAGES = ("list", "add", "change", "history", "delete")
SAVES = {"create": "add", "save": "change", "remove": "delete"}
METHODS = ("GET", "POST")
STATUS_OF_NO_DOOR = 405
# With what pages that tell failures as messages begin one that is for want of a right.
SAID_NO = (
    "This belongs to the whole hub",
    "This needs the scope",
    "Only an administrator",
    "Only a curator",
    "There is no review",
    "There is no document",
    "There is no evaluation",
    "There is no collection",
    "Select a valid choice",
    "doesn’t exist",
)
PARTS = ("review_review_triage_check", "review_review_triage_finding")  # a browser is led to their page
JSON_BODY = "json:"  # before the name of a page that takes JSON, and before what it is sent
GUIDELINE = "# 指針\n\n## 1. 記載\n\n### 1.1 性能\n\n性能の目標を書く。\n".encode()
CONFIRM_EVERY_S = 60.0
READY = "site /readyz"  # says 503 while some part is still loading


class EmptyTemplates(Loader):
    """Has every template, each without a word."""

    def get_template_sources(self, template_name: str) -> Iterator[Origin]:
        yield Origin(name=template_name, template_name=template_name, loader=self)

    def get_contents(self, origin: Origin) -> str:
        return ""


@contextmanager
def empty_templates() -> Iterator[None]:
    """Let pages be made without their texts inside the block."""
    backends: list[dict[str, Any]] = settings.TEMPLATES
    (backend,) = backends
    options = {**backend["OPTIONS"], "loaders": ["tests.access.admin_doors.EmptyTemplates"], "context_processors": []}
    templates = [{**backend, "APP_DIRS": False, "DIRS": [], "OPTIONS": options}]
    with override_settings(TEMPLATES=templates, UNFOLD={"SITE_URL": None}):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a door is: a method and a path, with what is sent there, as a script of a page does for a part of it."""

    method: str
    path: str
    form: dict[str, Any]
    is_part: bool = False


def addresses(hub: PeopledHub) -> dict[str, Address]:
    """The addresses of all doors of the admin and the site by their names in the table."""
    found = {f"site {name}": Address(method="GET", path=path, form={}) for name, path in _of_the_site(hub)}
    for pattern in _patterns():
        path, form = _filled(pattern, hub), _form(hub, str(pattern.name))
        for method in METHODS:
            if method == "POST" or JSON_BODY not in form:
                name = str(pattern.name)
                found[f"{method} {name}"] = Address(method=method, path=path, form=form, is_part=name in PARTS)
    for model in admin.site._registry:
        found |= {f"page {model._meta.label_lower} {page}": one for page, one in _of_model(model, hub)}
    return found


def _of_the_site(hub: PeopledHub) -> Iterator[tuple[str, str]]:
    given = {"public_id": hub.examples["document_id"], "review_id": hub.examples["review_id"], "report_format": "html"}
    given |= {
        "question_id": "1",
        "request_id": "1",
        "number": "1",
        "code": hub.examples["scenario_id"],
    }  # of a document without pages that are drawn; tests/hub/home asks for one that has some
    for pattern in urlpatterns:
        if isinstance(pattern, URLPattern):
            path = f"/{pattern.pattern}"
            filled = re.sub(r"<\w+:(\w+)>", lambda found: given.get(found[1], "office"), path)
            yield re.sub(r"<\w+:(\w+)>", r"{\1}", path), filled
    for path in (api.openapi_url, api.docs_url):
        yield f"/api/v1{path}", f"/api/v1{path}"
    yield "/i18n/setlang/", "/i18n/setlang/"


def _patterns() -> Iterator[URLPattern]:
    """The pages that are not those which Django makes for each model."""
    yield from (one for one in admin.site.get_urls() if isinstance(one, URLPattern) and one.name)
    for model, pages in admin.site._registry.items():
        usual = {f"{model._meta.app_label}_{model._meta.model_name}_{page}" for page in ("changelist", *PAGES)}
        yield from (one for one in pages.get_urls() if one.name and one.name not in usual)


def _filled(pattern: URLPattern, hub: PeopledHub) -> str:
    given = {name: _value(str(pattern.name), name, hub) for name in pattern.pattern.converters}
    given |= {"app_label": "knowledge"} if pattern.name == "app_list" else {}
    return reverse(f"admin:{pattern.name}", kwargs=given)


def _value(page: str, name: str, hub: PeopledHub) -> Any:
    row: Any = _row_of_page(page, hub)
    values = {
        "public_id": hub.examples["document_id"],
        "figure_id": hub.examples["figure_id"],
        "finding_id": hub.examples["finding_id"],
        "check_item_id": hub.examples["check_item_id"],
        "run_id": hub.examples["run_id"],
        "report_format": "json",
        "rdf_format": "turtle",
        "file_format": "csv",
        "number": 1,
        "user_id": hub.users["reader"].pk,
        "content_type_id": 1,
        "object_id": "1",
        "code": getattr(row, "code", ""),
        "slug": COLLECTION,
    }
    return values.get(name, row.pk if row else None)


def _row_of_page(page: str, hub: PeopledHub) -> Model | None:
    names = {"evaluation_evaluation": "evaluation.evaluationdataset"}
    fitting = [label for label in hub.rows if page.startswith(f"{label.replace('.', '_')}_")]
    fitting += [label for start, label in names.items() if page.startswith(start)]
    return hub.rows[fitting[0]] if fitting else None


def _form(hub: PeopledHub, page: str) -> dict[str, Any]:
    """What the page's form asks for: fields of one page, or those that several know."""
    given = hub.examples
    checks = [{"id": given["check_item_id"], "revision": 0}]
    row = _row_of_page(page, hub)
    of_pages: dict[str, dict[str, Any]] = {
        "knowledge_guideline_import": {"code": "made", "article_prefix": "MD-", "file": ("x.md", GUIDELINE)},
        "knowledge_ontology_import": {"domain": "made_now", "file": ("x.ttl", TURTLE.encode())},
        "review_checklist_import": {"file": ("x.csv", b"code\n")},
        "review_review_answers": {"file": ("x.csv", b"code\n")},
        "evaluation_gate": {"candidate": given["candidate"]},
        JSON_BODY + "review_review_triage_save": {
            "finding_ids": given["finding_ids"],
            "revisions": [0],
            "triage": "accepted",
        },
        JSON_BODY + "review_review_verdict": {"checks": checks, "verdict": "pass", "reason": "理由"},
        JSON_BODY + "review_review_take_back": {"checks": checks},
        JSON_BODY + "review_review_sign_off": {"comment": "承認"},
        JSON_BODY + "review_review_keep": {"dataset": given["dataset"], "finding_ids": given["finding_ids"]},
    }
    if JSON_BODY + page in of_pages:
        return {JSON_BODY: of_pages[JSON_BODY + page]}
    if page in of_pages:
        return of_pages[page]
    key = row.pk if row else ""
    return {"reason": "理由", "verdict": "pass", "document": given["document_id"], "ids": key, "_selected_action": key}


def _of_model(model: type[Model], hub: PeopledHub) -> Iterator[tuple[str, Address]]:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = hub.rows[model._meta.label_lower]
    paths = {"list": reverse(f"{name}_changelist"), "add": reverse(f"{name}_add")}
    paths |= {page: reverse(f"{name}_{page}", args=[row.pk]) for page in ("change", "history", "delete")}
    for page in PAGES:
        yield page, Address(method="GET", path=paths[page], form={})
    for name, page in SAVES.items():
        form = {"post": "yes", "confirmed": "1"} if name == "remove" else {}
        yield name, Address(method="POST", path=paths[page], form=form)


def _with_files(form: dict[str, Any]) -> dict[str, Any]:
    return {name: SimpleUploadedFile(*value) if isinstance(value, tuple) else value for name, value in form.items()}


class Browser:
    """A person's browser."""

    def __init__(self, hub: PeopledHub, person: str) -> None:
        self._hub = hub
        self._client = Client(raise_request_exception=False, headers={"Accept-Language": "en"})
        if person != NOBODY:
            self._client.force_login(hub.users[person])
        self._cookies = {name: morsel.value for name, morsel in self._client.cookies.items()}
        self._confirmed_at = time.time()

    def send(self, address: Address) -> Any:
        """Send it and take back what it did; gives the response."""
        self._stay_confirmed()
        with transaction.atomic():
            if JSON_BODY in address.form:
                body = address.form[JSON_BODY]
                response: Any = self._client.post(address.path, body, content_type="application/json")
            else:
                send = getattr(self._client, address.method.lower())
                headers = {"X-Requested-With": FETCHED} if address.is_part else {}
                response = send(address.path, _with_files(address.form), headers=headers)
            if response.streaming and not response.is_async:
                b"".join(response)
            transaction.set_rollback(True)
        self._client.cookies.load(self._cookies)  # also after signing out
        self._client.cookies.pop("messages", None)
        return response

    def _stay_confirmed(self) -> None:
        """Prove again who it is, once a minute: what asks for that (HUB_CONFIRM_MINUTES) is no matter of rights."""
        if self._cookies and time.time() - self._confirmed_at >= CONFIRM_EVERY_S:
            self._confirmed_at = time.time()
            session = self._client.session
            session[CONFIRMED] = self._confirmed_at
            session.save()


def answer_of(response: Any, door: str, hub: PeopledHub) -> Answer:
    """Tell what a page's answer means.

    Refused are 401, 403, 404, the way to sign in, and what a page tells of a want of a right.
    """
    assert response.status_code < 500 or door == READY, (door, response.content[:300])
    target = response.headers.get("Location", "")
    told = _told(response)
    is_open = response.status_code not in (401, 403, 404) and not target.startswith("/admin/login/")
    return Answer(
        is_open=is_open and not any(text in told for text in SAID_NO),
        shows=_shows(response, door, hub),
        told=f"{response.status_code} {target} {told}",
    )


def _told(response: Any) -> str:
    """What a page says beside its content: messages, what is wrong with its form, what became of each file."""
    context = getattr(response, "context_data", None) or {}
    said = [str(message) for message in getattr(response.wsgi_request, "_messages", ()) or ()]
    form = context.get("form")
    said += [str(form.errors.as_data())] if form is not None and form.is_bound else []
    if (saved := context.get("adminform")) is not None:  # what a service refuses is said on the form
        said += map(str, saved.form.non_field_errors())
    said += [str(context.get("error", "")), *(str(one) for one in context.get("outcomes", ()))]
    return " ".join(said)


def _shows(response: Any, door: str, hub: PeopledHub) -> bool:
    if not door.endswith(" list"):
        return False
    listed = (getattr(response, "context_data", None) or {}).get("cl")
    row = hub.rows.get(door.split()[1])
    return listed is not None and row is not None and listed.queryset.filter(pk=row.pk).exists()


def parts_of(response: Any, door: str) -> Iterator[str]:
    """Name what a page offers: actions and filters of a list, fields of a form."""
    context = getattr(response, "context_data", None) or {}
    _page, label, kind = door.split()
    if kind == "list" and "cl" in context:
        form = context.get("action_form")
        choices = form.fields["action"].choices if form is not None else ()
        yield from (f"action {label} {name}" for name, _text in choices if name)
        for one in context["cl"].list_filter:
            name = one if isinstance(one, str) else one[0] if isinstance(one, tuple) else one.__name__
            yield f"filter {label} {name}"
        yield from (f"field {label} list {name}" for name in context["cl"].list_editable)
    if kind in {"add", "change"} and "adminform" in context and context[f"has_{kind}_permission"]:
        yield from (f"field {label} {kind} {name}" for name in context["adminform"].form.fields)
        for inline in context.get("inline_admin_formsets", ()):
            if inline.has_add_permission or inline.has_change_permission:
                prefix = inline.formset.prefix
                yield from (f"field {label} {kind} {prefix}.{name}" for name in inline.formset.form.base_fields)


def admin_answers(hub: PeopledHub, asked_as: AskedAs) -> Observed:
    """Open every page as each of its persons."""
    everything = addresses(hub)
    observed: Observed = {}
    browsers = {person: Browser(hub, person) for person in PERSONS}
    # Which parts of the hub answer is no matter of rights, and asking the absent ones takes seconds.
    with empty_templates(), patch("hub.site.health.READINESS_CHECKS", ()), patch("hub.site.health.BASE_CHECKS", ()):
        for door, address in everything.items():
            opened = browsers["superuser"].send(address)
            if opened.status_code == STATUS_OF_NO_DOOR:
                continue
            others = (person for person in asked_as(door) if person != "superuser")
            responses = {"superuser": opened, **{person: browsers[person].send(address) for person in others}}
            for person, response in responses.items():
                observed.setdefault(door, {})[person] = answer_of(response, door, hub)
                if door.startswith("page "):
                    for part in parts_of(response, door):
                        shut = {one: Answer(is_open=False) for one in responses}
                        observed.setdefault(part, shut)[person] = Answer(is_open=True)
    return observed
