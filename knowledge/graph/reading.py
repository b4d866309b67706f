"""A version's text as the extraction reads it, and where an offset stands in it."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from knowledge.facts import NodeRef
from knowledge.graph.names import KnownName, name_key
from knowledge.text.outline import apparatus, inside
from knowledge.text.structure import section_at
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.requirements import Topic


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """A document's current version: its text and structure, and what is known around it.

    ``names`` are those of the collection's other documents and of guideline articles. ``patterns`` give the node type
    of identifiers of a curator's own shape. ``topics`` are the concepts that headings may name.
    """

    document_id: str
    title: str
    path: str
    document_type: str
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    names: tuple[KnownName, ...] = ()
    articles: tuple[KnownName, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def document(self) -> NodeRef:
        return NodeRef(type="Document", id=self.document_id)

    @cached_property
    def section_refs(self) -> dict[str, NodeRef]:
        """The nodes of the sections by the sections' ids: the same title path gets the same node in every version."""
        seen: Counter[str] = Counter()
        refs = {}
        for section in self.sections:
            path = "\x1f".join(map(name_key, section.path))
            seen[path] += 1
            refs[section.id] = NodeRef(type="Section", id=self.part_id("sec", f"{path}\x1f{seen[path]}"))
        return refs

    @cached_property
    def body(self) -> str:
        """The text with contents, change history and code blanked out, offsets unchanged."""
        out = list(self.text)
        code = [(block.start, block.end) for block in self.blocks if block.kind is BlockKind.CODE]
        for start, end in (*self._apparatus, *code):
            out[start:end] = [char if char == "\n" else " " for char in self.text[start:end]]
        return "".join(out)

    @cached_property
    def _apparatus(self) -> tuple[tuple[int, int], ...]:
        return apparatus(self.text, self.sections)

    @cached_property
    def _block_starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def part_id(self, prefix: str, name: str) -> str:
        """Make the public id of a part of this document: the same name gives the same id."""
        return f"{prefix}_{hashlib.sha256(f'{self.document_id}|{name}'.encode()).hexdigest()[:20]}"

    def place(self, offset: int) -> NodeRef:
        """The node of the section around an offset, or of the document before the first heading."""
        section = section_at(self.sections, offset)
        return self.section_refs[section.id] if section else self.document

    def kind(self, offset: int) -> BlockKind | None:
        """The kind of the block that holds an offset."""
        index = bisect_right(self._block_starts, offset) - 1
        held = index >= 0 and offset < self.blocks[index].end
        return self.blocks[index].kind if held else None

    def in_apparatus(self, offset: int) -> bool:
        """Whether an offset lies in the table of contents or the change history."""
        return inside(self._apparatus, offset)


def plain(text: str, limit: int = 300) -> str:
    """Return Markdown text in one line without emphasis marks and table borders, cut at ``limit``."""
    return re.sub(r"\s+", " ", re.sub(r"[*`|]+", " ", text)).strip()[:limit]
