"""Whether a finding of a later review rests on what was decided about in an earlier one."""

from __future__ import annotations

from review.models import Finding
from review.triage.matching import names_in

SENTENCE_ENDS = "。\n"


def is_same_evidence(before: Finding, old_text: str, after: Finding, new_text: str) -> bool:
    """Tell whether two findings quote the same sentences, and have the same names, topic and severity.

    The texts are those that the findings' own evidence refers to. Expects the findings' reviews to be selected.
    """
    return (
        _sentences(before, old_text) == _sentences(after, new_text)
        and names_in(before.data) == names_in(after.data)
        and before.data.get("topic") == after.data.get("topic")
        and before.severity == after.severity
    )


def _sentences(finding: Finding, text: str) -> list[str]:
    """The sentences around the quotes, without spaces: a quote may be one word of what was decided about.

    Quotes of other documents, and those that could not be found, stand for themselves.
    """
    own = finding.result.review.document_id_text
    return sorted(
        _sentence(text, item["start_offset"], item["end_offset"])
        if item["document_id"] == own and item["verified"]
        else "".join(str(item["quote"]).split())
        for item in finding.evidence
    )


def _sentence(text: str, start: int, end: int) -> str:
    """The text from the full stop or line break before [start, end) to the one after it."""
    first = max(text.rfind(mark, 0, start) for mark in SENTENCE_ENDS) + 1
    lasts = [at for mark in SENTENCE_ENDS if (at := text.find(mark, end)) >= 0]
    return "".join(text[first : min(lasts, default=len(text))].split())
