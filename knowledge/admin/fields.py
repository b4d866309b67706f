"""Fields of forms, and filters of lists that offer only what the person may see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from hub.access.principals import Principal, Scope
from hub.admin_site.pages import principal_of
from hub.core.languages import shown
from hub.core.patterns import PatternRefused, check_pattern
from knowledge.models import Collection, DocumentStatus, DocumentType
from knowledge.models.index import CHUNK_STRATEGIES
from knowledge.ontology.titles import HEADING_CUE
from knowledge.types.anonymising import KINDS
from knowledge.types.chunks import ChunkOptions, ChunkStrategy
from knowledge.types.notices import text_of

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


class LinesField(forms.CharField):
    """Turns lines into a list of distinct, non-empty texts; with ``are_patterns`` each must be a regular expression."""

    def __init__(self, *, label: str | StrPromise, are_patterns: bool = False) -> None:
        super().__init__(
            label=label,
            required=False,
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
            help_text=_("One regular expression per line.") if are_patterns else _("One per line."),
        )
        self.are_patterns = are_patterns

    def prepare_value(self, value: str | Iterable[str] | None) -> str:
        """Show the stored list as lines."""
        return value if isinstance(value, str) else "\n".join(value or ())

    def clean(self, value: str | None) -> list[str]:
        """Read the lines. :raises ValidationError: a pattern can't be compiled; it is named."""
        lines = [line.strip() for line in (value or "").splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        for line in found if self.are_patterns else ():
            self._check_pattern(line)
        return found

    def has_changed(self, initial: Iterable[str] | None, data: str | None) -> bool:
        return list(initial or ()) != [line.strip() for line in (data or "").splitlines() if line.strip()]

    @staticmethod
    def _check_pattern(line: str) -> None:
        try:
            check_pattern(line.removeprefix(HEADING_CUE), where="")
        except PatternRefused as refused:
            raise ValidationError(
                _("%(line)s can't be used as a regular expression: %(reason)s"),
                params={"line": line, "reason": shown(refused.reason)},
            ) from refused


def line_field(
    label: str | StrPromise, *, max_length: int = 200, required: bool = False, help_text: str | StrPromise = ""
) -> forms.CharField:
    """Return a field for a line of text."""
    return forms.CharField(
        label=label,
        max_length=max_length,
        required=required,
        widget=UnfoldAdminTextInputWidget,
        help_text=help_text,
    )


def type_names() -> dict[str, str]:
    """What document types are called, by code. One query."""
    return {one.code: str(one) for one in DocumentType.objects.all()}


def document_types_field() -> forms.MultipleChoiceField:
    """Return a field that chooses types of documents by name."""
    return forms.MultipleChoiceField(
        label=_("document types"),
        required=False,
        choices=lambda: type_names().items(),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )


def collection_choices(principal: Principal, scope: Scope = Scope.READ) -> list[tuple[str, str]]:
    """List the slugs and names of the collections that a person may use for ``scope``. One query."""
    return list(Collection.objects.visible_to(principal, scope).order_by("slug").values_list("slug", "name"))


def kind_choices() -> list[tuple[str, str]]:
    """Give the kinds of personal data that can be replaced at upload, with their names."""
    return [(kind, shown(text_of("personal_data", kind))) for kind in KINDS]


def replaced_in_words(replaced: dict[str, int] | None) -> str:
    """Say how much of each kind was replaced at upload; nothing when nothing was to be."""
    if replaced is None:
        return ""
    parts = [f"{shown(text_of('personal_data', kind))} {number}" for kind, number in replaced.items()]
    return ", ".join(parts) or str(_("nothing to replace was found"))


class ChunkingForm(forms.Form):
    """Strategy and sizes, all of them optional."""

    chunk_strategy = forms.ChoiceField(
        label=_("Chunking"),
        required=False,
        choices=[("", _("as the active set")), *CHUNK_STRATEGIES],
        widget=UnfoldAdminSelectWidget,
    )
    chunk_size = forms.IntegerField(
        label=_("Chunk size (tokens)"),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Empty: documents are cut as for the active set."),
    )
    chunk_overlap = forms.IntegerField(
        label=_("Overlap (tokens)"), required=False, min_value=0, widget=UnfoldAdminIntegerFieldWidget
    )

    def chunk_options(self) -> ChunkOptions | None:
        """Give what was asked for, with defaults for what was left out; None when nothing was asked for."""
        strategy, size, overlap = (self.cleaned_data[f"chunk_{name}"] for name in ("strategy", "size", "overlap"))
        if not strategy and not size:
            return None
        default = ChunkOptions()
        size = size or default.size
        return ChunkOptions(
            strategy=ChunkStrategy(strategy or default.strategy),
            size=size,
            overlap=min(default.overlap, size // 2) if overlap is None else overlap,
        )


class CollectionFilter(admin.SimpleListFilter):
    """By collection; ``lookup`` leads from the listed rows to the collection's slug."""

    title = _("collection")
    parameter_name = "collection"
    lookup = "collection__slug"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return collection_choices(principal_of(request))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.lookup: self.value()}) if self.value() else queryset


class ChunkCollectionFilter(CollectionFilter):
    lookup = "version__document__collection__slug"


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in DocumentStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the documents in the chosen state; a retired one is in no other."""
        if not self.value():
            return queryset
        if self.value() == DocumentStatus.RETIRED:
            return queryset.filter(retired_at__isnull=False)
        return queryset.filter(retired_at__isnull=True, latest_version__status=self.value())


class TypeFilter(admin.SimpleListFilter):
    title = _("document type")
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return list(type_names().items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(document_type_id=self.value()) if self.value() else queryset


class ContentFilter(admin.SimpleListFilter):
    title = _("contains")
    parameter_name = "contains"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [("table", str(_("table"))), ("figure", str(_("figure")))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "table":
            return queryset.filter(has_table=True)
        return queryset.filter(has_figure=True) if self.value() == "figure" else queryset
