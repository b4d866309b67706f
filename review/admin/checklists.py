"""Check lists, their versions and entries, and what the admins of check lists and check items share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, ForeignKey, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.access.versions import PublicationStatus, refusal_of_publisher, refusal_of_withdrawal
from hub.admin_site.base import HubTabularInline, column, nobody
from hub.admin_site.pages import badge, is_staff, principal_of
from hub.core.languages import in_language
from hub.llm.providers.registry import is_configured
from knowledge.admin.curated import CuratedAdmin, CuratedRowsMixin, OrderedRowsMixin
from knowledge.admin.fields import document_types_field, type_names
from knowledge.models import Ontology
from review.admin.entry_rows import ChoiceAtHand, EntryRows
from review.admin.master_pages import acting, approve_checklist, copy, diff, export, import_page, lint_by_model
from review.curation.item_lint import LintReport, lint_checklist
from review.curation.master_versions import (
    approve_item_version,
    drafts_in,
    order_entries,
    put_in_force_since,
    retire_version,
    save_draft,
)
from review.models import CheckItem, CheckItemVersion, CheckList, CheckListEntry, CheckListVersion, MasterStatus

Master = CheckItem | CheckList
Version = CheckItemVersion | CheckListVersion


class MasterAdmin(CuratedAdmin):
    """Everyone reads masters, curators change them; nothing is deleted, since reviews point at it."""

    right = HubRight.MASTERS
    may_delete = nobody

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """The code is a master's name in programs and reports: it never changes."""
        return ("code",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Master, form: forms.ModelForm[Master], change: bool) -> None:
        super().save_model(request, obj, form, change)
        resource = f"{obj._meta.model_name}:{obj.code}"
        record_event(principal_of(request), "MASTER_CHANGE", resource)


@admin.display(description=_("state"))
def state_of(_admin: object, version: Version) -> SafeString:
    """Show a version's state as a badge."""
    return badge(version.status, version.get_status_display())


class VersionInline(HubTabularInline):
    """The versions of a master on its page, the newest first, each with a link to its own page."""

    extra = 0
    hide_title = True
    ordering = ("-number",)
    verbose_name_plural = _("versions")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    @admin.display(description=_("version"))
    def number_link(self, version: CheckItemVersion | CheckListVersion) -> SafeString:
        link = reverse(f"admin:review_{version._meta.model_name}_change", args=[version.pk])
        return format_html('<a class="hub-link" href="{}">v{}</a>', link, version.number)

    state = state_of


class VersionAdmin(CuratedAdmin):
    """Versions of a master: numbered and stamped by the hub, editable while they are drafts; each stays with it."""

    right = HubRight.MASTERS
    master: str
    lint: Callable[..., LintReport]
    """What is to be looked at in a version, given the caller and the version."""
    state = state_of

    may_delete = nobody

    def may_change(self, principal: Principal, obj: Model | None = None) -> bool:
        is_draft = getattr(obj, "status", MasterStatus.DRAFT) == MasterStatus.DRAFT
        return is_draft and principal.may(HubRight.MASTERS)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return (self.master, "number", "approved_at") if obj else ("number", "approved_at")

    def save_model(self, request: HttpRequest, obj: Version, form: forms.ModelForm[Version], change: bool) -> None:
        save_draft(principal=principal_of(request), version=obj)

    def facts_of(self, version: Any) -> dict[str, Any]:  # noqa: ANN401 (of the subclass' model)
        """What the page says of a version besides its lint, for the template."""
        return {}

    def approved_with(self, version: Any) -> list[Version]:  # noqa: ANN401 (of the subclass' model)
        """What approving a draft puts in force."""
        return [version]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show curators what the lint says beside the form, and who may approve a draft that they may not."""
        version, principal = self.get_object(request, object_id), principal_of(request)
        facts = self.facts_of(version) if version is not None else {}
        curates = principal.may(HubRight.MASTERS)
        remarks = self.lint(principal, version).remarks if curates and version is not None else ()
        may_ask = curates and self.master == "item" and is_configured()
        is_draft = version is not None and version.status == MasterStatus.DRAFT
        refused = refusal_of_publisher(principal, self.approved_with(version)) if curates and is_draft else None
        is_approved = version is not None and version.status == MasterStatus.APPROVED
        more = {
            **facts,
            "remarks": remarks,
            "may_curate": curates,
            "may_ask_model": may_ask,
            "publisher_refused": refused,
            "retirement_refused": refusal_of_withdrawal(principal, version) if curates and is_approved else None,
        }
        response: HttpResponseBase = super().change_view(
            request, object_id, form_url, {**(extra_context or {}), **more}
        )
        return response


def ontology_names() -> dict[str, str]:
    """What the published ontologies are called, by domain. One query."""
    published = Ontology.objects.filter(status=PublicationStatus.PUBLISHED).order_by("domain")
    return {one.domain: in_language(one.name_ja, one.name_en) for one in published}


class CheckListForm(forms.ModelForm[CheckList]):
    """Document types and the ontology are chosen by name; one that is not published any more stays as it is."""

    document_types = document_types_field()
    ontology_domain = forms.ChoiceField(label=_("ontology"), required=False, widget=UnfoldAdminSelectWidget)

    class Meta:
        model = CheckList
        fields = ("code", "name_ja", "name_en", "document_types", "ontology_domain")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        if "ontology_domain" in self.fields:
            kept = self.instance.ontology_domain
            choices = {"": "–", **({kept: kept} if kept else {}), **ontology_names()}
            self.fields["ontology_domain"].choices = choices.items()  # type: ignore[attr-defined]


class ListVersionInline(VersionInline):
    """The versions of a list."""

    model = CheckListVersion
    fields = readonly_fields = ("number_link", "state", "approved_at", "created_at")


def add_names(checklists: Iterable[CheckList]) -> None:
    """Put beside the codes of types and ontologies what they are called. Two queries."""
    types, ontologies = type_names(), ontology_names()
    for row in checklists:
        row.__dict__["type_names"] = [types.get(code, code) for code in row.document_types]
        row.__dict__["ontology_name"] = ontologies.get(row.ontology_domain, row.ontology_domain)


class NamedCheckLists(ChangeList):  # type: ignore[misc]  # Unfold has no types
    """The check lists, with the names of what they name by codes."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        add_names(self.result_list)


@admin.register(CheckList)
class CheckListAdmin(MasterAdmin):
    form = CheckListForm
    list_display = ("code", "name_ja", "name_en", "types_text", "ontology_text", "number_in_force")
    search_fields = ("code", "name_ja", "name_en")
    inlines = (ListVersionInline,)
    change_form_outer_after_template = "admin/review/master/checklist.html"
    pages = {
        "review_checklist_import": ("<int:pk>/import/", import_page),
        "review_checklist_export": ("<int:pk>/export/", export),
        "review_checklist_copy": ("<int:pk>/copy/", copy),
        "review_checklistversion_diff": ("version/<int:pk>/diff/", diff),
        "review_checklistversion_approve": ("version/<int:pk>/approve/", approve_checklist),
        "review_checklistversion_retire": ("version/<int:pk>/retire/", acting(CheckListVersion, retire_version)),
        "review_checkitemversion_approve": ("item/<int:pk>/approve/", acting(CheckItemVersion, approve_item_version)),
        "review_checkitemversion_retire": ("item/<int:pk>/retire/", acting(CheckItemVersion, retire_version)),
        "review_checkitemversion_lint": ("item/<int:pk>/lint/", lint_by_model),
    }

    def get_queryset(self, request: HttpRequest) -> QuerySet[CheckList]:
        own = CheckListVersion.objects.in_force(timezone.localdate()).filter(checklist=OuterRef("pk"))
        return CheckList.objects.annotate(in_force=Subquery(own.values("number"))).order_by("code")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # noqa: ANN401
        return NamedCheckLists

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> CheckList | None:
        found: CheckList | None = super().get_object(request, object_id, from_field)
        add_names([found] if found else ())
        return found

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """Fields to choose in, and for who may not change them the names of what was chosen."""
        may_choose = self.has_change_permission(request, obj) or (obj is None and self.has_add_permission(request))
        chosen = ("document_types", "ontology_domain") if may_choose else ("types_text", "ontology_text")
        return ("code", "name_ja", "name_en", *chosen)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "types_text", "ontology_text")

    @admin.display(description=_("document types"))
    def types_text(self, checklist: CheckList) -> str:
        return "、".join(checklist.__dict__["type_names"])

    @admin.display(description=_("ontology"))
    def ontology_text(self, checklist: CheckList) -> str:
        return str(checklist.__dict__["ontology_name"])

    @admin.display(description=_("version in force"))
    def number_in_force(self, checklist: CheckList) -> str:
        number = checklist.__dict__["in_force"]
        return f"v{number}" if number else "–"


class EntryInline(OrderedRowsMixin, CuratedRowsMixin, HubTabularInline):
    model = CheckListEntry
    formset = EntryRows
    order_by = "position"
    fields = ("position", "item_version", "name")
    readonly_fields = ("name",)
    autocomplete_fields = ("item_version",)
    ordering = ("position",)
    extra = 0
    hide_title = True
    verbose_name = _("check item")
    verbose_name_plural = _("entries")

    def formfield_for_foreignkey(
        self,
        db_field: ForeignKey[Any, Any],
        request: HttpRequest,
        **kwargs: Any,  # noqa: ANN401 (Django's signature)
    ) -> forms.ModelChoiceField[Any] | None:
        """Name the field in the page's language, and the check items of stored rows without asking for each."""
        kwargs.setdefault("widget", ChoiceAtHand(db_field, self.admin_site))
        field: forms.ModelChoiceField[Any] | None = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None:
            field.label = _("item version")
        return field

    def get_queryset(self, request: HttpRequest) -> QuerySet[CheckListEntry]:
        rows: QuerySet[CheckListEntry] = super().get_queryset(request)
        return rows.select_related("item_version__item")

    @admin.display(description=_("name"))
    def name(self, entry: CheckListEntry) -> str:
        return entry.item_version.name if entry.item_version_id else "-"


@admin.register(CheckListVersion)
class CheckListVersionAdmin(VersionAdmin):
    master = "checklist"

    @staticmethod
    def lint(principal: Principal, version: CheckListVersion) -> LintReport:
        return lint_checklist(principal, version.checklist.code, number=version.number)

    list_display = ("checklist", "number", "state", "entries_count", "created_at", "approved_at")
    list_filter = ("checklist", "status")
    list_select_related = ("checklist",)
    search_fields = ("checklist__code",)
    autocomplete_fields = ("checklist",)
    fields = ("checklist", "number", "reason", ("effective_from", "effective_to"), "approved_at")
    change_form_outer_after_template = "admin/review/master/list_version.html"
    inlines = (EntryInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[CheckListVersion]:
        rows = CheckListVersion.objects.select_related("checklist").annotate(entries_number=Count("entries"))
        return rows.order_by("checklist__code", "-number")

    entries_count = column(_("entries"), "entries_number")

    def facts_of(self, version: CheckListVersion) -> dict[str, Any]:
        return {"since": put_in_force_since(version)}

    def approved_with(self, version: CheckListVersion) -> list[Version]:
        return drafts_in(version)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:  # noqa: ANN401
        """Number the entries in the order that the form gives, and store them."""
        kept = [
            one.instance for one in formset.forms if one not in formset.deleted_forms and one.instance.item_version_id
        ]
        order_entries(principal=principal_of(request), version=form.instance, entries=kept)
        super().save_formset(request, form, formset, change)
