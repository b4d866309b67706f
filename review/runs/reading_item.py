"""The check item that findings of the reading of the whole document belong to. It is of no check list."""

from __future__ import annotations

from django.utils import timezone

from review.models import CheckItem, CheckItemVersion, CheckType, MasterStatus, Strategy
from review.rules.base import shipped
from review.types import READING_CODE


def reading_item() -> CheckItemVersion:
    """The version in force of the item; made where there is none yet. To be called in a transaction."""
    approved = CheckItemVersion.objects.filter(item__code=READING_CODE, status=MasterStatus.APPROVED)
    found = approved.order_by("-number").first()
    if found is not None:
        return found
    words = shipped("reading_item")
    item, _made = CheckItem.objects.get_or_create(code=READING_CODE, defaults={"category": words["category"]})
    last = item.versions.order_by("-number").values_list("number", flat=True).first() or 0
    return CheckItemVersion.objects.create(
        item=item,
        number=last + 1,
        category=words["category"],
        check_type=CheckType.COMPOSITE,
        strategy=Strategy.HYBRID,
        status=MasterStatus.APPROVED,
        approved_at=timezone.now(),
        **{
            f"{name}_{language}": words[name][language] for name in ("name", "description") for language in ("ja", "en")
        },
    )
