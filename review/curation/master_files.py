"""Check masters as files: out for editing, in again with a preview of the difference."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, LimitExceeded
from hub.rest.errors import InvalidFields
from review.curation.master_versions import approve_checklist_version, draft_checklist, draft_item
from review.masters.content import ItemContent, diff_masters, field_changes
from review.masters.files import read_file, write_csv, write_workbook
from review.masters.listing import content_of, get_checklist, get_checklist_version, item_versions_of
from review.masters.table import MasterImport, RowProblem
from review.models import CheckItemVersion, CheckList, CheckListVersion, MasterStatus

MAX_FILE_BYTES = 10_000_000
PROBLEMS_NAMED = 20


def export_checklist(principal: Principal, code: str, *, number: int | None = None, as_csv: bool = False) -> bytes:
    """Write a version (that in force by default) as a workbook or as CSV. Raises NotFound."""
    version = get_checklist_version(principal, code, number)
    items = [content_of(item) for item in item_versions_of(version)]
    facts = {"version": version.number, "format": "csv" if as_csv else "xlsx"}
    record_event(principal, "EXPORT", f"checklist:{code}", **facts)
    if as_csv:
        return write_csv(items)
    return write_workbook(items, code=code, number=version.number, title=str(version.checklist))


def preview_import(*, principal: Principal, code: str, filename: str, content: bytes) -> MasterImport:
    """Read a file and say what importing it would change, and what is wrong in which row. Stores nothing."""
    principal.require_hub(HubRight.MASTERS)
    if len(content) > MAX_FILE_BYTES:
        raise LimitExceeded(_("A check list's file may have {limit} bytes at most."), limit=MAX_FILE_BYTES)
    checklist = get_checklist(code)
    # the newest version that is not retired: a draft, too, since the file may have been written from it
    base = checklist.versions.exclude(status=MasterStatus.RETIRED).order_by("-number").first()
    before = [content_of(item) for item in item_versions_of(base)] if base else []
    table = read_file(filename, content, {item.code: item for item in before})
    stale = base is not None and table.written_from is not None and table.written_from < base.number
    return MasterImport(
        checklist=checklist,
        base=base,
        items=table.items,
        changes=() if table.problems else diff_masters(before, table.items),
        problems=table.problems,
        newer=base.number if base and stale else None,
    )


def import_checklist(
    *,
    principal: Principal,
    code: str,
    filename: str,
    content: bytes,
    publish: bool = False,
    reason: str = "",
    replaces: int | None = None,
) -> CheckListVersion:
    """Store a file as the next draft version of a check list, or approve it at once with ``publish``.

    ``replaces`` is the number of the version that was made after the one the file was written from, of a caller who
    knows that its changes are taken back. All or nothing: raises InvalidFields naming each wrong row, InvalidInput when
    nothing differs, Conflict (``base_overtaken``) without that number. When approving is refused the draft stays, to be
    approved later.
    """
    with transaction.atomic():
        CheckList.objects.select_for_update().filter(code=code).first()
        preview = preview_import(principal=principal, code=code, filename=filename, content=content)
        if preview.problems:
            raise _refusal(preview.problems)
        if not preview.changes:
            raise InvalidInput(_("The file changes nothing."), code="nothing_changed")
        if preview.newer is not None and preview.newer != replaces:
            raise _overtaken(preview.newer)
        stored = {version.item.code: version for version in item_versions_of(preview.base)} if preview.base else {}
        items = [_version_for(principal, content, stored, reason) for content in preview.items]
        made = draft_checklist(principal=principal, checklist=preview.checklist, items=items, reason=reason)
        record_event(
            principal,
            "MASTER_IMPORT",
            f"checklistversion:{made}",
            filename=filename[:200],
            changes=len(preview.changes),
        )
    if publish:
        approve_checklist_version(principal=principal, version=made, replaces=replaces)
    return made


def _version_for(
    principal: Principal, content: ItemContent, stored: dict[str, CheckItemVersion], reason: str
) -> CheckItemVersion:
    """The version that says what the row says: the stored one when nothing differs, else a new draft."""
    version = stored.get(content.code)
    if version is not None and not field_changes(content_of(version), content):
        return version
    return draft_item(principal=principal, content=content, reason=reason)


def _overtaken(newer: int) -> Conflict:
    return Conflict(
        _(
            "The file was written from an older version than v{replaces}. Importing it takes back what v{replaces} "
            "changed. Make the changes in an export of v{replaces}; to import it all the same, say that it replaces "
            "version {replaces}."
        ),
        code="base_overtaken",
        replaces=newer,
    )


def _refusal(problems: tuple[RowProblem, ...]) -> InvalidFields:
    errors = [
        {"field": f"row {each.row}" + (f", {each.column}" if each.column else ""), "message": each.message}
        for each in problems
    ]
    fields = "; ".join(f"{each['field']}: {each['message']}" for each in errors[:PROBLEMS_NAMED])
    return InvalidFields(_("Nothing was imported. Wrong rows: {fields}"), errors=errors, fields=fields)
