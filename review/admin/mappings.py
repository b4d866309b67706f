"""Guideline mappings and suspect marks in the admin: curators change them through the services."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.admin_site.base import HubModelAdmin, column, everybody, holders, nobody
from hub.admin_site.pages import badge, principal_of
from knowledge.admin.curated import CuratedAdmin
from review import mappings
from review.models import GuidelineMapping, SuspectMark


@admin.register(GuidelineMapping)
class GuidelineMappingAdmin(CuratedAdmin):
    right = HubRight.MASTERS
    list_display = ("article_code", "check_item", "relation", "rationale_text", "state")
    list_filter = ("relation",)
    list_select_related = ("check_item",)
    search_fields = ("article_code", "check_item__code", "rationale_ja")
    autocomplete_fields = ("check_item",)
    fields = ("article_code", "check_item", "relation", "rationale_ja", "rationale_en")

    may_delete = holders

    def get_queryset(self, request: HttpRequest) -> QuerySet[GuidelineMapping]:
        marks = SuspectMark.objects.filter(
            check_item=OuterRef("check_item"), article_code=OuterRef("article_code"), cleared_at__isnull=True
        )
        return GuidelineMapping.objects.annotate(is_suspect=Exists(marks)).order_by("article_code", "check_item__code")

    def get_readonly_fields(self, request: HttpRequest, obj: GuidelineMapping | None = None) -> tuple[str, ...]:
        """What is mapped to what never changes: a wrong mapping is deleted."""
        return ("article_code", "check_item") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: GuidelineMapping, form: forms.ModelForm[GuidelineMapping], change: bool
    ) -> None:
        saved = mappings.save_mapping(
            principal=principal_of(request),
            article=obj.article_code,
            check_item=obj.check_item.code,
            relation=obj.relation,
            rationale_ja=obj.rationale_ja,
            rationale_en=obj.rationale_en,
        )
        obj.pk = saved.pk

    def delete_model(self, request: HttpRequest, obj: GuidelineMapping) -> None:
        mappings.delete_mapping(
            principal=principal_of(request), article=obj.article_code, check_item=obj.check_item.code
        )

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[GuidelineMapping]) -> None:
        for row in queryset.select_related("check_item"):
            self.delete_model(request, row)

    @admin.display(description=_("rationale"))
    def rationale_text(self, row: GuidelineMapping) -> str:
        return row.rationale or "-"

    @admin.display(description=_("state"))
    def state(self, row: GuidelineMapping) -> SafeString | str:
        return badge("warning", _("suspect")) if row.__dict__["is_suspect"] else "-"


class OpenFilter(admin.SimpleListFilter):
    """Open marks unless all, or the cleared ones, are asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("open", str(_("open"))), ("cleared", str(_("cleared")))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SuspectMark]) -> QuerySet[SuspectMark]:
        if self.value() is None:
            return queryset
        return queryset.filter(cleared_at__isnull=self.value() == "open")


class ClearForm(forms.ModelForm[SuspectMark]):
    """Only what was found is written by hand; without it nothing is cleared."""

    class Meta:
        model = SuspectMark
        fields = ("cleared_reason",)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if "cleared_reason" in self.fields:
            self.fields["cleared_reason"].required = True


@admin.register(SuspectMark)
class SuspectMarkAdmin(HubModelAdmin):
    """Open marks are cleared by a curator with a word on what was found."""

    right = HubRight.MASTERS
    form = ClearForm
    list_display = ("check_item", "article_code", "edition", "reason_text", "state", "created_at")
    list_filter = (OpenFilter,)
    list_select_related = ("check_item", "edition__guideline")
    search_fields = ("article_code", "check_item__code")
    readonly_fields = (
        "check_item",
        "article_code",
        "edition",
        "reason_text",
        "created_at",
        "cleared_at",
        "cleared_by",
    )
    fields = (*readonly_fields, "cleared_reason")

    may_view = everybody
    may_add = nobody

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        is_open = not isinstance(obj, SuspectMark) or obj.cleared_at is None
        return is_open and principal.may(HubRight.MASTERS)

    may_delete = nobody

    def save_model(
        self, request: HttpRequest, obj: SuspectMark, form: forms.ModelForm[SuspectMark], change: bool
    ) -> None:
        mappings.clear_suspect(principal=principal_of(request), mark_id=obj.pk, reason=obj.cleared_reason)
        obj.refresh_from_db()

    reason_text = column(_("reason"), "reason")

    @admin.display(description=_("state"))
    def state(self, mark: SuspectMark) -> SafeString:
        return badge("ok", _("cleared")) if mark.cleared_at else badge("warning", _("suspect"))
