"""Taking single topics out of a stored finding that calls several missing: it goes on about the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hub.core.texts import Text
from review.models import Finding, Suggestion
from review.rules.base import quoted

NARROWED_FIELDS = ("data", "message_ja", "message_en")
"""The fields of a finding that change."""
# What the data of such a finding has of each topic, in one order.
_PARALLEL = ("topics", "items", "items_en")


def narrow(finding: Finding, treated: Collection[str]) -> None:
    """Change the data and messages of a finding, unsaved, and store its suggestion, so that they name the topics that
    are left; those of the names ``treated``, which are not all of them, stand in its data under that name.

    Its fingerprint stays, since it is the same matter in the next review.
    """
    before, finding.data = _names(finding.data), _without(finding.data, treated)
    after = _names(finding.data)
    finding.message_ja = finding.message_ja.replace(before.ja, after.ja)
    finding.message_en = _replaced(finding.message_en, before.en, after.en)
    suggestion = getattr(finding, "suggestion", None)
    if isinstance(suggestion, Suggestion):
        suggestion.content_ja = suggestion.content_ja.replace(before.ja, after.ja)
        suggestion.content_en = _replaced(suggestion.content_en, before.en, after.en)
        suggestion.save(update_fields=["content_ja", "content_en"])


def _without(data: Mapping[str, Any], treated: Collection[str]) -> dict[str, Any]:
    kept = [at for at, item in enumerate(data["items"]) if item not in treated]
    left = {name: [data[name][at] for at in kept] for name in _PARALLEL if name in data}
    return {**data, **left, "treated": list(treated)}


def _names(data: Mapping[str, Any]) -> Text:
    """The topics as message and suggestion name them; in English nothing where the finding is older than its names."""
    return Text(ja=quoted(data["items"]).ja, en=quoted(data.get("items_en", ())).en)


def _replaced(text: str, before: str, after: str) -> str:
    return text.replace(before, after) if before else text
