"""Which expected topics a document of its kind owes itself, and which another document usually has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hub.core.texts import Text
from knowledge.ontology.coverage import TopicJudgement
from knowledge.ontology.titles import names_topic
from knowledge.text.folding import narrow
from knowledge.text.tables import Table, read_tables
from knowledge.types.requirements import Topic
from review.rules.base import filled, shipped
from review.rules.prose import read_prose
from review.types import RuleInput

_FEWEST_CASES, _LEAST_SHARE = 10, 0.5
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Topics that the document leaves out and need not have, and why: they usually stand in another document."""

    judged: tuple[TopicJudgement, ...]
    reason: Text


def left_to_others(target: RuleInput, absent: Sequence[TopicJudgement]) -> Elsewhere | None:
    """Return those of the absent topics that the document's kind, its title or its own words don't make due."""
    if not absent:
        return None
    reasons = shipped("due")["reasons"]
    if is_list_of_cases(target):
        return Elsewhere(judged=tuple(absent), reason=Text(**reasons["cases"]))
    is_part = _is_of_a_part(target)
    own = None if is_part else _topic_of_title(target)
    if own or is_part:
        due = (own.code if own else "", *shipped("due")["of_every_document"])
        others = [each for each in absent if each.topic.code not in due]
        reason = Text(**reasons["title" if own else "part"])
        named = filled(reason, {"label": Text(ja=own.label_ja, en=own.label_en)}) if own else reason
        return Elsewhere(judged=tuple(others), reason=named) if others else None
    others = [each for each in absent if not _is_called_for(each.topic.code, target)]
    return Elsewhere(judged=tuple(others), reason=Text(**reasons["words"])) if others else None


def is_list_of_cases(target: RuleInput) -> bool:
    """Return whether most of the text stands in tables of test cases: a test specification, no plan."""
    known = shipped("due")["case_list"]
    if target.document_type not in known["document_types"] or re.search(known["not_titled"], target.title):
        return False
    rows = [row for table in case_tables(target) for row in table.rows]
    masked = read_prose(target.text, target.blocks).masked
    within = sum(len("".join(masked[row.start : row.end].split())) for row in rows)
    return len(rows) >= _FEWEST_CASES and within >= _LEAST_SHARE * len("".join(masked.split()))


def case_tables(target: RuleInput) -> tuple[Table, ...]:
    """Return the tables whose rows are test cases: they say what is expected, or what is done and what came of it."""
    heads = re.compile(shipped("due")["case_list"]["heads"])
    return tuple(
        table
        for table in read_tables(target.text, target.blocks)
        if any(heads.search(narrow(cell.text)) for cell in table.header.cells)
    )


def _topic_of_title(target: RuleInput) -> Topic | None:
    """The topic that the document is on by its title, 運用設計書; one on the whole system is on none."""
    title = _without_tail(target.title.strip())
    if re.search(shipped("due")["of_the_whole"], title):
        return None
    about_document = shipped("due")["of_every_document"]
    named = (topic for topic in target.topics if topic.code not in about_document and not topic.whole_document)
    return next((topic for topic in named if title and names_topic(title, topic)), None)


def _is_of_a_part(target: RuleInput) -> bool:
    """Whether a design is of a part by its title, 画面設計書: what is of the whole system stands elsewhere."""
    known = shipped("due")["parts"]
    return (
        target.document_type in known["document_types"]
        and bool(re.search(known["titled"], target.title))
        and not re.search(known["not_titled"], target.title)
    )


def topic_of_instructions(target: RuleInput) -> Topic | None:
    """The topic that a manual or procedure is on by its title, 運用手順書: how that is done is what all of it says."""
    return _topic_of_title(target) if re.search(shipped("due")["instructions"], target.title) else None


def _without_tail(title: str) -> str:
    """Leave out which kind of paper it is, and what stands beside it: A02_運用設計書（案）_v2.xlsx is on 運用設計."""
    tail = shipped("due")["title_tail"]
    bracketed = re.match(shipped("due")["title_in_brackets"], title)
    parts = _EXTENSION.sub("", bracketed[1] if bracketed else title).split("_")
    paper = next((part for part in parts if re.search(tail, part)), parts[0])
    return re.sub(tail, "", paper)


def _is_called_for(code: str, target: RuleInput) -> bool:
    pattern = _called_for_by().get(code)
    return pattern is None or bool(pattern.search(read_prose(target.text, target.blocks).masked))


@lru_cache(maxsize=1)
def _called_for_by() -> dict[str, re.Pattern[str]]:
    return {code: re.compile(entry) for code, entry in shipped("due")["called_for_by"].items() if code != "why"}
