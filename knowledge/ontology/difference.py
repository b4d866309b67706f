"""What one version of an ontology says and another does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

from rdflib import BNode, Graph, URIRef
from rdflib.term import Node

from knowledge.ontology.facts import ClassFacts, OntologyFacts, PropertyFacts
from knowledge.ontology.rdf_files import from_ntriples
from knowledge.ontology.vocabulary import compact, prefixes_of

Row = TypeVar("Row", ClassFacts, PropertyFacts)
STATEMENTS_SHOWN = 200
MAX_NESTING = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """``before`` and ``after`` are texts, lists joined by commas; their order does not count as a change."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A class or property that is in both; ``label`` is the new one in Japanese."""

    iri: str
    code: str
    label: str
    changes: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    added: tuple[Changed, ...] = ()
    removed: tuple[Changed, ...] = ()
    changed: tuple[Changed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OntologyDifference:
    """``statements_…`` are those beyond classes and properties, at most 200 of each; counts are whole."""

    is_same: bool
    header: tuple[FieldChange, ...]
    classes: Changes
    properties: Changes
    statements_added: tuple[str, ...]
    statements_removed: tuple[str, ...]
    statements_added_count: int
    statements_removed_count: int


def difference(old: OntologyFacts | None, new: OntologyFacts) -> OntologyDifference:
    """Compare two versions; everything is new without an old one."""
    before = old or OntologyFacts(domain=new.domain, name_ja="", name_en="")
    header = _field_changes(before, new, names=("name_ja", "name_en", "document_types"))
    classes = _changes(before.classes, new.classes)
    properties = _changes(before.properties, new.properties)
    added, removed = _statements(before, new)
    changes = (header, added, removed, *_parts(classes), *_parts(properties))
    return OntologyDifference(
        is_same=not any(changes),
        header=header,
        classes=classes,
        properties=properties,
        statements_added=tuple(added[:STATEMENTS_SHOWN]),
        statements_removed=tuple(removed[:STATEMENTS_SHOWN]),
        statements_added_count=len(added),
        statements_removed_count=len(removed),
    )


def _parts(changes: Changes) -> tuple[tuple[Changed, ...], ...]:
    return changes.added, changes.removed, changes.changed


def _changes(old: Sequence[Row], new: Sequence[Row]) -> Changes:
    before, after = {row.iri: row for row in old}, {row.iri: row for row in new}
    changed = []
    for iri in sorted(before.keys() & after.keys()):
        found = _field_changes(before[iri], after[iri], names=tuple(each.name for each in fields(after[iri])))
        if found:
            changed.append(_entry(after[iri], found))
    return Changes(
        added=tuple(_entry(after[iri]) for iri in sorted(after.keys() - before.keys())),
        removed=tuple(_entry(before[iri]) for iri in sorted(before.keys() - after.keys())),
        changed=tuple(changed),
    )


def _entry(row: ClassFacts | PropertyFacts, changes: tuple[FieldChange, ...] = ()) -> Changed:
    return Changed(iri=row.iri, code=row.code, label=row.label_ja or row.label_en, changes=changes)


def _field_changes(old: object, new: object, *, names: tuple[str, ...]) -> tuple[FieldChange, ...]:
    found = []
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        is_list = isinstance(after, tuple) and not name.startswith("elements")
        if (sorted(before) != sorted(after)) if is_list else before != after:
            found.append(FieldChange(field=name, before=_shown(before), after=_shown(after)))
    return tuple(found)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _statements(old: OntologyFacts, new: OntologyFacts) -> tuple[list[str], list[str]]:
    if old.remainder == new.remainder:
        return [], []
    before, after = Counter(statements(old)), Counter(statements(new))
    return sorted((after - before).elements()), sorted((before - after).elements())


def statements(facts: OntologyFacts) -> list[str]:
    """What a version says beyond its classes and properties, one a line; blank nodes by what hangs on them."""
    graph = from_ntriples(facts.remainder)
    prefixes = prefixes_of(facts.domain)  # not the file's own: other files call the same names by others
    written: set[Node] = set()
    lines = []
    for subject in sorted({node for node in graph.subjects() if isinstance(node, URIRef)}):
        for predicate, obj in graph.predicate_objects(subject):
            shown = (_term(each, graph, prefixes, written) for each in (subject, predicate, obj))
            lines.append(" ".join(shown))
    roots = {node for node in graph.subjects() if isinstance(node, BNode)} - written
    lines += [_term(node, graph, prefixes, written) for node in roots if (None, None, node) not in graph]
    return sorted(lines)


def _term(term: Node, graph: Graph, prefixes: dict[str, str], written: set[Node], depth: int = MAX_NESTING) -> str:
    if isinstance(term, URIRef):
        return compact(str(term), prefixes)
    if not isinstance(term, BNode):
        return term.n3()
    written.add(term)
    if not depth:
        return "[…]"
    inside = (
        f"{_term(predicate, graph, prefixes, written, 0)} {_term(obj, graph, prefixes, written, depth - 1)}"
        for predicate, obj in graph.predicate_objects(term)
    )
    return f"[ {'; '.join(sorted(inside))} ]"
