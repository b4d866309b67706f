"""What a document says of the graph, read from its text and structure without a language model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.identifiers import identifier_facts
from knowledge.graph.names import name_key
from knowledge.graph.reading import SourceText, plain
from knowledge.graph.references import count_by_edge, reference_facts
from knowledge.ontology.titles import bare_title, headings_about
from knowledge.text.identifiers import names_of_document
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import Section

# Bumped when the extraction changes, so that documents are read again.
RULES = "1"
_GLOSSARY = ("用語", "略語", "定義", "glossary")
_OWN_ID_WITHIN = 3000


def extract(source: SourceText) -> Facts:
    """Read all nodes and edges that a document contributes. Pure: the same text gives the same facts, in one order."""
    nodes: list[NodeFact] = []
    edges: list[EdgeFact] = []
    for fact in _all_facts(source):
        (nodes if isinstance(fact, NodeFact) else edges).append(fact)  # type: ignore[arg-type]
    return Facts(nodes=tuple(_best_nodes(nodes)), edges=tuple(_counted(edges)))


def _all_facts(source: SourceText) -> Iterator[NodeFact | EdgeFact]:
    yield from _document(source)
    for section in source.sections:
        yield from _section(source, section)
    yield from reference_facts(source)
    yield from identifier_facts(source)
    yield from _concepts(source)
    yield from _glossary(source)


def _document(source: SourceText) -> Iterator[NodeFact | EdgeFact]:
    own_ids = names_of_document(source.text[:_OWN_ID_WITHIN])[:1]
    first_heading = source.sections[0].title if source.sections else ""
    names = [PurePosixPath(source.path).stem, PurePosixPath(source.path).name, bare_title(first_heading), *own_ids]
    yield NodeFact(
        ref=source.document,
        name=source.title,
        code=own_ids[0] if own_ids else "",
        aliases=tuple(dict.fromkeys(name for name in names if name and name != source.title)),
        properties={
            "document_id": source.document_id,
            "path": source.path,
            "document_type": source.document_type,
            "sections": len(source.sections),
        },
        rank=1,
    )
    yield EdgeFact(
        source=source.document,
        type="CATEGORIZED_BY",
        target=NodeRef(type="DocumentType", key=name_key(source.document_type)),
    )


def _section(source: SourceText, section: Section) -> Iterator[NodeFact | EdgeFact]:
    ref = source.section_refs[section.id]
    yield NodeFact(
        ref=ref,
        name=section.title[:500] or section.number or "—",
        code=section.number or "",
        aliases=(bare,) if (bare := bare_title(section.title)) and bare != section.title else (),
        properties={
            "document_id": source.document_id,
            "level": section.level,
            "number": section.number,
            "path": " › ".join(section.path)[:1000],
            "page": section.page,
            "start_offset": section.start,
            "end_offset": section.end,
        },
        start=section.start,
        end=section.body_start,
    )
    yield EdgeFact(source=source.document, type="HAS_SECTION", target=ref, start=section.start, end=section.body_start)
    if section.parent_id:
        parent = source.section_refs[section.parent_id]
        yield EdgeFact(source=parent, type="CONTAINS", target=ref, start=section.start, end=section.body_start)


def _concepts(source: SourceText) -> Iterator[EdgeFact]:
    """Headings that name an ontology's class put their section into its category."""
    headings = [(topic, headings_about(topic)) for topic in source.topics]
    for section in source.sections:
        if source.in_apparatus(section.start):
            continue
        for topic, named in headings:
            if named.include(section.title):
                yield EdgeFact(
                    source=source.section_refs[section.id],
                    type="CATEGORIZED_BY",
                    target=NodeRef(type="Concept", key=name_key(topic.code)),
                    start=section.start,
                    end=section.body_start,
                )


def _glossary(source: SourceText) -> Iterator[EdgeFact]:
    """The first cells of a glossary's rows define the concepts that they name."""
    for table in read_tables(source.text, source.blocks):
        section = section_at(source.sections, table.header.start)
        if section is None or not any(word in section.title.casefold() for word in _GLOSSARY):
            continue
        for row in table.rows:
            if row.cells and (term := plain(row.cells[0].text)):
                yield EdgeFact(
                    source=source.section_refs[section.id],
                    type="DEFINES",
                    target=NodeRef(type="Concept", key=name_key(term)),
                    start=row.cells[0].start,
                    end=row.cells[0].end,
                )


def _best_nodes(nodes: list[NodeFact]) -> Iterator[NodeFact]:
    """One fact per node: the first of the highest rank, with how often it is named."""
    by_ref: dict[NodeRef, list[NodeFact]] = {}
    for node in nodes:
        by_ref.setdefault(node.ref, []).append(node)
    for facts in by_ref.values():
        best = max(facts, key=lambda fact: fact.rank)
        if len(facts) > 1:
            best = replace(best, properties={**best.properties, "mentions": len(facts)})
        yield best


def _counted(edges: list[EdgeFact]) -> Iterator[EdgeFact]:
    """One fact per edge: the first, with how often it is stated."""
    counts = count_by_edge(edges)
    seen = set()
    for edge in edges:
        key = (edge.source, edge.type, edge.target)
        if key not in seen and edge.source != edge.target:
            seen.add(key)
            yield replace(edge, properties={**edge.properties, "mentions": counts[key]}) if counts[key] > 1 else edge
