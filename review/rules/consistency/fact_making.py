"""What a fact is, and how it is made of a name, a value and the words around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, unnumbered_title
from knowledge.text.structure import section_at
from knowledge.types.documents import Block, Section
from review.rules.base import shipped
from review.rules.consistency.fact_names import (
    choice_of,
    conditions_of,
    event_of,
    folded_name,
    is_specific,
    level_of,
    quantity_name,
    role_of,
)
from review.rules.consistency.fact_tokens import Token, Tokens
from review.rules.prose import read_prose

About = tuple[str, ...]
_PER = re.compile(
    r"(?P<per>[1一]\s*[^\s\d、。は]{1,6}(?:当たり|あたり|につき))|(?P<each>[1一](?:ページ|日|人|件|回|か月|ヶ月|年))(?:の|に|、|$|[0-9])"
)
# Said without a subject they are the whole document's: 主管部署：情報政策課, DBMS：PostgreSQL.
_OF_THE_WHOLE = frozenset(["主管", "所管", "主管部署", "受託者", "発注者", "dbms", "開発言語"])
_NOUN_COUNTERS = frozenset(["画面", "帳票", "拠点", "システム"])
_SKIPPED_TITLE = re.compile(r"記[載入]例|サンプル|用例|^例[0-9 ]|の例$|例示|参考文献|出典|凡例|様式")
_SHORTEST_NAME = 4
LONGEST_VALUE = 30


_BARE = re.compile(r"^(?:全|約)?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6})$")
GRADE = re.compile(r"(?P<of>機密性|完全性|可用性)\s?(?P<level>[1-3])(?![0-9.%])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a document says. ``kind`` is number, date, clock, count, name, classification or restated.

    ``about`` is what is compared: the thing, its attribute, the dimension. ``bound`` is that of a number. ``home`` is
    where it stands: the id of the section; ``table`` the table's place, -1 outside. ``is_shared`` is false for what
    a document says of itself, ``is_compared_within`` for what other rules compare within a document.
    """

    kind: str
    about: About
    name: str
    written: str
    value: str
    bound: str = ""
    conditions: frozenset[str]
    home: str
    table: int
    start: int
    end: int
    is_sentence: bool
    is_shared: bool = True
    is_compared_within: bool = True


class Statement(NamedTuple):
    """A name and what is said of it at ``[start, end)``; ``around`` has the words that may limit it."""

    name: str
    start: int
    end: int
    around: str
    table: int = -1
    quoted_from: int = 0
    head: str = ""
    is_bare: bool = True
    is_sentence: bool = False


class Facts:
    """A document as facts are made from it: its text and what of it is no statement."""

    def __init__(self, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> None:
        self.text, self.sections, self.blocks = text, sections, blocks
        self.prose = read_prose(text, blocks)
        self.plain = narrow(self.prose.masked)
        self.tokens = Tokens(self.prose.masked)
        self._skipped = _joined(
            [
                *apparatus(text, sections),
                *((each.start, each.end) for each in sections if _SKIPPED_TITLE.search(unnumbered_title(each.title))),
            ]
        )
        self._starts = [start for start, _ in self._skipped]
        self._titles = {each.id: each.path for each in sections}

    def is_skipped(self, offset: int) -> bool:
        """Whether an offset is in the table of contents, the change history, or a section of examples."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._skipped[at][1]

    def called(self, statement: Statement, identifier: str, name: str, *, is_defined: bool = False) -> Fact:
        about = ("identifier", fold_compact(identifier))
        return self.made(
            "identifier", about, statement, identifier, fold_compact(name), is_compared_within=not is_defined
        )

    def number(self, statement: Statement, token: Token, name: str, behind: str) -> Iterator[Fact]:
        about = quantity_name(name, behind, token.dimension)
        per = _of_per(_PER.search(fold_compact(statement.around)))
        if about.code in ("", "count") and token.dimension in _counted():
            counter = fold_compact(self.plain[token.start : token.end].lstrip("0123456789,. "))
            core = about.core or (counter if counter in _NOUN_COUNTERS else "")
            if core and not core.isdigit():
                yield self.made(
                    "count", ("count", core, per), statement, name or counter, token.value, bound=token.bound
                )
            return
        if not (is_specific(about.core) and (about.code or len(about.core) >= _SHORTEST_NAME)) and not about.alone:
            return
        core = about.core if is_specific(about.core) else ""
        key = ("number", core, about.code, token.dimension, per)
        yield self.made("number", key, statement, name, token.value, bound=token.bound)

    def date(self, statement: Statement, token: Token, name: str) -> Iterator[Fact]:
        if re.search(shipped("facts")["dates"]["not"], name):
            return
        event, phase = event_of(name)
        if is_specific(event):
            span = "span" if "~" in token.value else "day"
            yield self.made("date", ("date", event, phase, span), statement, name, token.value)

    def clock(self, statement: Statement, token: Token, name: str, full: str) -> Iterator[Fact]:
        folded = re.sub(r"(?:時間帯?|時刻|の?開始|の?起動|の?取得|毎日|開始時刻|対応)+$", "", folded_name(full))
        if is_specific(folded) and len(folded) > 2:
            span = "span" if not token.value.endswith("-") else "time"
            yield self.made("clock", ("clock", folded, span), statement, name, token.value)

    def named(self, statement: Statement, name: str, value: str) -> Iterator[Fact]:
        yield from self.role(statement, name, value)
        if (choice := choice_of(name)) is None:
            return
        folded = fold_compact(value).strip("。「」")
        known = shipped("facts")["choices"]["said"].get(choice[1])
        if known and not re.fullmatch(known, folded):
            return
        if not folded or len(folded) > LONGEST_VALUE or re.search(r"[、・/]|及び|または|又は|など|等$", folded):
            return
        if not (is_specific(choice[0]) or choice[1] in _OF_THE_WHOLE):
            return
        if known or re.fullmatch(r"[一-龯ァ-ヴーa-z0-9.\- ]{2,20}", folded):
            yield self.made("name", ("choice", *choice), statement, name, folded)

    def role(self, statement: Statement, name: str, value: str) -> Iterator[Fact]:
        role = role_of(name)
        if role is None or not (is_specific(role[0]) or role[1] in _OF_THE_WHOLE):
            return
        who = fold_compact(value).strip("。「」")
        who = who.replace("株式会社", "").replace("(株)", "")
        ends = shipped("facts")["roles"]["ends"].casefold()
        if not who or re.search(r"[、・,/]|及び|または|又は|と(?!.{0,1}$)|各|等$|[はがをに]", who):
            return
        if re.search(rf"(?:{ends})$", who) or value.startswith(("株式会社", "(株)")) or value.endswith("株式会社"):
            yield self.made("name", ("role", *role), statement, name, who)

    def level(self, statement: Statement, name: str, value: str) -> Iterator[Fact]:
        level = level_of(name)
        folded = fold_compact(value).strip("。「」")
        if level is None:
            if re.search(shipped("facts")["levels"]["grades"], folded_name(name)) or "格付" in name:
                for grade in GRADE.finditer(narrow(value)):
                    yield from self.graded(
                        statement, re.sub(r"(?:の)?(?:機密性|完全性|可用性|情報の格付け?).*", "", name), grade
                    )
            return
        is_of_one = is_specific(level[0]) or (not level[0] and "システム" in name)
        if is_of_one and re.fullmatch(shipped("facts")["levels"]["values"], folded, re.IGNORECASE):
            yield self.made("classification", ("level", *level), statement, name, folded)

    def graded(self, statement: Statement, name: str, grade: re.Match[str]) -> Iterator[Fact]:
        core = re.sub(r"(?:機密性|完全性|可用性).*", "", folded_name(name))
        core = "" if re.fullmatch(r"(?:本?(?:書|文書|資料)|情報|格付け?|区分|取扱い?区分)*", core) else core
        yield self.made(
            "classification",
            ("grade", core, grade["of"]),
            statement,
            grade["of"],
            grade["level"],
            is_shared=bool(core) or grade["of"] != "機密性",
        )

    def made(
        self,
        kind: str,
        about: About,
        statement: Statement,
        name: str,
        value: str,
        *,
        bound: str = "",
        is_shared: bool = True,
        is_compared_within: bool = True,
    ) -> Fact:
        section = section_at(self.sections, statement.start)
        start, end = statement.quoted_from, statement.end
        around = statement.around
        if kind in ("name", "classification"):
            around = fold_compact(around).replace(value, "")
        return Fact(
            kind=kind,
            about=about,
            name=name.strip("* 　の"),
            written=self.text[start:end].replace("*", "").strip(),
            value=value,
            bound=bound,
            conditions=conditions_of(
                around, self._titles[section.id] if section else (), (statement.name, statement.head)
            ),
            home=section.id if section else "",
            table=statement.table,
            is_sentence=statement.is_sentence,
            start=start,
            end=end,
            is_shared=is_shared,
            is_compared_within=is_compared_within,
        )


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _of_per(per: re.Match[str] | None) -> str:
    if per is None:
        return ""
    return re.sub(r"^[1一]\s*|(?:当たり|あたり|につき)$", "", per["per"] or per["each"])


@lru_cache(maxsize=1)
def _counted() -> frozenset[str]:
    units = shipped("quantities")["units"]
    counters = set(shipped("facts")["counters"])
    return frozenset(
        {"count", *(dimension for dimension, names in units.items() if dimension != "why" and counters & set(names))}
    )


def bare_count(name: str, value: str) -> Token | None:
    """Return a number without a unit that stands beside the name of a number: 画面数 | 24."""
    found = _BARE.match(fold_compact(value).strip("。"))
    if not found or not re.search(r"数$", folded_name(name)):
        return None
    return Token(0, 0, "number", "count", str(Decimal(found[1].replace(",", "")).normalize()), "")
