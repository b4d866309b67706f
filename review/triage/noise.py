"""Which rules and check items find what people reject: shares over what they decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import CharField, Count, F, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from review.models import CheckItem, CheckItemVersion, Finding, Triage

LEAST_DECIDED = 5
"""With fewer decisions there is no share: one rejection of one says nothing of a rule."""
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """What people decided on the findings of a rule, or of a check item."""

    name: str
    """The rule's id, or the item's code."""
    partners: Sequence[str]
    """The codes of the items that a rule found something for; the ids of the rules that found something for an item."""
    decided: int
    rejected: int

    @property
    def share(self) -> float | None:
        """How much of what was decided was rejected, 0 to 1; None below LEAST_DECIDED."""
        return self.rejected / self.decided if self.decided >= LEAST_DECIDED else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseList:
    """Rules and check items with decided findings: the largest shares first, those without a share last."""

    rules: Sequence[Rejections]
    items: Sequence[Rejections]


def noise_list(principal: Principal) -> NoiseList:
    """Count decisions by rule and by check item, over all versions, in the reviews that the caller may read. One query.

    A decision that was carried over from an earlier review and stands as it was counts there alone. Raises Forbidden.
    """
    counted = (
        _decided(principal)
        .order_by()
        .values("rule_id", "result__item_version__item__code")
        .annotate(decided=Count("pk"), rejected=Count("pk", filter=Q(triage=Triage.REJECTED)))
        .values_list("rule_id", "result__item_version__item__code", "decided", "rejected")
    )
    rows = list(counted)
    return NoiseList(
        rules=_summed((rule, code, decided, rejected) for rule, code, decided, rejected in rows),
        items=_summed((code, rule, decided, rejected) for rule, code, decided, rejected in rows),
    )


def rejected_findings(principal: Principal, *, rule: str = "", item: str = "") -> list[Finding]:
    """The last MOST_SHOWN findings that were rejected, of a rule or of a check item's code; the newest decision first.

    One query, and a line in the audit trail for each of their reviews. Raises Forbidden.
    """
    rejected = _decided(principal).filter(triage=Triage.REJECTED)
    if rule:
        rejected = rejected.filter(rule_id=rule)
    if item:
        rejected = rejected.filter(result__item_version__item__code=item)
    newest = rejected.select_related("result__review__version__document").order_by("-triaged_at", "-pk")
    found = list(newest[:MOST_SHOWN])
    with transaction.atomic(savepoint=False):  # all lines wait for the disk once
        for review_id in sorted({one.result.review.public_id for one in found}):
            record_event(principal, "RESULT_VIEW", f"review:{review_id}", part="noise")
    return found


def newest_versions(codes: Iterable[str]) -> dict[str, CheckItemVersion]:
    """The newest version of each check item, by code. One query."""
    items = CheckItem.objects.filter(code__in=set(codes))
    versions = CheckItemVersion.objects.filter(item__in=items).select_related("item")
    newest = versions.order_by("item_id", "-number").distinct("item_id")
    return {one.item.code: one for one in newest}


def _decided(principal: Principal) -> QuerySet[Finding]:
    principal.require_hub(HubRight.MASTERS)
    decided = Finding.objects.visible_to(principal).counted().exclude(triage=Triage.OPEN)
    carried = Coalesce(KT("carried__triage"), Value(""), output_field=CharField())
    return decided.annotate(taken_over=carried).exclude(taken_over=F("triage"))


def _summed(rows: Iterable[tuple[str, str, int, int]]) -> list[Rejections]:
    """Sum (name, partner, decided, rejected) by name."""
    groups: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for name, partner, decided, rejected in rows:
        groups[name].append((partner, decided, rejected))
    summed = [
        Rejections(
            name=name,
            partners=sorted(partner for partner, _decided, _rejected in group),
            decided=sum(decided for _partner, decided, _rejected in group),
            rejected=sum(rejected for _partner, _decided, rejected in group),
        )
        for name, group in groups.items()
    ]
    return sorted(summed, key=_noisiest_first)


def _noisiest_first(row: Rejections) -> tuple[bool, float, int, str]:
    return row.share is None, -(row.share or 0), -row.rejected, row.name
