"""REST calls about ontologies: their versions as RDF, what follows from them, what documents treat of them."""

from __future__ import annotations

from typing import Annotated, Literal

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from ninja import Query, Router

from hub.access.principals import HubRight
from hub.rest.auth import HubRequest
from hub.rest.errors import NotAcceptable, UnsupportedMediaType
from hub.rest.idempotency import reads
from hub.rest.schemas import ShortText
from hub.rest.uploads import received_body
from knowledge import document_checks
from knowledge.ontology import ontologies
from knowledge.ontology import schemas as shapes
from knowledge.ontology.coverage_schemas import CoverageIn, CoverageOut, coverage_out
from knowledge.ontology.rdf_files import FORMATS, MAX_BYTES, MEDIA_TYPES, format_of

router = Router()
CONTENT_TYPES = {"rdfxml": "application/rdf+xml", "turtle": "text/turtle", "jsonld": "application/ld+json"}
_RDF = {media_type: {"schema": {"type": "string"}} for media_type in CONTENT_TYPES.values()}
_RDF_BODY = {media_type: {"schema": {"type": "string", "maxLength": MAX_BYTES}} for media_type in _RDF}


@router.get("/ontologies", response=shapes.OntologiesOut)
def list_ontologies(request: HubRequest) -> shapes.OntologiesOut:
    """Every version of every domain, the newest first."""
    return shapes.OntologiesOut(
        items=[shapes.ontology_out(row) for row in ontologies.list_ontologies(request.principal)]
    )


@router.get("/ontologies/{domain}", openapi_extra={"responses": {200: {"description": "RDF", "content": _RDF}}})
def get_ontology(
    request: HubRequest,
    domain: str,
    version: Annotated[str, Query(max_length=20, description="draft, or a number; default: the published one")] = "",
    format: Annotated[
        Literal["rdfxml", "turtle", "jsonld"] | None, Query(description="in place of the Accept header")
    ] = None,
) -> HttpResponse:
    """A version as RDF: `Accept` chooses `application/rdf+xml`, `text/turtle` (default) or `application/ld+json`."""
    rdf_format = format or _accepted_format(request)
    content = ontologies.export_ontology(request.principal, domain, rdf_format=rdf_format, version=version)
    content_type = f"{CONTENT_TYPES[rdf_format]}; charset=utf-8"
    return HttpResponse(content, content_type=content_type, headers={"Vary": "Accept"})


def _accepted_format(request: HubRequest) -> str:
    known = [*(CONTENT_TYPES[name] for name in ("turtle", "rdfxml", "jsonld")), "application/json", "application/xml"]
    chosen = request.get_preferred_type(known)
    if chosen is None:
        raise NotAcceptable(
            _("None of the types in Accept can be had. There are: {known}."),
            known=", ".join(CONTENT_TYPES.values()),
        )
    return {"application/json": "jsonld", "application/xml": "rdfxml"}.get(chosen) or MEDIA_TYPES[chosen]


@router.put(
    "/ontologies/{domain}",
    response=shapes.OntologyImportOut,
    openapi_extra={"requestBody": {"required": True, "content": _RDF_BODY}},
)
def put_ontology(
    request: HubRequest, domain: str, publish: bool = False, preview: bool = False
) -> shapes.OntologyImportOut:
    """Import a file as a draft, or with `publish=true` as the published version; `preview=true` stores nothing.

    What its author may not publish stays a draft, for a second person: 409 `second_person_needed`.
    The answer says how the file differs from the published version, and which of its constructs are only kept.
    """
    request.principal.require_hub(HubRight.ONTOLOGIES)
    rdf_format = format_of(content_type=request.content_type or "")
    if rdf_format is None:
        raise UnsupportedMediaType(
            _("{given} can't be imported. Send one of: {known}."),
            given=request.content_type or "-",
            known=", ".join(CONTENT_TYPES.values()),
        )
    with received_body(request, filename=f"{domain}.{FORMATS[rdf_format]}") as received:
        data = received.path.read_bytes()
    if preview:
        found = ontologies.preview_import(request.principal, domain, data, rdf_format=rdf_format)
        return shapes.import_out(found, None)
    stored, found = ontologies.import_ontology(
        principal=request.principal, domain=domain, data=data, rdf_format=rdf_format, publish=publish
    )
    return shapes.import_out(found, stored)


@router.get("/ontologies/{domain}/diff", response=shapes.DifferenceOut)
def compare_versions(
    request: HubRequest, domain: str, base: ShortText, version: ShortText = ""
) -> shapes.DifferenceOut:
    """What `version` (default: the published one) says and `base` does not, and the other way round."""
    return shapes.difference_out(ontologies.compare_versions(request.principal, domain, base, version))


@router.post("/ontologies/{domain}/reason", response=shapes.ReasonOut)
@reads
def reason(request: HubRequest, domain: str, asked: shapes.ReasonIn) -> shapes.ReasonOut:
    """What follows from the published version, each fact with the chain of facts and rules that explains it."""
    return shapes.reason_out(
        document_checks.reason_ontology(
            request.principal, domain, asked.inference_type, target_class=asked.target_class, depth=asked.depth
        )
    )


@router.post("/ontologies/{domain}/coverage", response=CoverageOut)
@reads
def coverage(request: HubRequest, domain: str, asked: CoverageIn) -> CoverageOut:
    """Which of the topics that such a document must treat a document treats, and where; or how its headings nest."""
    return coverage_out(document_checks.check_coverage(request.principal, asked.document_id, domain, asked.check_type))
