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
    """Topics that the document leaves out and need not have, and why: they usually stand in another document.

    ``is_named``: the document's title, its file's name or its tables say what kind it is, which its author chooses;
    else nothing in its text calls for them.
    """

    judged: tuple[TopicJudgement, ...]
    reason: Text
    is_named: bool = True


def left_to_others(target: RuleInput, absent: Sequence[TopicJudgement]) -> Elsewhere | None:
    """Return those of the absent topics that the document's kind, its title or its own words don't make due."""
    if not absent:
        return None
    reasons = shipped("due")["reasons"]
    if is_list_of_cases(target):
        return Elsewhere(judged=tuple(absent), reason=Text(**reasons["cases"]))
    kind = kind_of_paper(target)
    own = None if kind == "part" else _topic_of_title(target)
    if kind or own:
        due = {own.code if own else "", *_due_of(kind)}
        others = tuple(each for each in absent if each.topic.code not in due)
        reason = Text(**reasons[kind or "title"])
        named = filled(reason, {"label": Text(ja=own.label_ja, en=own.label_en)}) if own else reason
        return Elsewhere(judged=others, reason=named) if others else None
    uncalled = tuple(each for each in absent if not _is_called_for(each.topic.code, target))
    return Elsewhere(judged=uncalled, reason=Text(**reasons["words"]), is_named=False) if uncalled else None


def is_list_of_cases(target: RuleInput) -> bool:
    """Return whether most of the text stands in tables of test cases: a test specification, no plan."""
    known = shipped("due")["case_list"]
    is_plan = any(re.search(known["not_titled"], name) for name in _names(target))
    if target.document_type not in known["document_types"] or is_plan:
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


def _names(target: RuleInput) -> tuple[str, ...]:
    """What the document is called: its title, and its file's name, which alone often says what paper it is."""
    return tuple(filter(None, (target.title.strip(), _EXTENSION.sub("", target.document_name))))


def _topic_of_title(target: RuleInput) -> Topic | None:
    """The topic that the document is on by its title, 運用設計書; one on the whole system is on none.

    The file's name is asked only where there is no title.
    """
    title = _without_tail(next(iter(_names(target)), ""))
    if re.search(shipped("due")["of_the_whole"], title):
        return None
    about_document = shipped("due")["of_every_document"]
    named = (topic for topic in target.topics if topic.code not in about_document and not topic.whole_document)
    return next((topic for topic in named if title and names_topic(title, topic)), None)


def kind_of_paper(target: RuleInput) -> str | None:
    """Return which kind of paper a design is by its title or its file's name, if not one of the whole system.

    ``part``: of screens, a program, an interface; ``minutes``; ``instructions``: how something is done.
    """
    known = shipped("due")["kinds"]
    names = _names(target)
    if target.document_type not in known["document_types"] or any(re.search(known["not_titled"], one) for one in names):
        return None
    titled = known["titled"].items()
    return next((kind for kind, pattern in titled if any(re.search(pattern, one) for one in names)), None)


def _due_of(kind: str | None) -> Sequence[str]:
    """Return the codes of the topics that a paper of the kind owes; None: one on a single topic."""
    due = shipped("due")
    codes: Sequence[str] = due["kinds"]["due"].get(kind, due["of_every_document"])
    return codes


def topic_of_instructions(target: RuleInput) -> Topic | None:
    """The topic that a manual or procedure is on by its title, 運用手順書: how that is done is what all of it says."""
    return (
        _topic_of_title(target) if re.search(shipped("due")["kinds"]["titled"]["instructions"], target.title) else None
    )


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
