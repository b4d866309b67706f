"""Ontologies through all doors: versions are drafted, published, retired; each change is written down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.access.versions import PublicationStatus, next_number, publish, retire, writers_of
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.languages import shown
from hub.core.patterns import PatternRefused, check_pattern
from hub.core.queue import enqueue_on_commit
from knowledge.models import DocumentType, Ontology
from knowledge.ontology import store
from knowledge.ontology.answers import ImportPreview
from knowledge.ontology.difference import OntologyDifference, difference
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.rdf_files import read_graph, write_graph
from knowledge.ontology.rdf_mapping import facts_of, graph_of
from knowledge.ontology.shape_checks import ask_for_check
from knowledge.ontology.shapes import has_shapes
from knowledge.ontology.titles import HEADING_CUE
from knowledge.ontology.vocabulary import Construct, kept_only

_DOMAIN = re.compile(r"[a-z][a-z0-9_-]{0,59}")


def list_ontologies(principal: Principal) -> QuerySet[Ontology]:
    """Every version of every domain with its counts, newest first within a domain; drafts for curators of the hub.

    One query.
    """
    principal.require(Scope.READ)
    counted = Ontology.objects.visible_to(principal).annotate(
        classes_number=Count("classes", distinct=True),
        topics_number=Count("classes", filter=Q(classes__is_topic=True), distinct=True),
        properties_number=Count("properties", distinct=True),
    )
    return counted.defer("remainder", "suppressed").order_by("domain", "-number")


def published_domains(principal: Principal) -> list[str]:
    """The domains that have a published ontology, sorted. One query."""
    principal.require(Scope.READ)
    published = Ontology.objects.filter(status=PublicationStatus.PUBLISHED)
    return list(published.order_by("domain").values_list("domain", flat=True))


def get_ontology(principal: Principal, domain: str, version: str = "") -> Ontology:
    """One version: the published one, ``draft`` for the newest draft, or a number.

    Raises NotFound, to all but curators of the hub also for drafts.
    """
    principal.require(Scope.READ)
    visible = Ontology.objects.visible_to(principal)
    versions = visible.filter(domain=domain)
    if version == "draft":
        found = versions.filter(status=PublicationStatus.DRAFT).order_by("-number").first()
    elif version in ("", "published"):
        found = versions.filter(status=PublicationStatus.PUBLISHED).first()
    else:
        is_number = version.isascii() and version.isdigit() and len(version) <= 9
        found = versions.filter(number=int(version)).first() if is_number else None
    if found is None:
        known = visible.order_by("domain").values_list("domain", flat=True).distinct()
        raise NotFound(
            _('There is no ontology "{domain}" in version {version}. Domains: {known}.'),
            domain=domain,
            version=version or PublicationStatus.PUBLISHED.value,
            known=", ".join(known) or "-",
        )
    return found


def export_ontology(principal: Principal, domain: str, *, rdf_format: str, version: str = "") -> bytes:
    """Write a version as RDF; the format is a key of ``rdf_files.FORMATS``. Raises NotFound, Conflict."""
    ontology = get_ontology(principal, domain, version)
    record_event(principal, "EXPORT", ontology.audited, version=ontology.number, format=rdf_format)
    return write_graph(graph_of(store.load_facts(ontology)), rdf_format=rdf_format)


def preview_import(principal: Principal, domain: str, data: bytes, *, rdf_format: str) -> ImportPreview:
    """Say what an import would change, without storing anything. Raises InvalidInput, LimitExceeded, Forbidden."""
    principal.require_hub(HubRight.ONTOLOGIES)
    if not _DOMAIN.fullmatch(domain):
        raise InvalidInput(
            _("{domain!r} is no name of a domain: use a to z, 0 to 9, _ and -, at most 60 characters."),
            field="domain",
            domain=domain[:80],
        )
    graph = read_graph(data, rdf_format=rdf_format, domain=domain)
    base = _base(domain)
    before = store.load_facts(base) if base else None
    names = (base.name_ja, base.name_en) if base else ("", "")
    facts = facts_of(graph, domain=domain, names=names)
    if before and not facts.document_types:
        # A file of another tool says nothing on document types: those of the version before go on to hold.
        facts = replace(facts, document_types=before.document_types)
    _check_document_types(facts)
    _check_patterns(facts)
    store.check_sizes(facts)
    return ImportPreview(facts=facts, base=base, difference=difference(before, facts), kept_only=kept_only(graph))


def _check_document_types(facts: OntologyFacts) -> None:
    known = set(DocumentType.objects.values_list("code", flat=True))
    if unknown := sorted(set(facts.document_types) - known):
        raise InvalidInput(
            _("Unknown document types: {unknown}. Known: {known}."),
            unknown=", ".join(unknown)[:300],
            known=", ".join(sorted(known)),
        )


def _check_patterns(facts: OntologyFacts) -> None:
    for row in facts.classes:
        for pattern in (*row.cues, *row.exclusions):
            try:
                check_pattern(pattern.removeprefix(HEADING_CUE), where=row.code)
            except PatternRefused as refused:
                raise InvalidInput(
                    _("{name}: {given} can't be used as a regular expression: {reason}"),
                    code="invalid_pattern",
                    name=row.code,
                    given=pattern[:200],
                    reason=shown(refused.reason),
                ) from refused


def import_ontology(
    *, principal: Principal, domain: str, data: bytes, rdf_format: str, publish: bool = False
) -> tuple[Ontology, ImportPreview]:
    """Make a draft of a file, or publish it at once. What equals the newest version makes no new one.

    Raises as :func:`preview_import` does, and what :func:`publish_ontology` raises: the draft stays then.
    """
    draft, preview = _import_draft(principal, domain, data, rdf_format=rdf_format)
    if publish and draft.status != PublicationStatus.PUBLISHED:
        draft = publish_ontology(principal=principal, domain=domain, number=draft.number)
    return draft, preview


@transaction.atomic
def _import_draft(principal: Principal, domain: str, data: bytes, *, rdf_format: str) -> tuple[Ontology, ImportPreview]:
    preview = preview_import(principal, domain, data, rdf_format=rdf_format)
    same = _same_version(preview)
    if same is not None:
        draft = same
    else:
        draft = create_version(
            preview.facts, based_on=preview.base, created_by=principal.name, writer_ids=writers_of(principal)
        )
        draft.kept_only = [_construct_dict(each) for each in preview.kept_only]
        draft.save(update_fields=["kept_only"])
        if has_shapes(graph_of(preview.facts)):
            ask_for_check(draft.pk)
            enqueue_on_commit("knowledge.validate_shapes", ontology_id=draft.pk)
        _record(principal, "IMPORT", draft, format=rdf_format)
    return draft, preview


def _same_version(preview: ImportPreview) -> Ontology | None:
    """The published version or the newest draft, if a file says just what it says."""
    if preview.base is None:
        return None
    if preview.difference.is_same and preview.base.status != PublicationStatus.RETIRED:
        return preview.base
    drafts = Ontology.objects.filter(domain=preview.facts.domain, status=PublicationStatus.DRAFT)
    draft = drafts.order_by("-number").first()
    return draft if draft and difference(store.load_facts(draft), preview.facts).is_same else None


def _construct_dict(found: Construct) -> dict[str, object]:
    return {
        "term": found.term,
        "count": found.count,
        "example": found.example,
        "note": {"ja": found.note_ja, "en": found.note_en},
    }


def create_version(
    facts: OntologyFacts,
    *,
    based_on: Ontology | None,
    created_by: str,
    writer_ids: Sequence[int] = (),
    shipped_version: str = "",
) -> Ontology:
    """Store facts as the domain's next version, a draft. For services and loaders, which check and record."""
    Ontology.objects.select_for_update().filter(domain=facts.domain).count()
    made = Ontology.objects.create(
        domain=facts.domain,
        number=next_number(Ontology.objects.filter(domain=facts.domain)),
        name_ja=facts.name_ja,
        name_en=facts.name_en,
        document_types=list(facts.document_types),
        remainder=facts.remainder,
        suppressed=facts.suppressed,
        prefixes=[list(pair) for pair in facts.prefixes],
        based_on=based_on,
        created_by=created_by,
        writer_ids=list(writer_ids),
        shipped_version=shipped_version,
    )
    store.fill(made, facts)
    return made


@transaction.atomic
def draft_from(*, principal: Principal, domain: str, version: str = "") -> Ontology:
    """Copy a version to a new draft that can be edited."""
    principal.require_hub(HubRight.ONTOLOGIES)
    base = get_ontology(principal, domain, version)
    made = create_version(
        store.load_facts(base), based_on=base, created_by=principal.name, writer_ids=writers_of(principal)
    )
    Ontology.objects.filter(pk=made.pk).update(kept_only=base.kept_only, shapes_report=base.shapes_report)
    _record(principal, "DRAFT", made, based_on=base.number)
    return made


@transaction.atomic
def publish_ontology(*, principal: Principal, domain: str, number: int) -> Ontology:
    """Make a draft the version that checks and search use; the one before is retired.

    Raises NotFound, and Conflict: it is no draft, or the caller wrote it and somebody else has to publish it.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    draft = _locked(principal, domain, number)
    if not draft.is_draft:
        raise Conflict(
            _("Version {number} of {domain} is {status}; only drafts can be published. Make a draft of it."),
            number=number,
            domain=domain,
            status=draft.get_status_display(),
        )
    publish(principal=principal, version=draft, facts={"version": number})
    return draft


@transaction.atomic
def retire_ontology(*, principal: Principal, domain: str, number: int) -> Ontology:
    """Take a version out of use for good; a retired published one leaves its domain without any.

    Raises NotFound, and Conflict: see :func:`hub.access.versions.require_withdrawal`.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    found = _locked(principal, domain, number)
    if found.status != PublicationStatus.RETIRED:
        retire(principal=principal, version=found, facts={"version": number})
    return found


def compare_versions(principal: Principal, domain: str, old: str, new: str) -> OntologyDifference:
    """What one version of a domain says and another does not. Raises NotFound."""
    before, after = (store.load_facts(get_ontology(principal, domain, each)) for each in (old, new))
    return difference(before, after)


def _base(domain: str) -> Ontology | None:
    """What an import is compared with: the published version, else the newest."""
    versions = Ontology.objects.filter(domain=domain).order_by("-number")
    return versions.filter(status=PublicationStatus.PUBLISHED).first() or versions.first()


def _locked(principal: Principal, domain: str, number: int) -> Ontology:
    found = get_ontology(principal, domain, str(number))
    return Ontology.objects.select_for_update().get(pk=found.pk)


def _record(principal: Principal, action: str, ontology: Ontology, **details: object) -> None:
    record_event(principal, f"{ontology.ACTIONS}_{action}", ontology.audited, version=ontology.number, **details)
