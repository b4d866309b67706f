"""Check items and what each says in its versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from hub.admin_site.base import column
from hub.admin_site.pages import badge
from hub.core.languages import shown
from review.admin.checklists import MasterAdmin, VersionAdmin, VersionInline
from review.admin.rule_names import named_rules
from review.curation.item_lint import lint_item_version
from review.masters.cells import CellError, from_cell, read_threshold, to_cell
from review.masters.content import CRITERIA_FIELDS, LIST_CRITERIA, TEXT_CRITERIA
from review.masters.lint import Weight, lint_item
from review.masters.listing import content_of
from review.models import CheckItem, CheckItemVersion

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


def criteria_cells(criteria: Mapping[str, Any]) -> dict[str, str]:
    """The criteria as the texts of the form's fields."""
    return {name: to_cell(name, criteria.get(name)) for name in CRITERIA_FIELDS}


def _lines(label: StrPromise, hint: StrPromise | str = "", rows: int = 3) -> forms.CharField:
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows})
    return forms.CharField(label=label, required=False, widget=widget, help_text=hint)


class ItemVersionForm(forms.ModelForm[CheckItemVersion]):
    rules = _lines(_("rules"), _('One per line: rule_id {"parameter": value}'), rows=5)
    required_elements = _lines(_("required elements"), _("One per line: name [section title] = regular expression"))
    patterns = _lines(_("patterns"), _("One per line: 必須: regular expression, or 禁止: regular expression"))
    terms = _lines(_("term pairs"), _("One per line: word to avoid → word to use"))
    prompt = _lines(_("prompt"))
    expected_format = _lines(_("expected format"))
    rubric = _lines(_("rubric"))
    threshold = forms.CharField(label=_("threshold"), required=False, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = CheckItemVersion
        fields = (
            "item",
            "reason",
            "category",
            "name_ja",
            "name_en",
            "description_ja",
            "description_en",
            "guideline_reference",
            "check_type",
            "strategy",
            "priority",
        )

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 (Django's signature)
        super().__init__(*args, **more)
        if self.instance.criteria:
            self.initial = {**self.initial, **criteria_cells(self.instance.criteria)}

    def clean(self) -> dict[str, Any]:
        """Read the lines. :raises ValidationError: one of them can't be read, or names no rule."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        criteria = {name: value for name, value in self.instance.criteria.items() if name not in CRITERIA_FIELDS}
        for name in CRITERIA_FIELDS:
            try:
                found = self._read(name, values.get(name) or "")
            except CellError as error:
                self.add_error(name, ValidationError(shown(error.text)))
                continue
            criteria |= {name: found} if found not in ("", [], None) else {}
        self.instance.criteria = criteria
        return values

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # not in the stubs
        if self.errors or not self.instance.item_id:
            return
        for remark in lint_item(content_of(self.instance)):
            field = remark.field.removeprefix("criteria.")
            # A draft without any way of judging may be kept; it can't be approved.
            if remark.weight is Weight.ERROR and remark.code != "untestable" and field in self.fields:
                self.add_error(field, ValidationError(shown(remark.message)))

    @staticmethod
    def _read(name: str, text: str) -> object:
        if name == "threshold":
            return read_threshold(text)
        return from_cell(name, text) if name in LIST_CRITERIA else text.replace("\r\n", "\n").strip()


class ItemVersionInline(VersionInline):
    """The versions of an item."""

    model = CheckItemVersion
    fields = readonly_fields = ("number_link", "name", "state", "priority", "approved_at")

    name = column(_("name"), "name")


@admin.register(CheckItem)
class CheckItemAdmin(MasterAdmin):
    list_display = ("code", "category", "name", "newest", "priority")
    list_filter = ("category",)
    search_fields = ("code", "category", "versions__name_ja", "versions__name_en")
    fields = ("code", "category")
    inlines = (ItemVersionInline,)
    change_form_outer_after_template = "admin/review/checkitem/new_version.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[CheckItem]:
        return CheckItem.objects.prefetch_related("versions").order_by("code")

    def _newest(self, item: CheckItem) -> CheckItemVersion | None:
        versions = list(item.versions.all())  # prefetched
        return max(versions, key=lambda version: version.number, default=None)

    @admin.display(description=_("name"))
    def name(self, item: CheckItem) -> str:
        newest = self._newest(item)
        return newest.name if newest else "-"

    @admin.display(description=_("newest version"))
    def newest(self, item: CheckItem) -> SafeString | str:
        newest = self._newest(item)
        if newest is None:
            return "-"
        return badge(newest.status, f"v{newest.number} {newest.get_status_display()}")

    @admin.display(description=_("priority"))
    def priority(self, item: CheckItem) -> SafeString | str:
        newest = self._newest(item)
        return badge(newest.priority, newest.get_priority_display()) if newest else "-"


def _criterion(name: str) -> Callable[[admin.ModelAdmin[CheckItemVersion], CheckItemVersion], SafeString | str]:
    """Show a criterion as the form does, where a version is only read: the form's own fields are no model's."""

    @admin.display(description=ItemVersionForm.base_fields[name].label or name)
    def shown(_admin: admin.ModelAdmin[CheckItemVersion], version: CheckItemVersion) -> SafeString | str:
        cell = criteria_cells(version.criteria)[name]
        return format_html('<span class="hub-wrap">{}</span>', cell) if cell else "-"

    return shown


@admin.display(description=ItemVersionForm.base_fields["rules"].label)
def _rules(_admin: admin.ModelAdmin[CheckItemVersion], version: CheckItemVersion) -> SafeString | str:
    """Show rules where a version is only read: by the names that the workbench has, with their parameters."""
    lines = [(one.id, one.title, one.parameters) for one in named_rules(version.criteria.get("rules", ()))]
    shown = format_html_join("", '<li><span title="{}">{}</span> <span class="hub-second">{}</span></li>', lines)
    return format_html('<ul class="hub-list">{}</ul>', shown) if lines else "-"


@admin.register(CheckItemVersion)
class CheckItemVersionAdmin(VersionAdmin):
    master = "item"
    lint = staticmethod(lint_item_version)
    form = ItemVersionForm
    rules = _rules
    required_elements, patterns, terms = (_criterion(name) for name in LIST_CRITERIA if name != "rules")
    prompt, expected_format, rubric = map(_criterion, TEXT_CRITERIA)
    threshold = _criterion("threshold")
    list_display = ("item", "number", "name", "state", "check_type", "priority", "approved_at")
    list_filter = ("status", "check_type", "priority")
    list_select_related = ("item",)
    search_fields = ("item__code", "name_ja", "name_en")
    autocomplete_fields = ("item",)
    ordering = ("item__code", "-number")
    change_form_outer_after_template = "admin/review/master/item_version.html"
    fieldsets = (
        (None, {"fields": (("item", "number"), ("reason", "approved_at"), "category", ("name_ja", "name_en"))}),
        (_("Content"), {"fields": (("description_ja", "description_en"), "guideline_reference")}),
        (_("Judging"), {"fields": (("check_type", "strategy", "priority"),)}),
        (_("Judged by rules"), {"fields": ("rules", "required_elements", "patterns", "terms")}),
        (_("Judged by a language model"), {"fields": ("prompt", "expected_format", "rubric", "threshold")}),
    )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Start a new version from the newest one of the item that the address names."""
        initial = dict(super().get_changeform_initial_data(request))
        item = initial.get("item", "")
        newest = CheckItemVersion.objects.filter(item_id=item).order_by("-number").first() if item.isdigit() else None
        if newest is None:
            return initial
        values = {name: getattr(newest, name) for name in ItemVersionForm.Meta.fields}
        return {**values, **criteria_cells(newest.criteria), "item": newest.item_id, "reason": ""}

    name = column(_("name"), "name")
