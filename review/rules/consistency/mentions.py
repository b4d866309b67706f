"""Values with the words that they stand among, where neither a name nor an attribute needs to be known.

A fact (`facts`) is read where it is known what is said of what. A mention is any value of a sentence, a cell or a drawn
line: what is right before it, what else it is said of, and all words that stand there. `mention_pairs` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import COMMON
from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Row, read_tables
from knowledge.types.documents import BlockKind
from review.rules.consistency.fact_making import Facts
from review.rules.consistency.fact_names import EXAMPLE, LONGEST_NAMING, conditions_of, is_measure
from review.rules.consistency.mention_words import Said, Words, joined, said_of, words_of
from review.rules.consistency.quantities import find_amounts

_SIZE = re.compile(
    r"(?<![0-9.])(?P<w>[0-9]{1,5}(?:\.[0-9]{1,3})?)\s?[×xX]\s?(?P<h>[0-9]{1,5}(?:\.[0-9]{1,3})?)(?![0-9])"
)
_ADDRESS = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])")
_COUNTED = re.compile(r"(?<![0-9.,\-A-Za-z第])(?P<n>[0-9]{1,5})(?P<of>[ァ-ヴー]{3,12}|[一-龯]{1,4})(?![一-龯ァ-ヴー])")
_BARE = re.compile(r"(?<=[一-龯ァ-ヴー]) (?P<n>[0-9]{1,4})(?=[、。)]|$)")
_OFTEN = re.compile(
    r"(?P<day>毎日|日次|1日[1一]回)|(?P<week>毎週|週次|週[1一]回)|(?P<month>毎月|月次|月[1一]回)"
    r"|(?P<quarter>四半期(?:ごと|毎)|3か月(?:ごと|に1回))|(?P<year>毎年|年次|年[1一]回)"
)
_PORT = re.compile(r"ポート(?:番号)?[ :は(]{0,3}(?P<n>[0-9]{2,5})(?![0-9])")
_WEEKDAY = re.compile(r"(?P<day>[月火水木金土日])曜")
_CODE = re.compile(
    r"(?P<of>[一-龯ァ-ヴーA-Za-z]{0,10} ?名) ?[:は]? ?[`「]?(?P<code>[A-Za-z][A-Za-z0-9_.\-]{3,40})(?![A-Za-z0-9_.\-(])"
)
_DRAWN = re.compile(r"^[^\n]*[\u2500-\u257f][^\n]*$", re.MULTILINE)
_BEHIND = re.compile(r"[^はがを、。]{0,16}")
# 2ページ以上の場合 says when, and not how many.
_WHEN = re.compile(r"\s?(?:以上|以下|未満|を?超(?:える|えた)?)の?(?:場合|とき|時)")
_DRAWING = "drawn"
_LONGEST, _LONGEST_ROW, _LONGEST_HEAD = 300, 600, 60
_OF_ANYTHING = frozenset({"0", "1"})
_LEAST_WEIGHT = 3


class Value(NamedTuple):
    """What stands at ``[start, end)``; values of one ``kind`` can be compared."""

    kind: str
    value: str
    bound: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A value, and what it is said of.

    ``own`` are the words of its sentence or row, ``above`` those of its heading, both `joined`. ``clause`` is what
    limits it, ``beside`` all of its sentence or row, under ``titles``. ``is_measure``: its name is a quantity, which
    anything may have. ``form`` has the header of its table; ``stated`` is where its sentence is, or its row up to its
    cell. ``is_condition``: it says when something is so.
    """

    value: Value
    said: Said
    own: str
    above: str
    clause: str
    beside: str
    titles: tuple[str, ...]
    is_measure: bool
    home: str
    form: str
    stated: tuple[int, int]
    is_condition: bool

    @property
    def words_around(self) -> tuple[str, ...]:
        """The words of its sentence or row and those of its heading; one of both is there twice."""
        return (*self.own.split("|"), *self.above.split("|"))

    def is_among(self, words: Words) -> bool:
        """Whether all of the words stand in its sentence, its row or its heading, also as parts of others."""
        return all(word in self.own or word in self.above for word in words)

    def has_conditions_of(self, other: Mention) -> bool:
        """Whether the conditions of each are among the words beside the other, too."""
        return self._conditions <= other._conditions_beside and other._conditions <= self._conditions_beside

    @cached_property
    def _conditions(self) -> frozenset[str]:
        return conditions_of(self.clause, self.titles)

    @cached_property
    def _conditions_beside(self) -> frozenset[str]:
        return conditions_of(self.beside, self.titles)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """A sentence, cell or drawn line at ``[start, end)``; ``heads`` name row and column, ``around`` is all there."""

    start: int
    end: int
    plain: str
    around: str
    stated: tuple[int, int]
    heads: str = ""
    form: str = ""
    is_drawn: bool = False


@lru_cache(maxsize=2)
def read_mentions(facts: Facts) -> tuple[Mention, ...]:
    """Return the values of a document with their words, in its order.

    Two documents are remembered: what is compared with each of many others is read once.
    """
    words_above = {each.id: joined(unnumbered_title(each.title)[:LONGEST_NAMING]) for each in facts.sections}
    found = [mention for statement in _statements(facts) for mention in _mentions(facts, statement, words_above)]
    return tuple(sorted(found, key=lambda each: (each.value.start, each.value.end, each.value.kind)))


def _statements(facts: Facts) -> Iterator[_Statement]:
    for segment in facts.prose.segments:
        if segment.kind in (BlockKind.PARAGRAPH, BlockKind.LIST) and segment.end - segment.start <= _LONGEST:
            plain = facts.plain[segment.start : segment.end]
            whole = (segment.start, segment.end)
            yield _Statement(start=segment.start, end=segment.end, plain=plain, around=plain, stated=whole)
    for line in _DRAWN.finditer(facts.text):
        if line.end() - line.start() > _LONGEST:
            continue
        plain = narrow(line[0])
        whole = line.span()
        yield _Statement(
            start=whole[0], end=whole[1], plain=plain, around=plain, stated=whole, form=_DRAWING, is_drawn=True
        )
    for table in read_tables(facts.text, facts.blocks):
        form = "|".join(cell.text for cell in table.header.cells)[:_LONGEST_ROW]
        heads = [narrow(cell.text[:LONGEST_NAMING]) for cell in table.header.cells]
        for row in table.rows:
            if row.end - row.start <= _LONGEST_ROW:
                yield from _cells(facts, row, heads, form)


def _cells(facts: Facts, row: Row, heads: Sequence[str], form: str) -> Iterator[_Statement]:
    line = facts.plain[row.start : row.end]
    for at, cell in enumerate(row.cells):
        named = [
            narrow(each.text)
            for each in row.cells[: max(at, 2)]
            if each is not cell and len(each.text) <= _LONGEST_HEAD and not COMMON.fullmatch(each.text)
        ]
        head = heads[at] if at < len(heads) else ""
        yield _Statement(
            start=cell.start,
            end=cell.end,
            plain=facts.plain[cell.start : cell.end],
            around=f"{line} {head}",
            stated=(row.start, cell.end),
            heads=" ".join([*named, head]),
            form=form,
        )


def _mentions(facts: Facts, statement: _Statement, words_above: Mapping[str, str]) -> Iterator[Mention]:
    if facts.is_skipped(statement.start) or EXAMPLE.search(statement.plain):
        return
    values = list(_values(facts, statement))
    if not values:
        return
    section = section_at(facts.sections, statement.start)
    titles = section.path if section else ()
    own = joined(statement.around)
    for value in values:
        before = statement.plain[: value.start - statement.start]
        stop = value.end - statement.start
        said = said_of(statement.plain, len(before), stop, statement.heads)
        if value.kind == "bare":  # 2 has no unit that tells what it is: all of the statement has to be said there, too
            said = said._replace(every=said.every | words_of(_bracket_around(statement.plain, len(before))))
        if said.weight >= _LEAST_WEIGHT:
            behind = _BEHIND.match(statement.plain, stop)
            yield Mention(
                value=value,
                said=said,
                own=own,
                above=words_above[section.id] if section else "",
                clause=f"{statement.heads} {before} {behind[0] if behind else ''}",
                beside=statement.around,
                titles=titles,
                is_measure=is_measure(before),
                home=section.id if section else "",
                form=statement.form,
                stated=statement.stated,
                is_condition=_WHEN.match(statement.plain, stop) is not None,
            )


def _bracket_around(plain: str, at: int) -> str:
    """Return what the bracket around a place says, or else the whole."""
    opened, closed = plain.rfind("(", 0, at), plain.find(")", at)
    return plain[opened + 1 : closed] if opened > plain.rfind(")", 0, at) and closed > 0 else plain


def _values(facts: Facts, statement: _Statement) -> Iterator[Value]:
    taken: list[tuple[int, int]] = []
    for value in (*_amounts(facts, statement), *_shaped(statement)):
        if not any(value.start < end and start < value.end for start, end in taken):
            taken.append((value.start, value.end))
            yield value
    if "名" in statement.plain:  # what is written as code is blanked in the plain text
        for match in _CODE.finditer(narrow(facts.text[statement.start : statement.end])):
            kind = f"code {match['of'].replace(' ', '')}"
            yield Value(kind, match["code"], "", statement.start + match.start(), statement.start + match.end())


def _amounts(facts: Facts, statement: _Statement) -> Iterator[Value]:
    """Yield amounts, days and times of day; none and one of what is counted say nothing to be compared."""
    if statement.is_drawn:
        for start, end, amount in find_amounts(statement.plain):
            if (value := str(amount.value.normalize())) not in _OF_ANYTHING:
                at = statement.start
                yield Value(f"number {amount.dimension}", value, amount.bound, at + start, at + end)
        return
    for token in facts.tokens.within(statement.start, statement.end):
        if token.value not in _OF_ANYTHING:
            is_span = "~" in token.value or (token.kind == "clock" and not token.value.endswith("-"))
            kind = f"{token.kind} {token.dimension}{' span' if is_span else ''}"
            yield Value(kind, token.value, token.bound, token.start, token.end)


def _shaped(statement: _Statement) -> Iterator[Value]:
    """Yield values known by their shape: 240×332, addresses, counts in any word, how often, days of the week."""
    for pattern, read in _SHAPES:
        for match in pattern.finditer(statement.plain):
            kind, value = read(match)
            if not (kind.startswith("counted ") and value in _OF_ANYTHING):
                yield Value(kind, value, "", statement.start + match.start(), statement.start + match.end())


def _size(match: re.Match[str]) -> tuple[str, str]:
    return "size", "×".join(f"{Decimal(side):f}".rstrip("0").rstrip(".") for side in match.groups())


_SHAPES: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[str, str]]]] = (
    (_SIZE, _size),
    (_ADDRESS, lambda match: ("address", match[0])),
    (_COUNTED, lambda match: (f"counted {match['of']}", match["n"])),
    (_PORT, lambda match: ("port", match["n"])),
    (_BARE, lambda match: ("bare", match["n"])),
    (_OFTEN, lambda match: ("often", match.lastgroup or "")),
    (_WEEKDAY, lambda match: ("weekday", match["day"])),
)
