"""A newer shipped edition of a check list in use: offered as a draft that keeps what curators made of theirs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hub.access.principals import system_principal
from review.curation.master_versions import draft_checklist, draft_item
from review.masters.content import ItemContent, field_changes
from review.masters.listing import content_of, item_versions_of, version_in_force
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListVersion

REASON = (
    "同梱のチェックリストの新しい版。人が変更・削除・追加した項目はそのまま。"
    " / New shipped edition; items that people changed, removed or added are kept."
)


def edition_of(items: Sequence[dict[str, Any]]) -> str:
    """Name the content of a shipped list: other items, another edition. 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(items, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def offer_edition(checklist: CheckList, items: Sequence[ItemContent], edition: str) -> CheckListVersion | None:
    """Make a draft with a shipped edition's changes unless it was offered before; None without anything to offer.

    An item that people changed stays as they made it, one that they took out stays out, and theirs stay in.
    """
    if checklist.versions.filter(shipped_edition=edition).exists():
        return None
    base = version_in_force(checklist) or checklist.versions.order_by("-number").first()
    current = item_versions_of(base) if base else []
    known = set(CheckItem.objects.values_list("code", flat=True))
    wanted = _merged(current, items, known)
    if base and wanted == current:
        CheckListVersion.objects.filter(pk=base.pk).update(shipped_edition=edition)
        return None
    principal = system_principal("shipped")
    versions = [one if isinstance(one, CheckItemVersion) else _drafted(one, edition) for one in wanted]
    draft = draft_checklist(principal=principal, checklist=checklist, items=versions, reason=REASON)
    CheckListVersion.objects.filter(pk=draft.pk).update(shipped_edition=edition)
    return draft


def _drafted(content: ItemContent, edition: str) -> CheckItemVersion:
    version = draft_item(principal=system_principal("shipped"), content=content, reason=REASON)
    version.shipped_edition = edition
    version.save(update_fields=["shipped_edition"])
    return version


def _merged(
    current: Sequence[CheckItemVersion], shipped: Sequence[ItemContent], known: Iterable[str]
) -> list[CheckItemVersion | ItemContent]:
    """The items in force, those of ours in the new edition's words, and new ones behind the item they follow there."""
    ours = {content.code: content for content in shipped}
    merged = [one for version in current if (one := _newer(version, ours)) is not None]
    codes = [version.item.code for version in current if _newer(version, ours) is not None]
    for place, content in enumerate(shipped):
        if content.code in known:
            continue
        before = [codes.index(one.code) for one in shipped[:place] if one.code in codes]
        at = max(before) + 1 if before else 0
        merged.insert(at, content)
        codes.insert(at, content.code)
    return merged


def _newer(version: CheckItemVersion, ours: dict[str, ItemContent]) -> CheckItemVersion | ItemContent | None:
    """What takes the place of an item version: itself, its new edition, or nothing when that no longer has it."""
    if not version.shipped_edition:
        return version
    content = ours.get(version.item.code)
    if content is None or not field_changes(content_of(version), content):
        return version if content else None
    return content
