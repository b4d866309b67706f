"""One quantity with two values, here or between related documents, and expected results that a sample contradicts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from hub.core.texts import Text
from knowledge.text.folding import fold_compact
from knowledge.text.outline import bare_title, place
from knowledge.types.documents import Section
from review.rules.consistency.expected_results import contradicted_results
from review.rules.consistency.quantities import Quantity, amounts, conventions, read_quantities
from review.rules.prose import read_prose
from review.rules.registry import rule
from review.rules.traceability.across import kind_name
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

Group = tuple[str, str, str, str]
Values = frozenset[Decimal]

_MANY = 3
_SHARED_LABELS = 2
_SHORTEST_LABEL = 3


@rule(
    id="consistency.conflicting_value",
    title=Text(ja="同じ量の値の食い違い", en="One quantity, different values"),
    looks_at=Text(
        ja="同じ名前・同じ単位・同じ意味（目標か実績か、以上か以下か）の値が箇所または関連文書で異なること、"
        "表の期待結果と実装例の検証値が異なること",
        en="values of the same name, unit and sense (goal or measured, at least or at most) that differ between places "
        "or related documents, and expected results that a code sample contradicts",
    ),
    tags=("consistency",),
    reads_related=True,
)
def conflicting_value(target: RuleInput) -> RuleOutcome:
    """Report each quantity that has more than one value, with every place."""
    quantities = [each for each in read_quantities(target.text, target.sections, target.blocks) if _is_named(each)]
    compared, contradicted = contradicted_results(target)
    if not (quantities or compared or amounts(read_prose(target.text, target.blocks).masked)):
        return RuleOutcome(
            skip_reason=Text(ja="比べられる数値がありません。", en="There are no quantities that could be compared.")
        )
    findings = [_finding(target, found) for found in _conflicts(quantities, target.sections)]
    findings += [
        _across_finding(target, related, one) for related in target.related for one in _differing(target, related)
    ]
    findings += contradicted
    findings.sort(key=lambda finding: finding.location.start if finding.location else 0)
    return RuleOutcome(findings=tuple(findings), examined=len(quantities) + compared)


def _is_named(quantity: Quantity) -> bool:
    generic = {fold_compact(label) for label in conventions()["generic"]["labels"]}
    return len(quantity.label) >= _SHORTEST_LABEL and quantity.label not in generic


def _groups(quantity: Quantity) -> Iterator[tuple[Group, Values]]:
    """Yield what a quantity may be compared by, with its values: label, dimension, bound and sense."""
    by_bound: dict[tuple[str, str], set[Decimal]] = defaultdict(set)
    for amount in quantity.amounts:
        by_bound[amount.dimension, amount.bound].add(amount.value)
    for (dimension, bound), values in by_bound.items():
        if bound != "other":
            # What is bounded and not measured is demanded: 3秒以内 is a goal in a sentence as in a table of goals.
            sense = quantity.sense or ("goal" if bound in ("max", "min") else "")
            yield (quantity.label, dimension, bound, sense), frozenset(values)


def _conflicts(quantities: list[Quantity], sections: tuple[Section, ...]) -> list[list[Quantity]]:
    """Return the groups with two or three values; what has more is a property of many things."""
    places: dict[Group, list[tuple[Quantity, Values]]] = defaultdict(list)
    for quantity in quantities:
        for key, values in _groups(quantity):
            places[key].append((quantity, values))
    found = []
    for found_places in places.values():
        distinct = {values for _, values in found_places}
        if 1 < len(distinct) <= _MANY and _are_one_thing([q for q, _ in found_places], quantities, sections):
            found.append([quantity for quantity, _ in found_places])
    return found


def _are_one_thing(group: list[Quantity], every: list[Quantity], sections: tuple[Section, ...]) -> bool:
    by_id = {section.id: section for section in sections}
    titles = [bare_title(by_id[each.section].title) if each.section in by_id else "" for each in group]
    if group[0].label in {fold_compact(label) for label in conventions()["by_context"]["labels"]}:
        whole = re.compile(conventions()["by_context"]["sections"], re.IGNORECASE)
        if not all(not title or whole.search(title) for title in titles):
            return False
    homes = list(dict.fromkeys(each.section for each in group))
    if _are_siblings(homes, by_id):
        return False
    labels = [{each.label for each in every if each.section == home} for home in homes]
    # Sections with several labels in common are records of different things: each component has its 起動時間.
    return all(
        len(one & other) <= _SHARED_LABELS or by_id.get(home) is None
        for home, one, other in zip(homes, labels, labels[1:], strict=False)
    )


def _are_siblings(homes: list[str], by_id: dict[str, Section]) -> bool:
    """Sections side by side within a chapter treat one thing each: every one has its 効果 and its 起動時間."""
    parents = {by_id[home].parent_id if home in by_id else None for home in homes}
    parent = by_id.get(parents.pop() or "") if len(homes) > 1 and len(parents) == 1 else None
    return parent is not None and (parent.number is not None or parent.parent_id is not None)


def _differing(target: RuleInput, related: RelatedDocument) -> Iterator[list[Quantity]]:
    """Yield pairs (here, there) of a quantity that each document gives one value, and not the same."""
    ours = _single_valued(read_quantities(target.text, target.sections, target.blocks))
    theirs = _single_valued(read_quantities(related.text, related.sections, related.blocks))
    for key in ours.keys() & theirs.keys():
        (one, values), (other, others) = ours[key], theirs[key]
        if values != others:
            yield [one, other]


def _single_valued(quantities: tuple[Quantity, ...]) -> dict[Group, tuple[Quantity, Values]]:
    found: dict[Group, list[tuple[Quantity, Values]]] = defaultdict(list)
    for quantity in filter(_is_named, quantities):
        for key, values in _groups(quantity):
            # What a requirement demands and a design promises is one thing to a reader of both.
            found[(*key[:3], "actual" if key[3] == "actual" else "")].append((quantity, values))
    return {key: places[0] for key, places in found.items() if len({values for _, values in places}) == 1}


def _finding(target: RuleInput, group: list[Quantity]) -> FindingDraft:
    counts: dict[str, int] = defaultdict(int)
    for each in group:
        counts[each.written] += 1
    first, name = group[0], group[0].name
    where = "、".join(dict.fromkeys(f"「{place(target.sections, each.start)}」{each.written}" for each in group))
    return FindingDraft(
        rule_id="consistency.conflicting_value",
        severity=Severity.MAJOR,
        message=Text(
            ja=f"「{name}」の値が箇所によって異なります: {where}。",
            en=f"“{name}” has different values: {where}.",
        ),
        key="|".join(sorted(counts)),
        rests_on=(),
        evidence=tuple(Span(start=each.start, end=each.end) for each in group),
        data={"quantity": name, "values": sorted(counts)},
        confidence=round(max(counts.values()) / len(group), 3),
        confidence_basis=Text(
            ja=f"「{name}」の記述 {len(group)} か所のうち最も多い書き方の割合",
            en=f"share of the most frequent wording among the {len(group)} places",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{place(target.sections, first.start)}」などの「{name}」の値を確かめて一つにそろえるか、"
                "条件（時点・対象・環境）が違うならそれを書き分けます。",
                en=f"Settle on one value of “{name}”, or say how the conditions (time, object, environment) differ.",
            ),
            rationale=Text(
                ja="同じ量に二つの値があると、どちらを満たせばよいか決まりません。",
                en="With two values nobody knows which one counts.",
            ),
            example=first.written,
        ),
    )


def _across_finding(target: RuleInput, related: RelatedDocument, pair: list[Quantity]) -> FindingDraft:
    ours, theirs = pair
    kind = kind_name(related)
    where = place(target.sections, ours.start)
    return FindingDraft(
        rule_id="consistency.conflicting_value",
        severity=Severity.MAJOR,
        message=Text(
            ja=f"「{where}」の「{ours.written}」が、{kind.ja}の同じ項目の値と異なります。",
            en=f"“{ours.written}” in “{where}” differs from the value in the {kind.en}.",
        ),
        key=f"{related.document_id}:{ours.label}:{ours.written}",
        evidence=(
            Span(start=ours.start, end=ours.end),
            Span(start=theirs.start, end=theirs.end, document=related.document_id),
        ),
        data={"quantity": ours.name, "values": [ours.written], "document_id": related.document_id},
        rests_on=(related.document_id,),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の「{ours.name}」を{kind.ja}の値に合わせるか、変えた理由を書きます。",
                en=f"Bring “{ours.name}” in “{where}” in line with the {kind.en}, or say why it differs.",
            ),
            rationale=Text(
                ja="文書の間で値が違うと、どちらを満たせばよいか決まりません。",
                en="With two values nobody knows which one counts.",
            ),
        ),
    )
