"""A model for the steps beside the checks: it answers each kind of request by a function of what it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.llm_server import prompt_of

Finding = tuple[str, str]
"""Label and text of a finding in a request."""


def schema_of(asked: dict[str, Any]) -> str:
    return str(asked["response_format"]["json_schema"]["name"])


def shown_in(asked: dict[str, Any]) -> dict[str, str]:
    """What stands between the fences of a request, by its label."""
    blocks = re.findall(r'<passage-[0-9a-f]+ id="([^"]+)">\n(.*?)\n</passage-', prompt_of(asked), re.S)
    return {label: text for label, text in blocks if label != "…"}


def findings_in(asked: dict[str, Any]) -> list[Finding]:
    return [(label, text) for label, text in shown_in(asked).items() if label.startswith("f")]


def opinion(
    label: str, decision: str, *quotes: str, passage: str = "p1", treats: str = "whole", reason: str = "本文による。"
) -> dict[str, Any]:
    said = [{"passage": passage, "treats": treats, "quote": quote} for quote in quotes]
    return {"finding": label, "reason": reason, "quotes": said, "decision": decision}


def second_model(
    decide: Callable[[str, str], dict[str, Any]], *, holds: str = "yes", **others: Callable[[dict[str, Any]], str]
) -> Callable[[dict[str, Any]], str]:
    """``decide`` gets label and text of each finding and gives its opinion; ``holds`` is said of every proof.

    ``others`` answer requests of other schemas by their names.
    """

    def answer(asked: dict[str, Any]) -> str:
        name = schema_of(asked)
        if name in others:
            return others[name](asked)
        if name == "second_opinion":
            return json.dumps({"opinions": [decide(*one) for one in findings_in(asked)]}, ensure_ascii=False)
        if name == "proofs":
            said = [{"finding": label, "reason": "引用による。", "holds": holds} for label, _ in findings_in(asked)]
            return json.dumps({"proofs": said}, ensure_ascii=False)
        raise AssertionError(f"nobody answers {name}")

    return answer
