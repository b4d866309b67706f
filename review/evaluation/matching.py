"""Whether what a reviewer said answers a case, and one run held against another. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hub.evaluation.metrics import FAIL, MEASURES, PASS, UNDECIDED, Judged, measure
from knowledge.text.folding import fold_compact

FAMILY = re.compile(r"\d+$")
PAIR = 2
Score = Mapping[str, Any]
LEADING = ("f1_score", "agreement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A finding as far as matching goes; spans are [start, end) in the document's own text."""

    rule_id: str
    data: Mapping[str, Any] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said by the item or rules that a case names: whether anything decided, and the defects."""

    decided: bool
    defects: Sequence[Defect] = ()


def answer(case: Mapping[str, Any], said: Said, text: str) -> str:
    """Tell what was said of a case (its stored input): fail, pass or undecided."""
    if not said.decided:
        return UNDECIDED
    places = places_of(case["location"], text) if case.get("location") else ()
    about = [(_is_about(case, defect, places), defect) for defect in said.defects]
    if named := [defect for is_about, defect in about if is_about]:
        # What is to be looked at is neither there nor missing.
        return UNDECIDED if all(defect.data.get("status") == UNDECIDED for defect in named) else FAIL
    # A place that the document does not have tells nothing, when nothing else does.
    return UNDECIDED if any(is_about is None for is_about, _ in about) else PASS


def _is_about(case: Mapping[str, Any], defect: Defect, places: Sequence[tuple[int, int]]) -> bool | None:
    """Whether a defect is what the case asks of; None when it can't be told.

    What the case and the defect both name decides; a case that names nothing takes any defect.
    """
    data = defect.data
    if case.get("topic"):
        return case["topic"] in (data.get("topic"), *data.get("topics", ()))
    if case.get("identifiers") and data.get("identifiers"):
        return shares_identifiers(case["identifiers"], data["identifiers"])
    if case.get("variants") and data.get("variants"):
        return shares_variants(case["variants"], data["variants"])
    if case.get("variants") and data.get("expressions"):
        return any(
            fold_compact(word) in fold_compact(form) for word in case["variants"] for form in data["expressions"]
        )
    if case.get("variants") and data.get("abbreviations"):
        return any(
            fold_compact(word) == fold_compact(form) for word in case["variants"] for form in data["abbreviations"]
        )
    if case.get("field") and data.get("field"):
        return bool(case["field"] == data["field"])
    if case.get("location"):
        return _overlaps(defect.spans, places) if places else None
    return not (case.get("identifiers") or case.get("variants"))


def shares_identifiers(wanted: Sequence[str], named: Sequence[str]) -> bool:
    """Whether of each family of wanted identifiers one is named.

    >>> shares_identifiers(["FR-001", "FR-002"], ["FR-002"]), shares_identifiers(["FR-002", "C-001"], ["FR-002"])
    (True, False)
    """
    folded = {fold_compact(name) for name in named}
    families: dict[str, set[str]] = {}
    for name in map(fold_compact, wanted):
        families.setdefault(FAMILY.sub("", name), set()).add(name)
    return all(members & folded for members in families.values())


def shares_variants(wanted: Sequence[str], found: Sequence[str] | Mapping[str, int]) -> bool:
    """Whether two of the wanted spellings (the only one, if it is one) are among those found side by side."""
    common = {_spelling(form) for form in wanted} & {_spelling(form) for form in found}
    return len(common) >= min(PAIR, len({_spelling(form) for form in wanted}))


def places_of(location: str, text: str) -> list[tuple[int, int]]:
    """Find the lines where a location's text is, white space, widths and case aside; [start, end) each."""
    wanted = fold_compact(location)
    found, start = [], 0
    for line in text.split("\n"):
        if wanted and wanted in fold_compact(line):
            found.append((start, start + len(line)))
        start += len(line) + 1
    return found


def _overlaps(spans: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]) -> bool:
    return any(start < last and first < end for start, end in spans for first, last in places)


def _spelling(text: str) -> str:
    """Spellings differ by width and case, too: nothing is folded but the form of the code points."""
    return unicodedata.normalize("NFC", text.strip())


class Compared(NamedTuple):
    """What changed between two runs: over how many cases, in which measures, and the cases answered otherwise."""

    cases: int
    metrics: dict[str, Any]
    flips: list[dict[str, Any]]


def judged_of(score: Score) -> Judged:
    """Read a case's stored score."""
    return Judged(expected=score["expected"], said=score["said"], weight=score["weight"], stable=score.get("stable"))


def compare(before: Mapping[str, Score], after: Mapping[str, Score]) -> Compared:
    """Compare the stored scores of two runs by case id. F1 decides; where there is none, agreement.

    Only cases that both judged, with the same expected answer, count: a dataset may have grown in between. ``delta`` is
    after minus before, null where either is; ``improved`` and ``regression`` may both be false.
    """
    shared = [name for name, score in after.items() if name in before and before[name]["expected"] == score["expected"]]
    old, new = (
        {name: entry["value"] for name, entry in measure(judged, intervals=False).items()} if judged else {}
        for judged in ([judged_of(scores[name]) for name in shared] for scores in (before, after))
    )
    pairs = {name: (old.get(name), new.get(name)) for name in MEASURES}
    delta = {name: None if then is None or now is None else round(now - then, 6) for name, (then, now) in pairs.items()}
    change = next((delta[name] for name in LEADING if delta[name] is not None), None) or 0.0
    flips = [
        {
            "case": name,
            "expected": after[name]["expected"],
            "before": before[name]["said"],
            "after": after[name]["said"],
            "is_worse": before[name]["said"] == after[name]["expected"],
        }
        for name in shared
        if before[name]["said"] != after[name]["said"]
    ]
    baseline = {name: old.get(name) for name in MEASURES}
    return Compared(
        cases=len(shared),
        metrics={"delta": delta, "improved": change > 0, "regression": change < 0, "baseline": baseline},
        flips=sorted(flips, key=lambda flip: not flip["is_worse"]),
    )
