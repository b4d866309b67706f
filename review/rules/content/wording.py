"""Ambiguous wording: expressions that a reader cannot check, counted by class."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Role
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, inside, place
from knowledge.text.sentences import sentences_around
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind
from review.rules.base import counted, filled, finding, rule, shipped, skipped
from review.rules.prose import Prose, Segment, Word, is_polite, read_prose, read_words
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_NUMBER_BEFORE = re.compile(r"[0-9０-９一二三四五六七八九十百千万億]+\s*[^\s0-9、。]{0,4}$")
_LABEL_LINE = re.compile(r"\W{0,4}(?P<label>\w[^\n:：*]{0,20}?)\**+\s*+[:：]?\**+")
# A word that is set equal to something, or stands between strokes: ＝適正、 A／適正／B.
_VALUE = re.compile(r"[＝=:：／/→]\w+[、。,／/|\s)）]")
_SAID = re.compile(r"\w")
_PLACES_SHOWN = 20
_NEAR = 8
_WORDS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One ambiguous expression; ``obliges`` tells whether it stands in a requirement."""

    word: str
    start: int
    end: int
    obliges: bool


@rule("wording.ambiguous", tags=("wording", "text"), defaults={"density_per_1000": None, "classes": (), "ignore": ()})
def ambiguous(target: RuleInput) -> RuleOutcome:
    """Report each class of ambiguous expressions that stands in requirements, or is dense in the whole text.

    Params: ``density_per_1000`` (expressions per 1,000 characters of running text from which a class is dense, in
    place of the shipped figure of each class), ``classes`` (codes looked at, all when empty), ``ignore`` (expressions
    that are allowed).
    """
    prose = read_prose(target.text, target.blocks)
    if not prose.characters:
        return skipped("no_running_text")
    reader = _Reader(target, prose)
    wanted = set(target.params.get("classes", ()))
    findings = []
    for entry in shipped("wording")["classes"]:
        if wanted and entry["code"] not in wanted:
            continue
        if target.document_type not in entry.get("document_types", (target.document_type,)):
            continue
        places = [place for place in reader.places(entry) if place.word not in target.params.get("ignore", ())]
        if finding := _judge(entry, places, prose, target):
            findings.append(finding)
    return RuleOutcome(findings=tuple(findings), examined=len(prose.segments))


class _Reader:
    def __init__(self, target: RuleInput, prose: Prose) -> None:
        self._target = target
        self._prose = prose
        self._words = read_words(target.text, target.blocks)
        self._starts = [segment.start for segment in prose.segments]
        self._ends_oblige = re.compile(shipped("wording")["requirement_ends"]["pattern"], re.IGNORECASE)
        self._titles_oblige = re.compile(shipped("wording")["requirement_titles"]["pattern"], re.IGNORECASE)
        design = shipped("wording")["design_ends"]
        self._ends_design = re.compile(design["pattern"])
        self._design_classes = design["classes"] if target.document_type in design["document_types"] else ()
        self._skipped = [
            *apparatus(target.text, target.sections),
            *((section.start, section.body_start) for section in target.sections),
        ]
        self._columns = list(self._cells_under(self._titles_oblige))
        self._identified = self._identified_lines()

    def places(self, entry: dict[str, Any]) -> Iterator[Place]:
        """Yield the expressions of one class in document order, none twice."""
        last_end = -1
        own_columns = self._named_by(re.compile(entry["columns"])) if "columns" in entry else []
        told = list(self._beside(re.compile(entry["told_beside"]))) if "told_beside" in entry else []
        for start, end in sorted({*self._by_word(entry), *self._by_surface(entry)}, key=lambda s: (s[0], -s[1])):
            if start < last_end or inside(self._skipped, start) or inside(self._prose.quoted, start):
                continue
            last_end = end
            word = self._target.text[start:end]
            if self._is_told(entry, start, end) or _is_within(told, start):
                continue
            obliges = self._obliges(start) or _is_within(own_columns, start)
            obliges = obliges or (entry["code"] in self._design_classes and self._designs(start))
            yield Place(word=word, start=start, end=end, obliges=obliges)

    def _by_word(self, entry: dict[str, Any]) -> Iterator[tuple[int, int]]:
        wanted: dict[str, list[dict[str, Any]]] = {}
        for each in entry["words"]:
            wanted.setdefault(each.get("normal", ""), []).append(each)
        for index, word in enumerate(self._words):
            if word.normal not in wanted:
                continue
            following = self._words[index + 1] if index + 1 < len(self._words) else None
            matches = any(self._matches(word, following, each) for each in wanted[word.normal])
            if matches and not self._is_settled(word, following):
                yield word.start, self._inflected_end(word, following)

    def _matches(self, word: Word, following: Word | None, wanted: dict[str, Any]) -> bool:
        if "normal" not in wanted or not word.part_of_speech.startswith(wanted.get("class", "")):
            return False
        if wanted.get("after_number"):
            return bool(_NUMBER_BEFORE.search(self._prose.masked[max(0, word.start - 8) : word.start]))
        if "before" in wanted:
            return following is not None and following.start == word.end and following.surface == wanted["before"]
        return True

    def _is_settled(self, word: Word, following: Word | None) -> bool:
        """以下「利用者等」という defines a name; 適切性, 十分条件 are terms, ＝適正、 is a value: no vague adverbs."""
        after = self._prose.masked[word.end : word.end + 12]
        if re.match(r"[」』]?[）)]?\s*(?:という|と総称|といい)", after):
            return True
        if word.word_class != "形状詞":
            return False
        is_term = following is not None and following.start == word.end and following.word_class in ("接尾辞", "名詞")
        return is_term or _VALUE.match(self._prose.masked[word.start - 1 : word.end + 1]) is not None

    @staticmethod
    def _inflected_end(word: Word, following: Word | None) -> int:
        joined = following is not None and following.start == word.end and following.surface in ("な", "に", "で")
        return following.end if joined and following is not None and word.word_class == "形状詞" else word.end

    def _by_surface(self, entry: dict[str, Any]) -> Iterator[tuple[int, int]]:
        for wanted in entry["words"]:
            if "surface" in wanted or "pattern" in wanted:
                pattern = wanted.get("pattern") or re.escape(wanted["surface"])
                for match in re.finditer(pattern, self._prose.masked):
                    before = self._prose.masked[max(0, match.start() - 8) : match.start()]
                    if not wanted.get("after_number") or _NUMBER_BEFORE.search(before):
                        yield match.span()

    def _is_told(self, entry: dict[str, Any], start: int, end: int) -> bool:
        """Whether the same sentence says what the word leaves open, or the word is denied: 正しくない値."""
        if "not_before" in entry and re.match(entry["not_before"], self._prose.masked[end : end + _NEAR]):
            return True
        settled = shipped("wording")["settled"].get(entry["code"])
        return settled is not None and re.search(settled, self._sentence_at(start)) is not None

    def _designs(self, offset: int) -> bool:
        return bool(self._ends_design.search(self._sentence_at(offset)))

    def _sentence_at(self, offset: int) -> str:
        segment = self._segment(offset)
        return self._prose.masked[segment.start : segment.end].rstrip(" )）」")

    def _obliges(self, offset: int) -> bool:
        if self._ends_oblige.search(self._sentence_at(offset)) or _is_within(self._columns, offset):
            return True
        section = section_at(self._target.sections, offset)
        title = section.title if section else ""
        line_start = self._target.text.rfind("\n", 0, offset) + 1
        return bool(self._titles_oblige.search(title)) or line_start in self._identified

    def _segment(self, offset: int) -> Segment:
        return self._prose.segments[max(0, bisect_right(self._starts, offset) - 1)]

    def _named_by(self, titles: re.Pattern[str]) -> list[tuple[int, int]]:
        """The cells and the lists below a name that matches, in the text's order."""
        return sorted([*self._cells_under(titles), *self._lists_under(titles)])

    def _lists_under(self, titles: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Yield the lists below a line that only names them: **期待結果**:."""
        for line, listing in pairwise(self._target.blocks):
            is_pair = line.kind is BlockKind.PARAGRAPH and listing.kind is BlockKind.LIST
            name = _LABEL_LINE.fullmatch(self._target.text[line.start : line.end].strip()) if is_pair else None
            if name and titles.search(name["label"]):
                yield listing.start, listing.end

    def _cells_under(self, titles: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        for table in read_tables(self._target.text, self._target.blocks):
            columns = [i for i, cell in enumerate(table.header.cells) if titles.search(cell.text)]
            for row in table.rows:
                yield from ((row.cells[i].start, row.cells[i].end) for i in columns if i < len(row.cells))

    def _beside(self, titles: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Yield the cells of rows that say something in the one column of that name, itself apart."""
        for table in read_tables(self._target.text, self._target.blocks):
            columns = [i for i, cell in enumerate(table.header.cells) if titles.search(cell.text)]
            for row in table.rows if len(columns) == 1 else ():
                if columns[0] < len(row.cells) and _SAID.search(row.cells[columns[0]].text):
                    yield from ((cell.start, cell.end) for i, cell in enumerate(row.cells) if i != columns[0])

    def _identified_lines(self) -> set[int]:
        """Return the starts of lines that define a requirement id: the whole row is one. Those of risks are none."""
        text = self._target.text
        families = read_families(text, self._target.sections, self._target.blocks)
        definitions = [
            mention.start for family in families if family.role is not Role.REGISTER for mention in family.definitions
        ]
        return {text.rfind("\n", 0, start) + 1 for start in definitions}


def _is_within(cells: list[tuple[int, int]], offset: int) -> bool:
    """Whether an offset is in one of the cells, which are in the text's order."""
    at = bisect_right(cells, offset, key=lambda cell: cell[0]) - 1
    return at >= 0 and offset < cells[at][1]


def _judge(entry: dict[str, Any], places: list[Place], prose: Prose, target: RuleInput) -> FindingDraft | None:
    obliging = [place for place in places if place.obliges]
    density = 1000 * len(places) / prose.characters
    threshold = target.params.get("density_per_1000") or shipped("wording")["dense_from"]["per_1000"][entry["code"]]
    dense = threshold is not None and density >= float(threshold) and len(places) > 1
    reported = places if dense else obliging
    return _finding(entry, reported, obliging, 1000 * len(reported) / prose.characters, target) if reported else None


def _finding(
    entry: dict[str, Any], places: list[Place], obliging: list[Place], density: float, target: RuleInput
) -> FindingDraft:
    counts = Counter(each.word for each in places)
    first = obliging[0] if obliging else places[0]
    return finding(
        "wording.ambiguous",
        severity=Severity.MINOR,
        key=entry["code"],
        evidence=tuple(Span(start=each.start, end=each.end) for each in places[:_PLACES_SHOWN]),
        data={
            "class": entry["code"],
            "expressions": dict(counts.most_common()),
            "in_requirements": len(obliging),
            "density_per_1000": round(density, 2),
        },
        confidence=len(obliging) / len(places),
        words={
            "label": Text(**entry["label"]),
            "count": len(places),
            "obliging": len(obliging),
            "density": density,
            "listed": counted(dict(counts.most_common(_WORDS_SHOWN))),
            "where": place(target.sections, first.start),
            "sentence": _sentence(target, first),
            "ask": filled(Text(**entry["ask"]), {"word": first.word}),
        },
        example=entry["example"]["polite" if is_polite(target.text, target.blocks) else "plain"],
    )


def _sentence(target: RuleInput, found: Place) -> str:
    start, end = sentences_around(target.text, found.start, found.end, borders="\n|")
    return target.text[start:end].strip().removesuffix("。").replace("*", "").strip(" -")
