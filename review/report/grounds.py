"""What the verdicts of language models rest on, for pages to show beside them."""

from __future__ import annotations

from collections.abc import Callable

from knowledge.models import VersionContent
from knowledge.text.quotes import in_one_line
from review.models import Review
from review.runs.schemas import ReviewOut


def grounds_of(
    review: Review, facts: ReviewOut, *, address: Callable[[str, int, int, int], str]
) -> dict[str, list[tuple[str, str]]]:
    """What each model's verdict rests on, by check item: quotes and the addresses of their places.

    ``address`` gives that of a document's version from one offset to another. One query where a model judged.
    """
    judged = {result.check_item_id: result.judgement for result in facts.results if result.judgement}
    if not judged:
        return {}
    text = VersionContent.objects.filter(pk=review.version_id).values_list("markdown", flat=True).first() or ""
    return {
        code: [
            (in_one_line(text[start:end]), address(facts.document_id, facts.version, start, end))
            for start, end in judgement.grounds
        ]
        for code, judgement in judged.items()
    }
