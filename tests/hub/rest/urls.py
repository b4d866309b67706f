"""A small API that has one call for each convention, and nothing else."""

from __future__ import annotations

import threading
from typing import Annotated

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import include, path
from django.utils.translation import gettext_lazy as _
from ninja import Field, File, Form, Query, Router, Schema, Status, UploadedFile

from hub.access.models import AuditEvent
from hub.access.principals import Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, Unavailable
from hub.home.urls import urlpatterns as home_urls
from hub.rest.auth import HubRequest, principal_of
from hub.rest.conventions import HubAPI
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.responses import accepted, attachment, created
from hub.rest.schemas import Page, PageQuery
from hub.rest.uploads import received_body, received_file

router = Router()


class ThingFilters(Schema):
    action: str = "THING"


class ThingOut(Schema):
    id: int
    resource: str


class ThingIn(Schema):
    name: str
    count: int = Field(1, ge=1)


@router.get("/things", response=Page[ThingOut])
def list_things(
    request: HubRequest, filters: Annotated[ThingFilters, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[AuditEvent]:
    things = AuditEvent.objects.filter(action=filters.action)
    return paginate_keyset(things, limit=page.limit, cursor=page.cursor, scope=cursor_scope("things", filters))


@router.post("/things", response={201: ThingOut})
def create_thing(request: HubRequest, payload: ThingIn) -> HttpResponse:
    record_event(principal=request.principal, action="THING", resource=payload.name, count=payload.count)
    thing = AuditEvent.objects.filter(action="THING").latest("id")
    return created(request, location=f"/api/v1/things/{thing.pk}", body={"id": thing.pk, "resource": thing.resource})


@router.delete("/things/{thing_id}", response={204: None})
def delete_thing(request: HubRequest, thing_id: int) -> Status[None]:
    request.principal.require(Scope.ADMIN)
    return Status(204, None)


@router.post("/files")
def upload(request: HubRequest, file: Annotated[UploadedFile, File()], title: Annotated[str, Form()] = "") -> object:
    with received_file(file) as received:
        record_event(principal=request.principal, action="FILE", resource=received.filename)
        mode = received.path.stat().st_mode & 0o777
        return {"sha256": received.sha256, "size": received.size_bytes, "title": title, "mode": f"{mode:o}"}


@router.put("/raw")
def put_raw(request: HubRequest) -> object:
    with received_body(request, filename="ontology.ttl") as received:
        return {"sha256": received.sha256, "text": received.path.read_text(encoding="utf-8")}


@router.post("/jobs", response={202: dict[str, str]})
def start_job(request: HubRequest) -> HttpResponse:
    return accepted(request, location="/api/v1/jobs/job_1", body={"status": "queued"})


@router.get("/whoami")
def whoami(request: HttpRequest) -> object:
    return {"name": principal_of(request).name}


@router.get("/export")
def export(request: HttpRequest, filename: str, content_type: str, stream: bool = False) -> HttpResponseBase:
    parts = ["表題,値\n".encode(), b"1,2\n"]
    return attachment(request, parts if stream else b"".join(parts), filename=filename, content_type=content_type)


@router.get("/broken")
def broken(request: HttpRequest) -> None:
    raise RuntimeError("the password is 'himitsu'")


@router.get("/lost")
def lost(request: HttpRequest) -> None:
    raise Http404("AuditEvent matching query does not exist")


@router.get("/conflict")
def conflict(request: HttpRequest) -> None:
    # a message that Django ships in Japanese, so that the language shows before the hub has its own catalogue
    raise Conflict(_("Enter a valid date."))


@router.get("/bad-field")
def bad_field(request: HttpRequest) -> None:
    raise InvalidInput(_("The collection {slug} is archived."), field="collection", slug="規程")


@router.post("/flaky")
def flaky(request: HubRequest) -> object:
    record_event(principal=request.principal, action="FLAKY")
    if AuditEvent.objects.filter(action="FLAKY").count() == 1:
        raise Unavailable(_("The queue is down."))
    return {"done": True}


slow_entered = threading.Event()
slow_may_end = threading.Event()


@router.post("/slow")
def slow(request: HubRequest) -> object:
    slow_entered.set()
    assert slow_may_end.wait(timeout=30)
    return {"done": True}


api = HubAPI(title="Conventions", version="1", urls_namespace="conventions")
api.add_router("", router)


def broken_page(request: HttpRequest) -> None:
    raise RuntimeError("outside of ninja")


urlpatterns = [
    *home_urls,
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("api/broken-page", broken_page),
    path("i18n/", include("django.conf.urls.i18n")),
]

handler400 = "hub.home.errors.bad_request"
handler403 = "hub.home.errors.permission_denied"
handler404 = "hub.home.errors.page_not_found"
handler500 = "hub.home.errors.server_error"
