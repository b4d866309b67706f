"""What an admin page may offer, name and accept of other models: only what the person may see.

A model says who may see what in ``visible_to`` of its default queryset; of one that has none, people see what its own
admin lists for them. Everything else is for superusers. Model admins and inlines get this from
``VisibleRelationsMixin``, so a new one need not think of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin import FieldListFilter
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.admin.utils import NestedObjects, get_model_from_relation, reverse_field_path
from django.db import router
from django.db.models import BooleanField, DateField, Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.widgets import UnfoldForeignKeyRawIdWidget

from hub.admin_site.pages import principal_of


def visible_rows(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    """Give the rows of a model that the signed-in person may see, for admin pages of other models. No query yet."""
    rows: QuerySet[Any] = model._default_manager.all()
    if hasattr(rows, "visible_to"):
        visible: QuerySet[Any] = rows.visible_to(principal_of(request))
        return visible
    try:
        own = admin.site.get_model_admin(model)
    except NotRegistered:
        return rows if principal_of(request).is_superuser else rows.none()
    return own.get_queryset(request) if own.has_view_permission(request) else rows.none()


class VisibleRawIdWidget(UnfoldForeignKeyRawIdWidget):  # type: ignore[misc]  # Unfold has no types
    """A field for a primary key; it names the row beside the key only where the form would accept it."""

    choices: Any = None  # set by the form field, whose queryset is in it

    def label_and_url_for_value(self, value: Any) -> tuple[str, str]:  # noqa: ANN401 (Django's signature)
        """Give label and link of a row that the form accepts, and nothing for all others."""
        key = self.rel.get_related_field().name
        try:
            known = self.choices.queryset.filter(**{key: value}).exists()
        except (TypeError, ValueError, OverflowError):
            return "", ""
        found: tuple[str, str] = super().label_and_url_for_value(value) if known else ("", "")
        return found


class VisibleRelationsMixin:
    """For model admins and inlines: relations offer and accept visible rows, and so does the list of rows itself."""

    admin_site: Any
    raw_id_fields: Any

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        if not hasattr(rows, "visible_to"):
            return rows
        visible: QuerySet[Any] = rows.visible_to(principal_of(request))
        return visible

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> QuerySet[Any]:  # noqa: ANN401
        """Give what a relation may point at, in the order of the other model's admin."""
        ordered: QuerySet[Any] | None = super().get_field_queryset(db, db_field, request)  # type: ignore[misc]
        visible = visible_rows(request, db_field.remote_field.model)
        return visible.order_by(*ordered.query.order_by) if ordered is not None else visible

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        if db_field.name in self.raw_id_fields and "widget" not in kwargs:
            kwargs["widget"] = VisibleRawIdWidget(db_field.remote_field, self.admin_site, using=kwargs.get("using"))
        return super().formfield_for_foreignkey(db_field, request, **_narrowed(db_field, request, kwargs))  # type: ignore[misc]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        return super().formfield_for_manytomany(db_field, request, **_narrowed(db_field, request, kwargs))  # type: ignore[misc]


def _narrowed(db_field: Any, request: HttpRequest, kwargs: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    offered = kwargs.get("queryset")
    if offered is None:
        return kwargs
    visible = visible_rows(request, db_field.remote_field.model)
    return {**kwargs, "queryset": offered.filter(pk__in=visible.order_by().values("pk"))}


class VisibleRelatedFilter(admin.RelatedFieldListFilter):
    """A list filter by a relation that offers what the person may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[Any]:  # noqa: ANN401
        ordering = self.field_admin_ordering(field, request, model_admin)
        visible = visible_rows(request, get_model_from_relation(field)).order_by().values("pk")
        choices: list[Any] = field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": visible}
        )
        return choices


class VisibleValuesFilter(admin.AllValuesFieldListFilter):
    """A list filter by values of a field, also one of another model, that offers those of visible rows."""

    def __init__(
        self,
        field: Any,  # noqa: ANN401 (Django's signature, here and below)
        request: HttpRequest,
        params: Any,  # noqa: ANN401
        model: Any,  # noqa: ANN401
        model_admin: Any,  # noqa: ANN401
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        parent, _path = reverse_field_path(model, field_path)
        if parent is not model:
            rows = visible_rows(request, parent).order_by(field.name)
            self.lookup_choices = rows.distinct().values_list(field.name, flat=True)


def _has_free_values(field: Any) -> bool:  # noqa: ANN401 (Django's field)
    # as Django chooses: fields with choices, booleans and dates have filters that list no rows' values
    return not (field.remote_field or field.choices or isinstance(field, BooleanField | DateField))


FieldListFilter.register(lambda field: bool(field.remote_field), VisibleRelatedFilter, take_priority=True)
FieldListFilter.register(_has_free_values, VisibleValuesFilter, take_priority=True)


def is_looked_up_in_own_rows(model: type[Model], lookup: str) -> bool:
    """Whether a lookup of a list's address starts at a column of the listed rows themselves.

    Relations that point at the rows can lead to hidden ones: a count or a value of theirs could be guessed.
    """
    first = lookup.split("__", 1)[0]
    own = {"pk"} | {name for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    return first in own


def visible_deletions(
    objs: Sequence[Any] | QuerySet[Any], request: HttpRequest
) -> tuple[list[SafeString | str], dict[str, int], set[str], list[SafeString | str]]:
    """Name what goes with ``objs``, as Django's page asks for it, without naming what the person may not see.

    Gives the lines, how many of each kind, the kinds that the person may not delete, and what forbids it.
    """
    rows = list(objs)
    if not rows:
        return [], {}, set(), []
    collector = NestedObjects(using=router.db_for_write(rows[0]._meta.model), origin=objs)
    collector.collect(rows)
    related = [one for found in collector.model_objs.values() for one in found if one not in rows]
    shown = [*rows, *_only_visible(related, request)]
    counted: dict[str, int] = defaultdict(int)
    for one in shown:
        counted[str(one._meta.verbose_name_plural)] += 1
    refused = {str(one._meta.verbose_name) for one in shown if not _may_delete(one, request)}
    held = [_line(one) for one in _only_visible(collector.protected, request)]
    return [_line(one) for one in shown], dict(counted), refused, held


def _only_visible(rows: Iterable[Model], request: HttpRequest) -> list[Model]:
    by_model: dict[type[Model], list[Model]] = defaultdict(list)
    for row in rows:
        by_model[type(row)].append(row)
    kept: list[Model] = []
    for model, found in by_model.items():
        visible = visible_rows(request, model).filter(pk__in=[row.pk for row in found])
        keys = set(visible.order_by().values_list("pk", flat=True))
        kept.extend(sorted((row for row in found if row.pk in keys), key=lambda row: str(row.pk)))
    return kept


def _may_delete(row: Model, request: HttpRequest) -> bool:
    model = type(row)
    return not admin.site.is_registered(model) or admin.site.get_model_admin(model).has_delete_permission(request, row)


def _line(row: Model) -> SafeString | str:
    kind = capfirst(str(row._meta.verbose_name))
    try:
        link = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    except NoReverseMatch:
        return f"{kind}: {row}"
    return format_html('{}: <a href="{}">{}</a>', kind, link, row)
