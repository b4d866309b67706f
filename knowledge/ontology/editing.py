"""Changing a draft by hand: its classes and properties, each change written down."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from rdflib import Literal, URIRef
from rdflib.namespace import DC, DCTERMS, RDFS, SKOS

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.access.versions import PublicationStatus, note_writer
from hub.core.bounds import check_row
from hub.core.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Ontology, OntologyClass, OntologyProperty
from knowledge.ontology.ontologies import draft_from, get_ontology
from knowledge.ontology.rdf_files import from_ntriples, to_ntriples
from knowledge.ontology.rdf_mapping import language_of
from knowledge.ontology.vocabulary import namespace_of
from knowledge.text.folding import fold_compact

_LABELS = frozenset({RDFS.label, SKOS.prefLabel, DCTERMS.title, DC.title})
# What an imported file said in other words (without a language, say) gives way to what a curator writes.
_REPLACED = {
    "label_ja": (_LABELS, "ja"),
    "label_en": (_LABELS, "en"),
    "definition_ja": (frozenset({SKOS.definition}), "ja"),
    "definition_en": (frozenset({SKOS.definition}), "en"),
    "synonyms": (frozenset({SKOS.altLabel}), ""),
}


@transaction.atomic
def save_entry(*, principal: Principal, row: OntologyClass | OntologyProperty, changed: Collection[str]) -> None:
    """Save a new or changed class or property of a draft; ``changed`` names the fields. Raises Conflict, Forbidden."""
    principal.require_hub(HubRight.ONTOLOGIES)
    draft = _draft(row, principal)
    row.iri = row.iri or namespace_of(draft.domain) + row.code
    if any(character in row.iri for character in ' <>"{}|\\^`') or ":" not in row.iri:
        raise InvalidInput(_("{iri!r} is not an IRI."), field="iri", iri=row.iri[:200])
    row.save()
    _replace_statements(draft, row.iri, changed)
    _record(principal, draft, row, "save", changed=sorted(changed))


@transaction.atomic
def add_synonym(*, principal: Principal, domain: str, code: str, synonym: str) -> Ontology:
    """Give a class of the published version another name in the newest draft that is based on it, or in a new one.

    Returns the draft. :raises Forbidden: the caller has no right to edit ontologies. :raises NotFound: there is no such
    domain or class. :raises Conflict: the class has the name already.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    published = get_ontology(principal, domain)
    drafts = Ontology.objects.filter(domain=domain, status=PublicationStatus.DRAFT, based_on=published)
    draft = drafts.order_by("-number").first() or draft_from(principal=principal, domain=domain)
    row = OntologyClass.objects.filter(ontology=draft, code=code).first()
    if row is None:
        text = _("{domain} has no class {name}.")
        raise NotFound(text, code="class_not_found", domain=domain, name=code[:80])
    name = synonym.strip()
    known = {fold_compact(one) for one in (row.label_ja, row.label_en, *row.synonyms)}
    if fold_compact(name) in known:
        raise Conflict(_("{name} has this name already."), code="synonym_exists", name=str(row))
    row.synonyms = [*row.synonyms, name]
    check_row(row)
    save_entry(principal=principal, row=row, changed=["synonyms"])
    return draft


@transaction.atomic
def set_parents(*, principal: Principal, row: OntologyClass, parents: Collection[OntologyClass]) -> None:
    """Put a class of a draft below others of the same version. Raises InvalidInput for a circle."""
    principal.require_hub(HubRight.ONTOLOGIES)
    draft = _draft(row, principal)
    for parent in parents:
        if parent.ontology_id != draft.pk:
            raise InvalidInput(_("{name} belongs to another version."), name=parent.code)
        if row.pk in _above(parent):
            raise InvalidInput(
                _("{child} can't be below {parent}, which is below it already."), child=row.code, parent=parent.code
            )
    row.parents.set(parents)


@transaction.atomic
def delete_entry(*, principal: Principal, row: OntologyClass | OntologyProperty) -> None:
    """Take a class or property out of a draft; other statements about it stay. Raises Conflict, Forbidden."""
    principal.require_hub(HubRight.ONTOLOGIES)
    draft = _draft(row, principal)
    _record(principal, draft, row, "delete")
    row.delete()


def _draft(row: OntologyClass | OntologyProperty, principal: Principal) -> Ontology:
    """Lock the draft that a row belongs to, and note that the caller writes in it. Raises Conflict."""
    ontology = Ontology.objects.select_for_update().get(pk=row.ontology_id)
    if not ontology.is_draft:
        raise Conflict(
            _("Version {number} of {domain} is {status} and does not change. Make a draft of it first."),
            number=ontology.number,
            domain=ontology.domain,
            status=ontology.get_status_display(),
        )
    note_writer(ontology, principal)
    ontology.save(update_fields=["writer_ids"])
    return ontology


def _above(row: OntologyClass) -> set[int]:
    """The class and everything above it."""
    links = OntologyClass.parents.through.objects.filter(from_ontologyclass__ontology_id=row.ontology_id)
    above: dict[int, list[int]] = {}
    for child, parent in links.values_list("from_ontologyclass_id", "to_ontologyclass_id"):
        above.setdefault(child, []).append(parent)
    found, waiting = {row.pk}, [row.pk]
    while waiting:
        new = [parent for parent in above.get(waiting.pop(), ()) if parent not in found]
        found.update(new)
        waiting.extend(new)
    return found


def _replace_statements(draft: Ontology, iri: str, changed: Collection[str]) -> None:
    """Drop what a file said of the changed fields in another form, so that an export does not say both."""
    replaced = [_REPLACED[name] for name in changed if name in _REPLACED]
    if not replaced or not draft.remainder:
        return
    graph = from_ntriples(draft.remainder)
    before = len(graph)
    for triple in list(graph.triples((URIRef(iri), None, None))):
        text = triple[2]
        for predicates, language in replaced:
            if triple[1] in predicates and isinstance(text, Literal):
                spoken = (text.language or language_of(text))[:2].lower()
                if language in ("", spoken):
                    graph.remove(triple)
    if len(graph) != before:
        draft.remainder = to_ntriples(graph)
        draft.save(update_fields=["remainder"])


def _record(
    principal: Principal, draft: Ontology, row: OntologyClass | OntologyProperty, what: str, **details: object
) -> None:
    kind = "ontology_class" if isinstance(row, OntologyClass) else "ontology_property"
    record_event(
        principal=principal,
        action="MASTER_CHANGE",
        resource=f"ontology:{draft.domain}",
        version=draft.number,
        what=what,
        **{kind: row.code},
        **details,
    )
