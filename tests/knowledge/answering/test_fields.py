"""No field of an answer is constant: each tells one question from another, or a model from none."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from hub.access.principals import local_operator
from knowledge.answering import AnswerOut, Question, answer_out, answer_question
from tests.knowledge.answering.conftest import QUESTION, label_before, says
from tests.knowledge.answering.test_tables_and_lists import HEADER, JOBS

# Of the passage that is cited, not of the answer.
OF_THE_PASSAGE = {"page", "cell", "version", "collection", "document_path", "section_path"}
TRUE = "応答時間は通常時3秒以内とする。"


def fields(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every field below a value, by its names, with what it has; lists count as they are, and by what they hold."""
    if isinstance(value, list):
        yield place, len(value)
        for one in value:
            yield from fields(one, place)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from fields(one, f"{place}.{name}")
    else:
        yield place, value


def answered(text: str) -> dict[str, Any]:
    given: AnswerOut = answer_out(answer_question(local_operator(), Question(text=text)))
    return given.model_dump(mode="json")


@pytest.mark.django_db
def test_every_field_takes_several_values(library, configured, configure):
    library.add("設計.md", [f"{HEADER}\n|---|---|---|---|\n{JOBS}"], title="ジョブ設計書")
    configured.answer = lambda asked: says((TRUE, label_before(asked, TRUE), TRUE))
    found = [answered(QUESTION)]
    configured.answer = lambda _asked: says()
    found.append(answered("バックアップの世代数は？"))
    configure(llm_provider="none")
    questions = (
        QUESTION,
        "JB032の処理時間上限は何分か",
        "図書館システムの開発費はいくらですか",
        "応答時間と設計者を教えて",
        "認証とは",
    )
    found += [answered(question) for question in questions]

    seen = defaultdict(set)
    for one in found:
        for name, value in fields(one):
            seen[name.replace(".nearest", ".sentences.citations")].add(json.dumps(value, ensure_ascii=False))

    constant = {name for name, values in seen.items() if len(values) < 2}
    assert {name for name in constant if name.rpartition(".")[2] not in OF_THE_PASSAGE} == set()
