"""Facts that have two answers: required or optional, in scope or not, allowed or not, on or off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind
from review.rules.base import shipped
from review.rules.consistency.fact_making import Fact, Facts, Statement
from review.rules.consistency.fact_names import EXAMPLE, folded_name, is_specific
from review.rules.consistency.fact_sentences import NOUNS
from review.rules.consistency.quantities import name_column

_ENDS = re.compile(r"(?:の)?(?:入力|指定|登録|設定|記入|項目|欄|要否|可否|有無|必須){1,6}$")
_LIMITED = re.compile(r"場合|とき|際|ただし|但し|のみ|以外|除[きくい]|原則|一部|または|又は|か否か|かどうか|ごと|うち")
_ONLY_ITEM = re.compile(r"項目|カラム|列|フィールド|パラメータ|名称?|要素")
_SHORTEST = 3


def facts_of_polarity(facts: Facts) -> Iterator[Fact]:
    """Yield what sentences, labelled lines and table cells answer with one of two words about a named thing."""
    for segment in facts.prose.segments:
        if segment.kind in (BlockKind.HEADING, BlockKind.CAPTION) or facts.is_skipped(segment.start):
            continue
        sentence = facts.plain[segment.start : segment.end]
        if _LIMITED.search(sentence) or EXAMPLE.search(sentence):
            continue
        for match in _said().finditer(sentence):
            statement = Statement(
                match["name"], segment.start, segment.end, sentence, quoted_from=segment.start, is_sentence=True
            )
            yield from _answered(facts, statement, match["name"], match["answer"])
    for block in facts.blocks:
        if block.kind in (BlockKind.LIST, BlockKind.PARAGRAPH):
            for match in _line().finditer(facts.plain, block.start, block.end):
                start, end = match.start("name"), match.end("answer")
                if not facts.is_skipped(start):
                    statement = Statement(match["name"], start, end, match[0], quoted_from=start)
                    yield from _answered(facts, statement, match["name"], match["answer"])
    yield from _of_cells(facts)


def _of_cells(facts: Facts) -> Iterator[Fact]:
    """Cells under 必須, 要否, 可否 and the like; a ring says yes, a dash no, and an empty cell nothing."""
    answers = _answers()
    for number, table in enumerate(read_tables(facts.text, facts.blocks)):
        if facts.is_skipped(table.header.start):
            continue
        at = table.column(_ONLY_ITEM)
        at = name_column(table) if at is None else at
        for column, head in enumerate(table.header.cells):
            code = next((code for code, entry in answers.items() if re.fullmatch(entry["head"], narrow(head.text))), "")
            for row in table.rows if code and column != at else ():
                if max(at, column) >= len(row.cells) or not row.cells[column].text:
                    continue
                cell, name = row.cells[column], narrow(row.cells[at].text)
                value = _value(code, fold_compact(cell.text), marks=True)
                statement = Statement(name, cell.start, cell.end, name, table=number, quoted_from=row.start)
                yield from _made(facts, statement, code, name, value)


def _answered(facts: Facts, statement: Statement, name: str, answer: str) -> Iterator[Fact]:
    folded = fold_compact(answer)
    for code in _answers():
        if value := _value(code, folded):
            yield from _made(facts, statement, code, name, value)
            return


def _made(facts: Facts, statement: Statement, code: str, name: str, value: str) -> Iterator[Fact]:
    core = _ENDS.sub("", folded_name(name))
    if value and len(core) >= _SHORTEST and is_specific(core):
        yield facts.made("polarity", ("polarity", code, core), statement, name, value)


def _value(code: str, folded: str, *, marks: bool = False) -> str:
    entry = _answers()[code]
    for value in ("yes", "no"):
        said = entry[value] + (f"|{entry['marks_' + value]}" if marks else "")
        if re.fullmatch(said, folded):
            return value
    return ""


def _answers() -> dict[str, dict[str, str]]:
    return {code: entry for code, entry in shipped("facts")["answers"].items() if code != "why"}


@lru_cache(maxsize=1)
def _every() -> str:
    said = [part for entry in _answers().values() for name in ("yes", "no") for part in entry[name].split("|")]
    return "|".join(sorted(set(said), key=len, reverse=True))


@lru_cache(maxsize=1)
def _said() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<name>{NOUNS})(?:は|を)、?(?P<answer>{_every()})(?:入力|項目)?"
        r"(?:と(?:する|します|した)|に(?:する|します)|である|です|する|。|$)"
    )


@lru_cache(maxsize=1)
def _line() -> re.Pattern[str]:
    return re.compile(
        rf"^[ \t]*(?:[-*+・○●■□◆◇※][ \t]*)?\**(?P<name>[^\s:：|。、][^:：|。\n]{{1,29}}?)\**[ \t]*[:：][ \t]*"
        rf"(?P<answer>{_every()})[。 \t]*$",
        re.MULTILINE,
    )
