"""The text of results: what a model reads of what a tool gives, short enough that no client cuts it.

Structured content is left as the tool gave it, for programs; the text says the same without indentation, without nulls
and empty lists inside, with notices in one language, and within HUB_MCP_OUTPUT_CHARS.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.types import TextContent

LANGUAGES = ("ja", "en")
# What the notice about a cut takes.
NOTICE = 400
SEVERITIES = ("critical", "major", "minor", "info")
UNDECIDED = ("skipped", "error")
UNFINISHED = ("queued", "running")


def as_text(value: Mapping[str, Any], *, budget: int, language: str, arguments: frozenset[str]) -> TextContent:
    """Write a result of at most ``budget`` characters; ``arguments`` are the names that the tool takes."""
    short = {name: _short(held, language) for name, held in value.items()}
    return TextContent(type="text", text=_dump(_within(short, budget, arguments)))


def cut_text(text: str, budget: int) -> str:
    """Keep the beginning of a text of more than ``budget`` characters, and say how many are left out."""
    if len(text) <= budget:
        return text
    kept = max(0, budget - 60)
    return f"{text[:kept]}… [{len(text) - kept} characters left out]"


def review_in_brief(review: Mapping[str, Any]) -> dict[str, Any]:
    """A review's verdict and summary, findings by severity with quote and repair, then what is undecided and why.

    Of a review that still runs: only its state. All strings are those of the review.
    """
    head = {name: review[name] for name in ("review_id", "document_id", "version", "status", "status_reason")}
    if review["status"] in UNFINISHED:
        return {
            **head,
            "progress": review["progress"],
            "waiting_for": review["waiting_for"],
            "next": f"get_review(review_id={review['review_id']})",
        }
    repairs: dict[str, str] = {}
    for one in review["suggestions"]:
        repairs.setdefault(one["finding_id"], one["content"])
    findings = sorted(review["findings"], key=lambda finding: _rank(finding["severity"]))
    undecided = [result for result in review["results"] if result["verdict"] in UNDECIDED]
    summary = {name: count for name, count in review["summary"].items() if name != "execution_time_ms"}
    return {
        **head,
        "verdict": review["verdict"],
        "checklist": f"{review['checklist']['code']} {review['checklist']['version']}",
        "summary": summary,
        "total_findings": review["total_findings"],
        "findings": [_finding(finding, repairs) for finding in findings],
        "undecided": [
            {"check_item_id": one["check_item_id"], "verdict": one["verdict"], "why": one["notices"]}
            for one in undecided
        ],
        "notices": review["notices"],
        "next": "detail=full has each check and its evidence; create_report writes the report",
    }


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _finding(finding: Mapping[str, Any], repairs: Mapping[str, str]) -> dict[str, Any]:
    place = finding.get("location") or {}
    quotes = [one["quote"] for one in finding.get("evidence") or () if one.get("quote")]
    return {
        "severity": finding["severity"],
        "message": finding["message"],
        "quote": cut_text(quotes[0], 300) if quotes else None,
        "repair": repairs.get(finding["id"]),
        "section": " > ".join(place.get("section_path") or ()) or None,
        "page": place.get("page_number"),
        "check_item_id": finding.get("check_item_id"),
        "id": finding["id"],
    }


def _short(value: Any, language: str) -> Any:  # noqa: ANN401 (any JSON)
    """Leave out nulls, empty lists and objects, and of a text in both languages the other one."""
    if isinstance(value, Mapping):
        other = {one for one in LANGUAGES if one != language} if set(LANGUAGES) <= value.keys() else set()
        short = {name: _short(held, language) for name, held in value.items() if name not in other}
        return {name: held for name, held in short.items() if held is not None and held != [] and held != {}}
    if isinstance(value, list):
        return [_short(held, language) for held in value]
    return value


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class _Part:
    """A list or a string inside a result: where it is held, and the characters that it takes."""

    holder: Any
    key: Any
    path: str
    size: int = field(default=0)


def _within(value: dict[str, Any], budget: int, arguments: frozenset[str]) -> dict[str, Any]:
    size = len(_dump(value))
    if size <= budget:
        return value
    left_out: dict[str, int] = {}
    while (excess := size + NOTICE - budget) > 0:
        parts = list(_parts(value, ""))
        lists = [part for part in parts if isinstance(part.holder[part.key], list)]
        strings = [part for part in parts if isinstance(part.holder[part.key], str)]
        part = max(lists or strings, key=lambda one: one.size)
        held = part.holder[part.key]
        if isinstance(held, list):
            dropped = 0
            while len(held) > 1 and dropped < excess:
                dropped += len(_dump(held.pop())) + 1
                left_out[part.path] = left_out.get(part.path, 0) + 1
        else:
            part.holder[part.key] = cut_text(held, max(100, len(held) - excess - 60))
            left_out[part.path] = left_out.get(part.path, 0) + len(held) - len(part.holder[part.key])
            if len(part.holder[part.key]) >= len(held):
                break
        size = len(_dump(value))
    return {**value, **_notice(value, left_out, arguments)}


def _parts(value: Any, path: str) -> Iterator[_Part]:  # noqa: ANN401 (any JSON)
    """Lists of two and more, and strings of more than 200 characters, with the size of each."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in entries:
        where = f"{path}.{key}".lstrip(".") if isinstance(value, dict) else path
        if (isinstance(held, list) and len(held) > 1) or (isinstance(held, str) and len(held) > 200):
            yield _Part(holder=value, key=key, path=where, size=len(_dump(held)))
        yield from _parts(held, where)


def _notice(value: Mapping[str, Any], left_out: Mapping[str, int], arguments: frozenset[str]) -> dict[str, Any]:
    shown = max((len(held) for name, held in value.items() if name in left_out and isinstance(held, list)), default=0)
    if "limit" in arguments and shown:
        how = f"call again with limit={shown}; its next_cursor leads on"
    elif narrowing := sorted(arguments & {"detail", "filter", "document_type", "max_depth", "row_limit", "top_k"}):
        how = f"ask for less with {', '.join(narrowing)}"
    else:
        how = "ask for less; structuredContent has all"
    most = dict(sorted(left_out.items(), key=lambda item: -item[1])[:5])
    # the cursor is that of the whole page: it would lead past what is left out
    return {**({"next_cursor": None} if "next_cursor" in value else {}), "left_out": {**most, "next": how}}
