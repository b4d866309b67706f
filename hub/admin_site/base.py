"""Base classes of the model admins: who may do what is asked of our principals, not of Django's permissions.

Their form fields say what is wrong with a value that nobody should send, where Django's own end in an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import JSONField, Model, QuerySet, TextField
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.defaultfilters import linebreaksbr
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin, StackedInline, TabularInline

from hub.access.principals import HubRight, Principal
from hub.admin_site.overtaken import OvertakenMixin
from hub.admin_site.pages import is_staff, principal_of
from hub.admin_site.refused import RefusedMixin
from hub.admin_site.visible import VisibleRelationsMixin, is_looked_up_in_own_rows, visible_deletions
from hub.core.bounds import JsonLimits, WithinJsonLimits
from hub.core.errors import HubError
from hub.core.strict_json import read_json

FORM_JSON = JsonLimits(size_bytes=256 * 1024, entries=5000)
"""For JSON that curators write, whose model says nothing narrower."""


class StrictDecoder(json.JSONDecoder):
    """Reads JSON as every door does; forms know one error only."""

    def decode(self, s: str, *_more: Any) -> Any:  # noqa: ANN401 (any JSON value)
        """Read a JSON text. Raises json.JSONDecodeError."""
        try:
            return read_json(s)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from error


class KeyChoiceField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """A choice of one row; what can be no key of it is shown as no choice beside the error."""

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 (Django's signature)
        """Give the key that is shown, "" for what can be none."""
        prepared = super().prepare_value(value)
        return prepared if _can_be_key(self, prepared) else ""


class KeyChoicesField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """A choice of several rows; what can be no key of one is left out beside the error."""

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 (Django's signature)
        """Give the keys that are shown."""
        prepared = super().prepare_value(value)
        return [key for key in prepared if _can_be_key(self, key)] if isinstance(prepared, list) else prepared

    def clean(self, value: Any) -> Any:  # noqa: ANN401 (Django's signature)
        """Give the rows. Django leaves out here what is not shown; a key that can be none is an error."""
        for key in value if isinstance(value, list | tuple) else ():
            if not _can_be_key(self, key):
                raise ValidationError(self.error_messages["invalid_pk_value"], "invalid_pk_value", {"pk": key})
        return super().clean(value)


def _can_be_key(choice: Any, value: object) -> bool:  # noqa: ANN401 (a field of either kind)
    """Whether a value, or an empty one, can be the key of a row that a field offers."""
    if value in choice.empty_values:
        return True
    options = choice.queryset.model._meta
    key: Any = options.get_field(choice.to_field_name) if choice.to_field_name else options.pk
    try:
        key.run_validators(key.to_python(value))
    except ValidationError:
        return False
    return "\x00" not in str(value)


class GivenValuesMixin:
    """For model admins and inlines: relations and JSON are read by the fields above."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Read JSON strictly and within limits."""
        if not isinstance(db_field, JSONField):
            return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        field = super().formfield_for_dbfield(db_field, request, **{"decoder": StrictDecoder, **kwargs})  # type: ignore[misc]
        if field is not None:
            field.validators.append(WithinJsonLimits(size_bytes=FORM_JSON.size_bytes, entries=FORM_JSON.entries))
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        return super().formfield_for_foreignkey(db_field, request, **{"form_class": KeyChoiceField, **kwargs})  # type: ignore[misc]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        return super().formfield_for_manytomany(db_field, request, **{"form_class": KeyChoicesField, **kwargs})  # type: ignore[misc]


def everybody(_admin: object, principal: Principal, obj: Model | None = None) -> bool:
    """As a right of a model admin: all who have signed in; where rows have readers, the queryset holds only theirs."""
    return True


def holders(model_admin: HubModelAdmin, principal: Principal, obj: Model | None = None) -> bool:
    """As a right of a model admin: who holds the right of the hub that its pages ask for."""
    return model_admin.is_held_by(principal)


def nobody(_admin: object, principal: Principal, obj: Model | None = None) -> bool:
    """As a right of a model admin: what is not done in its pages, or has buttons of its own."""
    return False


def column(label: Any, attribute: str, *, ordering: str | None = None) -> Callable[[object, Any], Any]:  # noqa: ANN401
    """A column of a list that shows an attribute of its rows under a label."""

    @admin.display(description=label, ordering=ordering)
    def show(_admin: object, row: Any) -> Any:  # noqa: ANN401 (whatever the attribute is)
        return getattr(row, attribute)

    return show


UNNAMED = "…"


def _unnamed(entry: LogEntry) -> LogEntry:
    """Leave the names of other rows out of a history's line: they may be people, or hidden from who reads it."""
    try:
        parts: Any = json.loads(entry.change_message or "[]")
    except json.JSONDecodeError:
        return entry  # a text of an older version, without names of other rows
    for part in parts if isinstance(parts, list) else ():
        for change in part.values():
            if isinstance(change, dict) and "object" in change:
                change["object"] = UNNAMED
    entry.change_message = json.dumps(parts)
    return entry


class HubTabularInline(GivenValuesMixin, VisibleRelationsMixin, TabularInline):  # type: ignore[misc]  # Unfold has no types
    """Rows of another model on a page, in a table; relations offer what the person may see."""

    def get_formset(self, request: HttpRequest, obj: Model | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Name each field for screen readers: a row's fields have no label but the head of their column."""
        formset = super().get_formset(request, obj, **kwargs)
        for field in formset.form.base_fields.values():
            field.widget.attrs.setdefault("aria-label", field.label)
        return formset


class HubStackedInline(GivenValuesMixin, VisibleRelationsMixin, StackedInline):  # type: ignore[misc]  # Unfold has no types
    """Rows of another model on a page, one below the other; relations offer what the person may see."""


class HubModelAdmin(RefusedMixin, OvertakenMixin, GivenValuesMixin, VisibleRelationsMixin, ModelAdmin):  # type: ignore[misc]  # Unfold has no types
    """A model admin for those who hold ``right``, without one for superusers.

    Subclasses open or close parts of it by overriding ``may_…``; only superusers delete unless they say otherwise.

    ``obj`` is None where Django asks about the model as a whole. Rows, relations, filters and the page that asks
    before deleting name only what the person may see, see ``hub.admin_site.visible``.
    """

    right: ClassVar[HubRight | None] = None
    compressed_fields = True
    list_fullwidth = True
    warn_unsaved_form = True
    fixed_fields: tuple[str, ...] = ()
    """What of a row is given when it is added and stays as it is."""
    pages: Mapping[str, tuple[str, Callable[..., HttpResponseBase]]] = {}
    """Route and view of each page beside Django's own, by the name of its address; for people who may sign in here."""

    @cached_property
    def readonly_preprocess_fields(self) -> Mapping[str, Callable[[SafeString], SafeString]]:
        """What Unfold does to fields that are only read: long texts keep their lines."""
        return {field.name: linebreaksbr for field in self.opts.fields if isinstance(field, TextField)}

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:  # noqa: ANN401
        return (*self.fixed_fields, *self.readonly_fields) if obj else tuple(self.readonly_fields)

    def is_held_by(self, principal: Principal) -> bool:
        """Return whether the person holds the right of the hub that these pages ask for."""
        return principal.is_superuser if self.right is None else principal.may(self.right)

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return self.is_held_by(principal)

    def may_add(self, principal: Principal) -> bool:
        return self.is_held_by(principal)

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return self.is_held_by(principal)

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        own = [path(route, guarded(view), name=name) for name, (route, view) in self.pages.items()]
        return [*own, *super().get_urls()]

    def not_found(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Answer for a row that is not there, or that the person may not see: the front page, with a message."""
        response: HttpResponseBase = self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        return response

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask ``may_view``, or ``may_change``, which includes it."""
        return self._ask(request, lambda who: self.may_view(who, obj) or self.may_change(who, obj))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._ask(request, self.may_add)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._ask(request, lambda who: self.may_change(who, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._ask(request, lambda who: self.may_delete(who, obj))

    @staticmethod
    def _ask(request: HttpRequest, question: Callable[[Principal], bool]) -> bool:
        # the login page asks as well, before anybody is signed in
        return is_staff(request) and isinstance(request.user, User) and question(principal_of(request))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Let an address look rows up by their own columns, and by what the list's filters name; by no pattern."""
        if lookup.endswith(("__regex", "__iregex")):
            return False
        if not super().lookup_allowed(lookup, value, request):
            return False
        filters = self.get_list_filter(request)
        if any(isinstance(one, type) and getattr(one, "parameter_name", None) == lookup for one in filters):
            return True
        named = [one if isinstance(one, str) else one[0] for one in filters if isinstance(one, str | tuple)]
        filtered = any(lookup == name or lookup.startswith(f"{name}__") for name in named)
        return filtered or is_looked_up_in_own_rows(self.model, lookup)

    def get_deleted_objects(
        self, objs: Sequence[Any] | QuerySet[Any], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name what goes with the rows, of other rows only those that the person may see."""
        return visible_deletions(objs, request)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show what was changed here; the names of other rows that changed with it are for superusers."""
        response: HttpResponseBase = super().history_view(request, object_id, extra_context)
        if isinstance(response, TemplateResponse) and not principal_of(request).is_superuser:
            page = (response.context_data or {}).get("action_list")
            if page is not None:
                page.object_list = [_unnamed(entry) for entry in page.object_list]
        return response

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Ask, then delete; what a service refuses is said on the page that asks, and nothing is deleted."""
        try:
            response: HttpResponseBase = super().delete_view(request, object_id, extra_context)
        except HubError as error:
            messages.error(request, str(error))
            return HttpResponseRedirect(request.get_full_path())
        return response


class ReadOnlyMixin:
    """Rows that only the hub itself writes: nobody adds, changes or deletes them here."""

    def may_add(self, principal: Principal) -> bool:
        return False

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return False

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return False
