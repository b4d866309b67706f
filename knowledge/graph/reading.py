"""A version's text as the extraction reads it, and where an offset is in it."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from knowledge.facts import NodeRef
from knowledge.text.folding import fold_each, fold_name, narrow
from knowledge.text.outline import apparatus, inside
from knowledge.text.structure import section_at
from knowledge.types.documents import Block, BlockKind, Section
from knowledge.types.requirements import Topic

_WORD = re.compile(r"[A-Za-z0-9\u3005\u30a0-\u30ff\u4e00-\u9fff]")
# What may follow a name directly and still leaves it a name of its own: 要件定義書第3章, 要件定義書等.
_MAY_FOLLOW = frozenset("第版等内上中側各別及並又参")
# GL-3.2 is not named by GL-3.2.1.
_NUMBER_GOES_ON = re.compile(r"[.\-][0-9]")
MAX_KEY = 300
SHORTEST_NAME = 4


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


def name_key(name: str) -> str:
    """Return what a name is compared by: `fold_name` of it, cut to MAX_KEY characters.

    >>> name_key("ＦＲ－００１"), name_key("サーバー"), name_key("サーバ")
    ('fr-001', 'サーバー', 'サーバ')
    """
    return fold_name(name)[:MAX_KEY]


def keys_of(names: Iterable[str]) -> list[str]:
    """Return the keys of several names, none twice, empty ones left out."""
    return list(dict.fromkeys(key for key in map(name_key, names) if key))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownName:
    """A name to look for in texts, and the node that it names."""

    key: str
    node_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePlace:
    """A node named at ``[start, end)`` of a text."""

    node_id: str
    start: int
    end: int


def find_names(text: str, names: Iterable[KnownName]) -> list[NamePlace]:
    """Find where a text names nodes, in its order; where names overlap, the longest counts.

    Names of fewer than four characters are left out: they would be found everywhere. A name inside a longer compound
    (要件定義書 in 業務要件定義書) is not that name.
    """
    folded = fold_each(narrow(text))
    taken = bytearray(len(folded))
    found: list[NamePlace] = []
    for name in sorted(set(names), key=lambda one: (-len(one.key), one.key, one.node_id)):
        if len(name.key) < SHORTEST_NAME:
            break
        for start in _occurrences(folded, name.key):
            end = start + len(name.key)
            if not any(taken[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                found.append(NamePlace(node_id=name.node_id, start=start, end=end))
    return sorted(found, key=lambda place: place.start)


def _occurrences(folded: str, key: str) -> Iterator[int]:
    start = folded.find(key)
    while start >= 0:
        if _is_whole_word(folded, start, start + len(key)):
            yield start
        start = folded.find(key, start + 1)


def _is_whole_word(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if _WORD.match(before) and _WORD.match(text[start]):
        return False
    if text[end - 1].isdigit() and _NUMBER_GOES_ON.match(text, end):
        return False
    return not (_WORD.match(after) and _WORD.match(text[end - 1]) and after not in _MAY_FOLLOW)
