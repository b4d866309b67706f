"""One finding of a document for all places of one style rule."""

from __future__ import annotations

from hub.core.texts import Text
from knowledge.text.outline import place as section_title
from review.rules.style.places import Place
from review.types import FindingDraft, RuleInput, Severity, Span, SuggestionDraft

_PLACES_SHOWN = 20
_EXAMPLE_WIDTH = 20


def grouped(
    rule_id: str, title: Text, severity: Severity, places: list[Place], target: RuleInput
) -> FindingDraft | None:
    """Return the finding that lists ``places``, or None with fewer than the parameter ``at_least`` (1) of them."""
    if len(places) < max(1, int(target.params.get("at_least", 1))):
        return None
    first = places[0]
    return FindingDraft(
        rule_id=rule_id,
        severity=severity,
        message=Text(
            ja=f"{title.ja}: {len(places)} か所。{first.message.ja}",
            en=f"{title.en}: {len(places)} place(s). {first.message.en}",
        ),
        key=rule_id,
        evidence=tuple(Span(start=each.start, end=each.end) for each in places[:_PLACES_SHOWN]),
        data={
            "places": len(places),
            "shown": [
                {
                    "start_offset": each.start,
                    "end_offset": each.end,
                    "message_ja": each.message.ja,
                    "message_en": each.message.en,
                    "replacement": each.replacement,
                }
                for each in places[:_PLACES_SHOWN]
            ],
        },
        suggestion=_suggestion(places, target),
    )


def _suggestion(places: list[Place], target: RuleInput) -> SuggestionDraft:
    first = next((each for each in places if each.replacement is not None), places[0])
    where = section_title(target.sections, first.start)
    in_section = Text(ja=f"「{where}」の" if where else "", en=f" in “{where}”" if where else "")
    quote = " ".join(target.text[first.start : first.end].split())[:_EXAMPLE_WIDTH]
    return SuggestionDraft(
        content=Text(
            ja=f"{in_section.ja}「{quote}」など {len(places)} か所を見直します。",
            en=f"Revise {len(places)} place(s), beginning with “{quote}”{in_section.en}.",
        ),
        rationale=first.message,
        example=_corrected(target.text, first) if first.replacement is not None else None,
    )


def _corrected(text: str, place: Place) -> str:
    line_start = text.rfind("\n", 0, place.start) + 1
    line_end = text.find("\n", place.end)
    before = text[max(line_start, place.start - _EXAMPLE_WIDTH) : place.start]
    after = text[place.end : min(len(text) if line_end < 0 else line_end, place.end + _EXAMPLE_WIDTH)]
    return f"{before}{place.replacement}{after}"
