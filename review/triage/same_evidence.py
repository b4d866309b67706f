"""Whether a finding of a later review rests on what was decided about in an earlier one."""

from __future__ import annotations

from knowledge.text.sentences import sentences_around
from review.models import Finding
from review.triage.matching import names_in


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
        "".join(text[slice(*sentences_around(text, item["start_offset"], item["end_offset"]))].split())
        if item["document_id"] == own and item["verified"]
        else "".join(str(item["quote"]).split())
        for item in finding.evidence
    )
