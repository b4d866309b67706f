"""What a document says of the graph, read from its text and structure without a language model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from knowledge.facts import EdgeFact, Facts, NodeFact, NodeRef
from knowledge.graph.identifiers import identifier_facts
from knowledge.graph.reading import NamePlace, SourceText, find_names, name_key, plain
from knowledge.ontology.titles import headings_about
from knowledge.text.folding import normalise
from knowledge.text.identifiers import names_of_document
from knowledge.text.numbering import heading_number
from knowledge.text.outline import bare_title
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind, Section

# Bumped when the extraction changes, so that documents are read again.
RULES = "1"
_GLOSSARY = ("用語", "略語", "定義", "glossary")
_OWN_ID_WITHIN = 3000
_LABEL = re.compile(
    r"(?<![A-Za-z代発])(?P<word>図表|図|表|写真|Figure|Fig\.?|Table)\s?(?P<number>[0-9０-９]+(?:[-.－．‐][0-9０-９]+)*)"
    r"(?![0-9A-Za-z０-９年月日件個つ人名回円%％])",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"第\s*+(?P<chapter>[0-9０-９]++|[一二三四五六七八九十]++)\s*+章"
    r"|(?<![0-9０-９.．\-－])(?P<dotted>[0-9０-９]++(?:[.．][0-9０-９]++)++)\s*+(?:章|節|項|(?=(?:を|に|の|で|に?(?:も|は))?\s*+(?:参照|記載|示す|示した|述べ|定め|規定|よる|従)))"
    r"|(?<![0-9０-９.．第\-－])(?P<plain>[0-9０-９]{1,2})\s*+章"
)
_QUOTED = re.compile(
    r"「(?P<title>[^「」\n]{2,80})」(?=\s*(?:を参照|参照|に(?:記載|示|定|従|よ|お)|で(?:述べ|示|定)|の(?:章|節|項)))"
)
_AFTER_DOCUMENT = 15


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
    counts = Counter((edge.source, edge.type, edge.target) for edge in edges)
    seen = set()
    for edge in edges:
        key = (edge.source, edge.type, edge.target)
        if key not in seen and edge.source != edge.target:
            seen.add(key)
            yield replace(edge, properties={**edge.properties, "mentions": counts[key]}) if counts[key] > 1 else edge


def reference_facts(source: SourceText) -> Iterator[NodeFact | EdgeFact]:
    """Yield figures and tables by their captions, and an edge REFERENCES for each place that refers to something."""
    labelled = yield from _captions(source)
    for match in _LABEL.finditer(source.body):
        target = labelled.get(label_key(match))
        if target is not None and source.kind(match.start()) not in (BlockKind.CAPTION, BlockKind.FIGURE):
            yield _reference(source, match.start(), match.end(), target)
    named = find_names(source.body, source.names)
    for place in named:
        yield _reference(source, place.start, place.end, NodeRef(type="Document", id=place.node_id))
    for place in find_names(source.body, source.articles):
        yield _reference(source, place.start, place.end, NodeRef(type="GuidelineArticle", id=place.node_id))
    yield from _section_references(source, named)


def _captions(source: SourceText) -> Generator[NodeFact | EdgeFact, None, dict[str, NodeRef]]:
    """Yield what captions say; gives the labelled nodes by label."""
    labelled: dict[str, NodeRef] = {}
    for block in source.blocks:
        if block.kind not in (BlockKind.CAPTION, BlockKind.FIGURE):
            continue
        caption = source.text[block.start : block.end]
        match = _LABEL.search(caption)
        if match is None or label_key(match) in labelled:
            continue
        kind = "Table" if match["word"].casefold() in ("表", "table") else "Figure"
        label = label_key(match)
        ref = NodeRef(type=kind, id=source.part_id("fgt", label))
        labelled[label] = ref
        yield NodeFact(
            ref=ref,
            name=plain(caption) or label,
            code=label,
            properties={"document_id": source.document_id, "page": block.page},
            start=block.start,
            end=block.end,
        )
        yield EdgeFact(source=source.place(block.start), type="CONTAINS", target=ref, start=block.start, end=block.end)
    return labelled


def label_key(match: re.Match[str]) -> str:
    """Normalise the label of a figure or table: 図３－１ and 図 3.1 are 図3-1."""
    word = {"figure": "図", "fig": "図", "fig.": "図", "table": "表"}.get(match["word"].casefold(), match["word"])
    return word + re.sub(r"[.．－‐]", "-", normalise(match["number"]))


def _section_references(source: SourceText, named: list[NamePlace]) -> Iterator[EdgeFact]:
    numbers, titles = _addresses(source)
    ends = sorted(place.end for place in named)
    for match in (*_SECTION.finditer(source.body), *_QUOTED.finditer(source.body)):
        if source.kind(match.start()) is BlockKind.HEADING or _follows_document(source.body, match.start(), ends):
            continue
        target = titles.get(name_key(match["title"])) if match.re is _QUOTED else numbers.get(_number(match))
        if target is not None and target != source.place(match.start()):
            yield _reference(source, match.start(), match.end(), target)


def _addresses(source: SourceText) -> tuple[dict[str, NodeRef], dict[str, NodeRef]]:
    """The sections by number and by title, as far as these are unique in the document."""
    numbers: dict[str, list[NodeRef]] = defaultdict(list)
    titles: dict[str, list[NodeRef]] = defaultdict(list)
    for section in source.sections:
        if source.in_apparatus(section.start):
            continue
        ref = source.section_refs[section.id]
        if section.number:
            numbers[section.number].append(ref)
        titles[name_key(section.title)].append(ref)
    return (
        {number: refs[0] for number, refs in numbers.items() if len(refs) == 1},
        {title: refs[0] for title, refs in titles.items() if len(refs) == 1},
    )


def _number(match: re.Match[str]) -> str:
    if match["chapter"]:
        return heading_number(f"第{match['chapter']}章 x") or ""
    return normalise(match["dotted"] or match["plain"])


def _follows_document(text: str, start: int, ends: list[int]) -> bool:
    """要件定義書の第3章 is a chapter of that document, not of this one."""
    return any(start - _AFTER_DOCUMENT <= end <= start and "。" not in text[end:start] for end in ends)


def _reference(source: SourceText, start: int, end: int, target: NodeRef) -> EdgeFact:
    return EdgeFact(source=source.place(start), type="REFERENCES", target=target, start=start, end=end)
