"""What a model reads of what a tool gives, short enough that no client cuts it.

Structured content and the text have the same facts, within HUB_MCP_OUTPUT_CHARS; the text is without indentation,
without nulls and empty lists inside, with notices in one language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from mcp.types import TextContent

from mcp_bridge.pages import Place, cursor_of, cut_text, dump, page_of

LANGUAGES = ("ja", "en")
SEVERITIES = ("critical", "major", "minor", "info")
UNDECIDED = ("skipped", "error")
UNFINISHED = ("queued", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedCall:
    """The call that reads on in a result: its tool, and what its cursors belong to. ``tool`` None: there is none."""

    tool: str | None
    name: str
    arguments: Mapping[str, Any]


def as_text(facts: Mapping[str, Any], *, language: str) -> TextContent:
    """Write a result for a model to read."""
    return TextContent(type="text", text=dump({name: _short(held, language) for name, held in facts.items()}))


def page_of_result(facts: Mapping[str, Any], *, budget: int, place: Place, call: PagedCall) -> dict[str, Any]:
    """Take the page of a result that begins at ``place``; next_cursor and left_out say what comes after it."""
    page = page_of(facts, budget, place)
    if not page.left_out:
        return page.facts
    most = dict(sorted(page.left_out.items(), key=lambda entry: -entry[1])[:5])
    if page.following is None:
        hint = gettext("A long item is cut inside. get_section reads the whole text of a document, page by page.")
        return {**page.facts, "left_out": {**most, "next": hint}}
    if call.tool is None:
        hint = gettext("Ask for less: the rest is not shown.")
        return {**page.facts, "left_out": {**most, "next": hint}}
    cursor = cursor_of(Place(given=page.following, inner=place.inner), name=call.name, arguments=call.arguments)
    hint = gettext("For the rest call {tool} with the same arguments and next_cursor as cursor.").format(tool=call.tool)
    return {**page.facts, "next_cursor": cursor, "left_out": {**most, "next": hint}}


def by_severity(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Order findings by severity, the worst first; those of a severity as they were."""
    return sorted(findings, key=lambda finding: _rank(finding["severity"]))


def review_in_brief(review: Mapping[str, Any]) -> dict[str, Any]:
    """A review's verdict and summary, findings by severity with quote and repair, then what is undecided and why.

    Of a review that still runs: only its state. All strings are those of the review.
    """
    head = {name: review[name] for name in ("review_id", "document_id", "version", "status", "status_reason")}
    head["resource_uri"] = review["resource_uri"]
    if review["status"] in UNFINISHED:
        return {
            **head,
            "progress": review["progress"],
            "waiting_for": review["waiting_for"],
            "next": gettext("review_document with this document_id and review_id, or get_review, waits for it."),
        }
    findings = by_severity(review["findings"])
    undecided = [result for result in review["results"] if result["verdict"] in UNDECIDED]
    return {
        **head,
        "verdict": review["verdict"],
        "checklist": review["checklist"],
        "summary": review["summary"],
        "total_findings": review["total_findings"],
        "since": review.get("since"),
        "findings": [_finding(finding) for finding in findings],
        "suggestions": [{"finding_id": one["finding_id"], "content": one["content"]} for one in review["suggestions"]],
        "undecided": _by_reason(undecided),
        "notices": review["notices"],
        "next": gettext("detail=full gives each check with its evidence; create_report writes the report."),
    }


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _by_reason(undecided: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Put checks that are undecided for the same reason together, in the order of the first of each."""
    found: dict[str, dict[str, Any]] = {}
    for one in undecided:
        row = {"verdict": one["verdict"], "check_items": [], "why": one["notices"]}
        found.setdefault(dump([one["verdict"], one["notices"]]), row)["check_items"].append(one["check_item_id"])
    return list(found.values())


def review_in_text(brief: Mapping[str, Any]) -> dict[str, Any]:
    """The same facts in fewer characters: a finding's repair, quote and section stand with it.

    What is undecided was skipped, unless it says that it is an error; why is said in words, without codes.
    """
    if "findings" not in brief:
        return dict(brief)
    repairs: dict[str, str] = {}
    others = []
    shown = {finding["id"] for finding in brief["findings"]}
    for one in brief["suggestions"]:
        if one["finding_id"] in shown and one["finding_id"] not in repairs:
            repairs[one["finding_id"]] = one["content"]
        else:
            others.append(one)
    findings = [_finding_in_text(finding, repairs) for finding in brief["findings"]]
    undecided = [
        {
            "error": True if row["verdict"] == "error" else None,
            "check_items": row["check_items"],
            "why": [{language: notice[language] for language in LANGUAGES} for notice in row["why"]],
        }
        for row in brief["undecided"]
    ]
    return {**brief, "findings": findings, "suggestions": others, "undecided": undecided}


def _finding_in_text(finding: Mapping[str, Any], repairs: Mapping[str, str]) -> dict[str, Any]:
    place = finding["location"]
    return {
        "severity": finding["severity"],
        "message": finding["message"],
        "quote": finding["evidence"][0]["quote"] if finding["evidence"] else None,
        "repair": repairs.get(finding["id"]),
        "section": " > ".join(place.get("section_path", ())) or None,
        "page": place.get("page_number"),
        "check_item_id": finding["check_item_id"],
        "id": finding["id"],
    }


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    place = finding.get("location") or {}
    quotes = [one["quote"] for one in finding.get("evidence") or () if one.get("quote")]
    return {
        "id": finding["id"],
        "severity": finding["severity"],
        "message": finding["message"],
        "evidence": [{"quote": cut_text(quote, 300)} for quote in quotes[:1]],
        "location": {name: place[name] for name in ("section_path", "page_number") if place.get(name)},
        "check_item_id": finding.get("check_item_id"),
    }


def _short(value: Any, language: str) -> Any:  # noqa: ANN401 (any JSON)
    """Leave out nulls, empty lists and objects, and of a text in both languages the other one."""
    if isinstance(value, Mapping):
        if set(LANGUAGES) == value.keys():
            return value[language]
        other = {one for one in LANGUAGES if one != language} if set(LANGUAGES) <= value.keys() else set()
        short = {name: _short(held, language) for name, held in value.items() if name not in other}
        return {name: held for name, held in short.items() if held is not None and held != [] and held != {}}
    if isinstance(value, list):
        return [_short(held, language) for held in value]
    return value
