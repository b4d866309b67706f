"""A model that answers each kind of request about a long document, and telling these kinds apart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.llm_server import prompt_of
from tests.review.judging.conftest import judged
from tests.review.judging.long_text import RECOVERY


def kind_of(asked: dict[str, Any]) -> str:
    told = prompt_of(asked)
    kinds = {"You summarise": "summary", "You choose the": "choice", "You choose passages": "screen"}
    return next((kind for words, kind in kinds.items() if words in told), "judge")


def kinds(server) -> list[str]:
    return [kind_of(asked) for asked in server.requests]


def labels(asked: dict[str, Any], letter: str) -> list[str]:
    return list(dict.fromkeys(re.findall(rf'<passage-\w+ id="({letter}\d+)"', asked["messages"][-1]["content"])))


def label_holding(asked: dict[str, Any], words: str) -> str:
    """The id of the passage in which some words stand; the first one where they are nowhere."""
    shown = re.findall(r'<passage-\w+ id="(\w+)">\n(.*?)\n</passage', asked["messages"][-1]["content"], re.S)
    return next((label for label, text in shown if words in text), shown[0][0])


def model(answer: Callable[[dict[str, Any]], str], **own: Callable[[dict[str, Any]], str]):
    """A model that summarises by the section's heading, chooses the recovery's section and quotes it."""

    def summarise(asked: dict[str, Any]) -> str:
        told = asked["messages"][-1]["content"]
        shown = re.findall(r'id="(p\d+)">\n\[(.*?)\]\n(.*?)\n</passage', told, re.S)
        says = [
            {"section": label, "summary": f"{path}。{'復旧' if RECOVERY in text else '登録'}。{text[:100]}"}
            for label, path, text in shown
        ]
        return json.dumps({"summaries": says}, ensure_ascii=False)

    def choose(asked: dict[str, Any]) -> str:
        return json.dumps({"relevant": [label_holding(asked, "復旧")]})

    def screen(asked: dict[str, Any]) -> str:
        quotes = [{"passage": label_holding(asked, RECOVERY), "quote": RECOVERY}]
        return json.dumps({"relevant": quotes}, ensure_ascii=False)

    means = {"summary": summarise, "choice": choose, "screen": screen, "judge": answer, **own}
    return lambda asked: means[kind_of(asked)](asked)


def grounded(asked: dict[str, Any]) -> str:
    """A pass on the recovery's own words, from the passage that has them."""
    facts = json.loads(judged("pass", quotes=(RECOVERY,))(asked))
    facts["grounds"][0]["passage"] = label_holding(asked, RECOVERY)
    return json.dumps(facts, ensure_ascii=False)
