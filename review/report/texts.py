"""Reports as text: JSON for programs, Markdown for people and repositories."""

from __future__ import annotations

import json

from django.template.loader import render_to_string

from review.report.facts import ReportFacts


def render_json(facts: ReportFacts) -> bytes:
    """Write the review's own shape, without the parts that are not wanted, and the difference as ``diff``."""
    body = facts.review.model_dump(mode="json")
    if not facts.options.summary:
        del body["summary"]
    if not facts.options.details:
        del body["findings"], body["suggestions"]
    elif not facts.options.evidence:
        for quoting in (*body["findings"], *body["suggestions"]):
            quoting["evidence"] = []
    if facts.diff:
        body["diff"] = facts.diff.model_dump(mode="json")
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode()


def render_markdown(facts: ReportFacts) -> bytes:
    """Write head, checks and findings; words of the document can't make headings or break tables."""
    return render_to_string("report/review.md", {"facts": facts, "review": facts.review}).encode()
