"""What is done with check masters besides editing drafts: approve, retire, compare, copy, export, import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import HubRight
from hub.admin_site.asking import ask_first
from hub.admin_site.carried_file import carry_file, chosen_file
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import HubError
from hub.core.languages import shown
from review.admin.rule_names import named_rules
from review.curation import item_lint, master_files, master_versions
from review.masters.cells import to_cell
from review.masters.content import ItemChange
from review.masters.lint import MODEL
from review.masters.listing import get_checklist_version
from review.masters.table import CHOICES, MasterImport, label_of, title_of
from review.models import CheckItemVersion, CheckList, CheckListVersion

SALT = "review.master_import"
REPLACES = "replaces"
# What PostgreSQL takes for an integer has at most ten.
MAX_DIGITS = 9
KINDS = {"added": _("added"), "removed": _("removed"), "changed": _("changed"), "moved": _("moved")}
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def acting(
    model: type[CheckItemVersion | CheckListVersion], action: Callable[..., None]
) -> Callable[..., HttpResponseBase]:
    """Return the page that approves or retires a version of a check list or item, and goes back to it."""

    @require_POST
    def act(request: HttpRequest, pk: int) -> HttpResponseBase:
        version = get_object_or_404(model, pk=pk)
        with errors_as_messages(request):
            action(principal=principal_of(request), version=version)
            messages.success(request, f"{version}: {version.get_status_display()}")
        return _to(version)

    return act


@require_POST
def approve_checklist(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Approve a version of a check list, and go back to it; what it would take back is asked about first."""
    version = get_object_or_404(CheckListVersion.objects.select_related("checklist"), pk=pk)
    if asked := ask_about_later_version(request, version):
        return asked
    with errors_as_messages(request):
        master_versions.approve_checklist_version(
            principal=principal_of(request), version=version, replaces=replaced_by(request)
        )
        messages.success(request, f"{version}: {version.get_status_display()}")
    return _to(version)


def replaced_by(request: HttpRequest) -> int | None:
    """The number of the version that `ask_about_later_version` named, once it was answered."""
    return whole_number(request.POST.get(REPLACES, ""), digits=MAX_DIGITS)


def ask_about_later_version(request: HttpRequest, version: CheckListVersion) -> HttpResponseBase | None:
    """Return the page that asks whether a draft is to replace what came into force after it was begun."""
    since = master_versions.put_in_force_since(version)
    if since is None or not principal_of(request).may(HubRight.MASTERS):
        return None
    return ask_first(
        request,
        title=_("Approve {version}").format(version=version),
        consequence=_(
            "{since} came into force after {version} was begun. What it changed is taken back where {version} does not "
            "hold it."
        ).format(since=since, version=version),
        rows=[f"{since} → {version}"],
        button=_("Approve"),
        leave=reverse("admin:review_checklistversion_diff", args=[version.pk]) + f"?base={since.number}",
        said={REPLACES: str(since.number)},
    )


@require_POST
def lint_by_model(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Have a language model look at a check item; the item's page shows what it said."""
    version = get_object_or_404(CheckItemVersion.objects.select_related("item"), pk=pk)
    with errors_as_messages(request):
        report = item_lint.lint_item_version(principal_of(request), version, asks=True)
        for notice in report.notices:
            messages.warning(request, shown(notice))
        if not report.notices:
            count = sum(remark.decided_by == MODEL for remark in report.remarks)
            message = ngettext(
                "The language model made {number} remark.", "The language model made {number} remarks.", count
            )
            messages.success(request, message.format(number=count))
    return _to(version)


@require_POST
def copy(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Start a new version of a check list from the one in force."""
    checklist = get_object_or_404(CheckList, pk=pk)
    principal = principal_of(request)
    try:
        current = get_checklist_version(principal, checklist.code)
        made = master_versions.copy_checklist_version(principal=principal, version=current)
    except HubError as error:
        messages.error(request, str(error))
        return _to(checklist)
    return _to(made)


@require_GET
def export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download a version, the one in force by default, as a workbook or as CSV."""
    checklist = get_object_or_404(CheckList, pk=pk)
    as_csv = request.GET.get("format") == "csv"
    number = request.GET.get("version", "")
    try:
        content = master_files.export_checklist(
            principal_of(request), checklist.code, number=whole_number(number, digits=MAX_DIGITS), as_csv=as_csv
        )
    except HubError as error:
        messages.error(request, str(error))
        return _to(checklist)
    filename = f"{checklist.code}.{'csv' if as_csv else 'xlsx'}"
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type="text/csv; charset=utf-8" if as_csv else XLSX, headers=headers)


@require_GET
def diff(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what a version changes against another one of its list."""
    version = get_object_or_404(CheckListVersion.objects.select_related("checklist"), pk=pk)
    base = request.GET.get("base", "")
    try:
        found = master_versions.compare_versions(
            principal_of(request),
            version.checklist.code,
            number=version.number,
            base=whole_number(base, digits=MAX_DIGITS),
        )
    except HubError as error:
        raise Http404(str(error)) from error
    return render_page(
        request,
        "admin/review/master/diff.html",
        title=f"{version.checklist}: v{found.base.number if found.base else 0} → v{version.number}",
        version=version,
        base=found.base,
        others=version.checklist.versions.exclude(pk=version.pk).order_by("-number"),
        changes=_shown(found.changes),
    )


def import_page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what a file would change; with ``store`` it becomes a draft version."""
    checklist = get_object_or_404(CheckList, pk=pk)
    preview: MasterImport | None = None
    carried, error = "", ""
    if request.method == "POST":
        try:
            filename, content = chosen_file(request, salt=SALT)
            if "store" in request.POST:
                return _store(request, checklist, filename, content)
            preview = master_files.preview_import(
                principal=principal_of(request), code=checklist.code, filename=filename, content=content
            )
            carried = (
                carry_file(request, filename, content, salt=SALT) if preview.changes and not preview.problems else ""
            )
        except HubError as refused:
            error = str(refused)
    return render_page(
        request,
        "admin/review/master/import.html",
        title=_("Import a check list"),
        checklist=checklist,
        preview=preview,
        changes=_shown(preview.changes) if preview else [],
        carried=carried,
        error=error,
        reason=request.POST.get("reason", ""),
    )


def _to(row: Model) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse(f"admin:review_{row._meta.model_name}_change", args=[row.pk]))


def _store(request: HttpRequest, checklist: CheckList, filename: str, content: bytes) -> HttpResponseRedirect:
    made = master_files.import_checklist(
        principal=principal_of(request),
        code=checklist.code,
        filename=filename,
        content=content,
        reason=request.POST.get("reason", "").strip(),
        replaces=replaced_by(request),
    )
    messages.success(request, _("{version} is stored as a draft. Approve it when it is right.").format(version=made))
    return _to(made)


def _shown(changes: tuple[ItemChange, ...]) -> list[dict[str, Any]]:
    """The changes with the words of the page's language."""
    return [
        {
            "change": change,
            "kind": KINDS[change.kind],
            "fields": [
                (title_of(each.field), _value(each.field, each.old), _value(each.field, each.new))
                for each in change.fields
            ],
        }
        for change in changes
    ]


def _value(field: str, value: object) -> str:
    bare = field.removeprefix("criteria.")
    if bare in CHOICES:
        return label_of(bare, str(value)) if value else ""
    if bare == "rules" and isinstance(value, list):
        return "\n".join(map(str, named_rules(value)))
    return to_cell(bare, value)
