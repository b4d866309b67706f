"""Requirement-like identifiers of a document as nodes and edges: what is defined, what is traced to what."""

from __future__ import annotations

from collections.abc import Iterator

from hub.core.patterns import stored_pattern
from knowledge.facts import EdgeFact, NodeFact, NodeRef
from knowledge.graph.reading import SourceText, name_key, plain
from knowledge.text.identifier_shapes import Mention, prefix_of, rows_with
from knowledge.text.identifiers import read_families, read_matches
from knowledge.text.structure import line_span, section_at
from knowledge.text.tables import Row, cells_of, read_tables
from knowledge.types.documents import BlockKind

DEFINED, MENTIONED = 2, 1
_LONGEST_ID = 60


def identifier_facts(source: SourceText) -> Iterator[NodeFact | EdgeFact]:
    """Yield a node for each identifier, where it is defined or mentioned, and what traces to what.

    A section that defines it DEFINES it; one that mentions it REFERENCES it where this document defines it, and
    TRACES_TO it where another one does. An identifier traces to those of other families that are in the row, or
    under the heading, that defines it.

    :raises PatternTooSlow: a curator's pattern takes too long. :raises PatternRefused: one can't be compiled.
    """
    families = read_families(source.text, source.sections, source.blocks)
    found = [(mention, "Requirement", family.role.value) for family in families for mention in family.mentions]
    known = {(mention.start, mention.end) for mention, _type, _role in found}
    for pattern, node_type in source.patterns.items():
        compiled = stored_pattern(pattern, where=f"identifier pattern of {node_type}")
        matches = read_matches(compiled, source.text, source.sections, source.blocks)
        found += [
            (m, node_type, "other") for m in matches if (m.start, m.end) not in known and len(m.id) <= _LONGEST_ID
        ]
    found = [entry for entry in found if not entry[0].in_code]
    types = {mention.id: node_type for mention, node_type, _role in found}
    defined = {mention.id for mention, _type, _role in found if mention.defines}
    for mention, node_type, role in found:
        ref = _ref(node_type, mention.id)
        yield _node(source, mention, ref, role)
        yield _place_edge(source, mention, ref, is_defined_here=mention.id in defined)
    mentions = [mention for mention, _type, _role in found]
    yield from _row_traces(source, types)
    yield from _heading_traces(source, mentions, types)


def _ref(node_type: str, identifier: str) -> NodeRef:
    return NodeRef(type=node_type, key=name_key(identifier))


def _node(source: SourceText, mention: Mention, ref: NodeRef, role: str) -> NodeFact:
    properties: dict[str, object] = {"role": role, "prefix": prefix_of(mention.id)}
    if mention.defines:
        properties |= {"label": _label(source, mention), "defined_in": source.document_id}
    return NodeFact(
        ref=ref,
        name=mention.id,
        code=mention.id,
        properties=properties,
        start=mention.start,
        end=mention.end,
        rank=DEFINED if mention.defines else MENTIONED,
    )


def _label(source: SourceText, mention: Mention) -> str:
    """What the definition calls it: the next cell of its row, or the rest of its line."""
    rest = source.text[mention.end : line_span(source.text, mention.end, mention.end)[1]]
    if source.kind(mention.start) is BlockKind.TABLE:
        rest = next((cell for cell in cells_of(rest) if cell.strip("`")), "")
    return plain(rest, 200).strip(" :：-—_）)】]")


def _place_edge(source: SourceText, mention: Mention, ref: NodeRef, *, is_defined_here: bool) -> EdgeFact:
    relation = "DEFINES" if mention.defines else "REFERENCES" if is_defined_here else "TRACES_TO"
    return EdgeFact(source=source.place(mention.start), type=relation, target=ref, start=mention.start, end=mention.end)


def _row_traces(source: SourceText, types: dict[str, str]) -> Iterator[EdgeFact]:
    families = read_families(source.text, source.sections, source.blocks)
    for _table, row, mentions in rows_with(families, read_tables(source.text, source.blocks)):
        heads = [mention for mention in mentions if mention.defines] or _leading(mentions, row)
        if len(heads) == 1:
            yield from _traces(heads[0], mentions, types)


def _leading(mentions: list[Mention], row: Row) -> list[Mention]:
    """The identifier that is a row's first cell: a mapping table lists there what is defined elsewhere."""
    first = row.cells[0] if row.cells else None
    if first is None:
        return []
    return [mention for mention in mentions if first.start <= mention.start and mention.end <= first.end]


def _heading_traces(source: SourceText, mentions: list[Mention], types: dict[str, str]) -> Iterator[EdgeFact]:
    by_section: dict[str, list[Mention]] = {}
    for mention in mentions:
        if (section := section_at(source.sections, mention.start)) is not None:
            by_section.setdefault(section.id, []).append(mention)
    for held in by_section.values():
        heads = [m for m in held if m.defines and source.kind(m.start) is BlockKind.HEADING]
        if len(heads) == 1:
            yield from _traces(heads[0], [m for m in held if source.kind(m.start) is not BlockKind.TABLE], types)


def _traces(head: Mention, mentions: list[Mention], types: dict[str, str]) -> Iterator[EdgeFact]:
    for mention in mentions:
        is_other_family = prefix_of(mention.id) != prefix_of(head.id)
        if is_other_family and not mention.defines and head.id in types and mention.id in types:
            yield EdgeFact(
                source=_ref(types[head.id], head.id),
                type="TRACES_TO",
                target=_ref(types[mention.id], mention.id),
                start=min(head.start, mention.start),
                end=max(head.end, mention.end),
            )
