"""Changing check masters: drafts, approving, retiring, comparing. Every door calls these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import date
from math import inf
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.access.versions import next_number, note_writer, require_second_person, require_withdrawal
from hub.core.errors import Conflict, InvalidInput
from hub.core.languages import shown
from knowledge.models import DocumentType
from review.evaluation.candidates import checklist_candidate
from review.evaluation.gate import let_through
from review.masters.content import ItemChange, ItemContent, diff_masters
from review.masters.lint import Remark, Weight, lint_item
from review.masters.listing import (
    content_of,
    get_checklist,
    get_checklist_version,
    item_versions_of,
    version_in_force,
)
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListEntry, CheckListVersion, MasterStatus
from review.types import READING_CODE

REMARKS_NAMED = 10


class MasterDiff(NamedTuple):
    """What a version changes against another; ``base`` is None when it is the first."""

    base: CheckListVersion | None
    changes: tuple[ItemChange, ...]


def create_checklist(
    *,
    principal: Principal,
    code: str,
    name_ja: str,
    name_en: str = "",
    document_types: Sequence[str] = (),
    ontology_domain: str = "",
) -> CheckList:
    """Make a check list without versions; import one, or add one in the admin. Raises Conflict, InvalidInput."""
    principal.require_hub(HubRight.MASTERS)
    if CheckList.objects.filter(code=code).exists():
        raise Conflict(_('There is a check list "{given}" already.'), code="checklist_exists", given=code)
    known = sorted(DocumentType.objects.values_list("code", flat=True))
    if unknown := sorted(set(document_types) - set(known)):
        raise InvalidInput(
            _("Unknown document types: {unknown}. Known: {known}."),
            field="document_types",
            unknown=", ".join(unknown),
            known=", ".join(known),
        )
    with transaction.atomic():
        made = CheckList.objects.create(
            code=code,
            name_ja=name_ja,
            name_en=name_en or name_ja,
            document_types=list(document_types),
            ontology_domain=ontology_domain,
        )
        record_event(principal, "MASTER_CHANGE", f"checklist:{code}")
    return made


def save_draft(*, principal: Principal, version: CheckItemVersion | CheckListVersion) -> None:
    """Store a draft, new ones under the next number; the caller becomes its author. Raises Conflict for others.

    A draft of an item that is stored just so stays as it is, with those who wrote it. The row of a check list is not
    all of it: who stores one without a change may have changed its entries.
    """
    principal.require_hub(HubRight.MASTERS)
    if isinstance(version, CheckItemVersion) and is_stored(version):
        return
    with transaction.atomic():
        if version._state.adding:
            version.number = _next_number(version)
        _require_status(version, MasterStatus.DRAFT)
        version.author_id = principal.user_id
        note_writer(version, principal)
        version.save()
        record_event(principal, "MASTER_CHANGE", _resource(version))


def is_stored(version: CheckItemVersion) -> bool:
    """Whether a draft of an item is stored with just the content and the reason that it has here. One query."""
    drafts = CheckItemVersion.objects.select_related("item").filter(pk=version.pk, status=MasterStatus.DRAFT)
    stored = drafts.first() if version.pk else None
    return stored is not None and (content_of(stored), stored.reason) == (content_of(version), version.reason)


def draft_item(*, principal: Principal, content: ItemContent, reason: str = "") -> CheckItemVersion:
    """Store a new draft version of an item, and the item when it is new."""
    item, _made = CheckItem.objects.get_or_create(code=content.code, defaults={"category": content.category})
    names = {field.name for field in fields(ItemContent)} - {"code", "criteria"}
    values = {name: getattr(content, name) for name in names}
    version = CheckItemVersion(item=item, reason=reason, criteria=dict(content.criteria), **values)
    save_draft(principal=principal, version=version)
    return version


def draft_checklist(
    *, principal: Principal, checklist: CheckList, items: Iterable[CheckItemVersion], reason: str = ""
) -> CheckListVersion:
    """Store a new draft version of a check list with these item versions, in this order."""
    with transaction.atomic():
        version = CheckListVersion(checklist=checklist, reason=reason)
        save_draft(principal=principal, version=version)
        CheckListEntry.objects.bulk_create(
            CheckListEntry(checklist_version=version, item_version=item, position=position)
            for position, item in enumerate(items)
        )
    return version


@transaction.atomic
def order_entries(*, principal: Principal, version: CheckListVersion, entries: Iterable[CheckListEntry]) -> None:
    """Number the entries of a draft from 0, in the order of their positions; of two with one position the new is last.

    The places of stored entries are written, and an audit line if their order is another than before; those of new
    ones are set, and stored by the caller. Raises Conflict (no draft), InvalidInput (entry of another version).
    """
    principal.require_hub(HubRight.MASTERS)
    locked = CheckListVersion.objects.select_for_update(of=("self",)).select_related("checklist").get(pk=version.pk)
    _require_status(locked, MasterStatus.DRAFT)
    wanted = sorted(entries, key=lambda entry: (entry.position, entry.pk or inf))
    kept = [entry for entry in wanted if entry.pk]
    stored = list(locked.entries.order_by("position", "pk").select_related("item_version__item"))
    if foreign := {entry.pk for entry in kept} - {entry.pk for entry in stored}:
        raise InvalidInput(
            _("Not entries of this version: {entries}"),
            field="entries",
            entries=", ".join(map(str, sorted(foreign))),
        )
    for position, entry in enumerate(wanted):
        entry.position = position
    CheckListEntry.objects.bulk_update(kept, ["position"])
    places = {entry.pk: entry.position for entry in kept}
    before = [entry for entry in stored if entry.pk in places]
    after = sorted(before, key=lambda entry: places[entry.pk])
    if after != before:
        order = [entry.item_version.item.code for entry in after]
        record_event(principal, "MASTER_CHANGE", _resource(locked), order=order)


def copy_checklist_version(*, principal: Principal, version: CheckListVersion) -> CheckListVersion:
    """Start a new draft of the same check list with the same entries."""
    return draft_checklist(principal=principal, checklist=version.checklist, items=item_versions_of(version))


def approve_item_version(*, principal: Principal, version: CheckItemVersion) -> None:
    """Approve a draft: it never changes again. Raises Conflict, InvalidInput (errors of the lint), Forbidden."""
    principal.require_hub(HubRight.MASTERS)
    with transaction.atomic():
        locked = CheckItemVersion.objects.select_for_update(of=("self",)).select_related("item").get(pk=version.pk)
        _require_status(locked, MasterStatus.DRAFT)
        require_second_person(principal, [locked])
        _require_no_errors(lint_item(content_of(locked)))
        _approve_items(principal, [locked])
    version.refresh_from_db()


def approve_checklist_version(
    *,
    principal: Principal,
    version: CheckListVersion,
    effective_from: date | None = None,
    effective_to: date | None = None,
    replaces: int | None = None,
) -> None:
    """Approve a draft and, with it, the draft item versions that it holds.

    Days that are given replace those of the draft. ``replaces`` is the number of the version that came into force after
    the draft was begun, of a caller who knows that its changes are taken back. The draft is measured first on the
    datasets that guard the list. Raises Conflict (``base_overtaken`` without that number; with the flipped cases, when
    the gate refuses), InvalidInput, Forbidden; nothing has changed then.
    """
    principal.require_hub(HubRight.MASTERS)
    _require_status(version, MasterStatus.DRAFT)
    require_second_person(principal, [version])
    _require_known_base(version, replaces)
    let_through(principal, checklist_candidate(version))
    with transaction.atomic():
        CheckList.objects.select_for_update().get(pk=version.checklist_id)  # no other version comes into force
        locked = CheckListVersion.objects.select_for_update().get(pk=version.pk)
        _require_status(locked, MasterStatus.DRAFT)
        _require_known_base(locked, replaces)
        items = item_versions_of(locked)
        if not items:
            raise InvalidInput(_("A version without entries can't be approved."), code="checklist_empty")
        drafts = [item for item in items if item.status == MasterStatus.DRAFT]
        require_second_person(principal, [locked, *drafts])
        _require_usable(items)
        locked.effective_from = effective_from or locked.effective_from
        locked.effective_to = effective_to or locked.effective_to
        if locked.effective_from and locked.effective_to and locked.effective_from > locked.effective_to:
            raise InvalidInput(_("A version can't end before it begins."), field="effective_to")
        _approve_items(principal, drafts)
        _stamp(principal, locked)
    version.refresh_from_db()


def put_into_checklist(*, principal: Principal, item: CheckItemVersion, code: str) -> CheckListVersion:
    """Give a draft of a check list that is the version in force with this draft of an item, new items at its end.

    A draft that is just that, as an earlier call left it, is given again. Nothing in it is new but the item, so those
    who wrote the item count as who wrote it, and the caller as its author. Raises NotFound for the check list.
    """
    principal.require_hub(HubRight.MASTERS)
    checklist = get_checklist(code)
    with transaction.atomic():
        CheckList.objects.select_for_update().get(pk=checklist.pk)
        current = version_in_force(checklist)
        before = item_versions_of(current) if current else []
        wanted = [item if each.item_id == item.item_id else each for each in before]
        if item not in wanted:
            wanted.append(item)
        drafts = checklist.versions.filter(status=MasterStatus.DRAFT, entries__item_version=item).order_by("-number")
        for draft in drafts:
            if item_versions_of(draft) == wanted:
                return draft
        made = draft_checklist(principal=principal, checklist=checklist, items=wanted, reason=item.reason)
        made.writer_ids = item.writer_ids
        made.save(update_fields=["writer_ids"])
        return made


def put_in_force_since(version: CheckListVersion) -> CheckListVersion | None:
    """The version in force that was approved after a draft of the same list was begun, and that it would replace.

    What that one changed, the draft takes back, unless it holds the same. None where there is no such version.
    """
    current = version_in_force(version.checklist)
    if version.status != MasterStatus.DRAFT or current is None or current.approved_at is None:
        return None
    is_later = current.number < version.number and current.approved_at > version.created_at
    return current if is_later else None


def drafts_in(version: CheckListVersion) -> list[CheckItemVersion | CheckListVersion]:
    """What approving a draft of a check list puts in force: the list, and the drafts of items that it holds."""
    return [version, *(item for item in item_versions_of(version) if item.status == MasterStatus.DRAFT)]


def retire_version(*, principal: Principal, version: CheckItemVersion | CheckListVersion) -> None:
    """Take an approved version out of use; results that point at it stay. Raises Conflict: see require_withdrawal."""
    principal.require_hub(HubRight.MASTERS)
    with transaction.atomic():
        locked = type(version)._default_manager.select_for_update(of=("self",)).get(pk=version.pk)
        _require_status(locked, MasterStatus.APPROVED)
        require_withdrawal(principal, locked)
        locked.status, locked.retired_at = MasterStatus.RETIRED, timezone.now()
        locked.save(update_fields=["status", "retired_at"])
        record_event(principal, "MASTER_RETIRE", _resource(locked))
    version.refresh_from_db()


def compare_versions(principal: Principal, code: str, *, number: int, base: int | None = None) -> MasterDiff:
    """What a version changes, field by field, against ``base``; without one, against the number before it."""
    version = get_checklist_version(principal, code, number)
    if base is not None:
        before: CheckListVersion | None = get_checklist_version(principal, code, base)
    else:
        before = version.checklist.versions.filter(number__lt=number).order_by("-number").first()
    old = [content_of(item) for item in item_versions_of(before)] if before else []
    new = [content_of(item) for item in item_versions_of(version)]
    return MasterDiff(before, diff_masters(old, new))


def beside(version: CheckItemVersion) -> list[ItemContent]:
    """The items next to this one in the check lists in force that hold it. For its lint."""
    lists = CheckList.objects.filter(versions__entries__item_version__item_id=version.item_id).distinct()
    masters = [master for checklist in lists if (master := version_in_force(checklist)) is not None]
    return [content_of(item) for master in masters for item in item_versions_of(master)]


def _next_number(version: CheckItemVersion | CheckListVersion) -> int:
    if isinstance(version, CheckItemVersion):
        CheckItem.objects.select_for_update().get(pk=version.item_id)
        return next_number(CheckItemVersion.objects.filter(item_id=version.item_id))
    CheckList.objects.select_for_update().get(pk=version.checklist_id)
    return next_number(CheckListVersion.objects.filter(checklist_id=version.checklist_id))


def _approve_items(principal: Principal, drafts: Iterable[CheckItemVersion]) -> None:
    for version in drafts:
        _stamp(principal, version)
        if version.category and version.item.category != version.category:
            CheckItem.objects.filter(pk=version.item_id).update(category=version.category)


def _stamp(principal: Principal, version: CheckItemVersion | CheckListVersion) -> None:
    version.status, version.approved_at = MasterStatus.APPROVED, timezone.now()
    version.approved_by_id = principal.user_id
    version.save()
    people = require_second_person(principal, [version])
    record_event(principal, "MASTER_PUBLISH", _resource(version), **people)


def _require_known_base(version: CheckListVersion, replaces: int | None) -> None:
    since = put_in_force_since(version)
    if since is None or since.number == replaces:
        return
    raise Conflict(
        _(
            "{since} came into force after {version} was begun. What it changed is taken back where {version} does not "
            "hold it. Compare the two; to approve it all the same, say that it replaces version {replaces}."
        ),
        code="base_overtaken",
        since=since,
        version=version,
        replaces=since.number,
    )


def _require_status(version: CheckItemVersion | CheckListVersion, wanted: MasterStatus) -> None:
    if version.status != wanted:
        raise Conflict(
            _("{version} is {state}; this needs it to be {wanted}."),
            code="master_state",
            version=version,
            state=version.get_status_display(),
            wanted=wanted.label,
        )


def _require_usable(items: Sequence[CheckItemVersion]) -> None:
    if retired := [str(item) for item in items if item.status == MasterStatus.RETIRED]:
        raise InvalidInput(_("These item versions are retired: {versions}"), versions=", ".join(retired))
    codes = [item.item.code for item in items]
    if READING_CODE in codes:
        raise InvalidInput(
            _("The item {given} is of no check list: what a model finds by reading a whole document belongs to it."),
            code="item_of_no_list",
            given=READING_CODE,
        )
    if doubled := sorted({code for code in codes if codes.count(code) > 1}):
        raise InvalidInput(_("These items stand in the list twice: {items}"), items=", ".join(doubled))
    _require_no_errors([remark for item in items for remark in lint_item(content_of(item))])


def _require_no_errors(remarks: Iterable[Remark]) -> None:
    errors = [remark for remark in remarks if remark.weight is Weight.ERROR]
    if errors:
        named = "; ".join(f"{each.item}: {shown(each.message)}" for each in errors[:REMARKS_NAMED])
        raise InvalidInput(_("It can't be approved yet: {remarks}"), code="master_lint_errors", remarks=named)


def _resource(version: CheckItemVersion | CheckListVersion) -> str:
    return f"{version._meta.model_name}:{version}"
