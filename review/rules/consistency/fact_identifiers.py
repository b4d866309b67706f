"""What identifiers are called: in rows, headings, and beside names in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from knowledge.text.identifier_shapes import COMMON
from knowledge.text.identifiers import read_families
from knowledge.text.tables import read_tables
from review.rules.consistency.fact_making import Fact, Facts, Statement

_ID = r"(?P<id>[A-Z]{1,6}(?:-[A-Z]{1,6}){0,3}-?[0-9]{2,4})"
_ID_HEAD = re.compile(r"ID|番号|No|コード", re.IGNORECASE)
_NAME_HEAD = re.compile(r"名称?$|^(?:画面|機能|帳票|要件|項目|テスト項目)$")
_ID_HEADED = re.compile(rf"\s*(?:[0-9.]+\s+)?{_ID}[\s:：]+(?P<name>[一-龯ァ-ヴー][^\s(（:：]{{1,24}})\s*$")
_ID_BESIDE = re.compile(
    rf"(?<![A-Za-z0-9\-]){_ID}(?:\s?\((?P<name>[^()\n]{{2,24}})\)|\s?「(?P<quote>[^「」\n]{{2,24}})」)"
)
_NAME_BESIDE = re.compile(rf"(?P<name>[一-龯ァ-ヴー]{{2,16}})\({_ID}\)")
_ID_REMARK = re.compile(
    r"参照|新規|変更|追加|削除|廃止|欠番|必須|任意|優先|対応|予定|済|未定|一部|のみ|以下|以上|再掲|版|度|high|medium|low|[:はをが。、]",
    re.IGNORECASE,
)


def facts_of_identifiers(facts: Facts) -> Iterator[Fact]:
    """What an identifier is called: in its row, in its heading, in brackets or quotation marks behind it.

    Within the document those that it defines are for the rules of traceability: they are compared with others only.
    """
    families = read_families(facts.text, facts.sections, facts.blocks)
    known = {name for family in families for name in family.defined}
    for statement, identifier, name in _named_rows(facts):
        yield facts.called(statement, identifier, name, is_defined=identifier in known)
    for section in facts.sections:
        if found := _ID_HEADED.match(section.title):
            end = section.start + len(facts.text[section.start : section.body_start].rstrip())
            statement = Statement("", section.start, end, "", quoted_from=section.start, is_sentence=True)
            yield facts.called(statement, found["id"], found["name"], is_defined=found["id"] in known)
    for found in chain(_ID_BESIDE.finditer(facts.plain), _NAME_BESIDE.finditer(facts.plain)):
        name = next(found[group] for group in ("name", "quote") if found.groupdict().get(group))
        if found["id"] not in known and not facts.is_skipped(found.start()) and not _ID_REMARK.search(name):
            statement = Statement("", found.start(), found.end(), "", quoted_from=found.start(), is_sentence=True)
            yield facts.called(statement, found["id"], name)


def _named_rows(facts: Facts) -> Iterator[tuple[Statement, str, str]]:
    for number, table in enumerate(read_tables(facts.text, facts.blocks)):
        at = table.column(_NAME_HEAD)
        if at is None or not table.header.cells or not _ID_HEAD.search(table.header.cells[0].text):
            continue
        for row in table.rows:
            if at < len(row.cells) and COMMON.fullmatch(row.cells[0].text):
                first, named = row.cells[0], row.cells[at]
                statement = Statement("", named.start, named.end, "", number, quoted_from=first.start)
                yield statement, first.text, named.text
