"""Base classes of the model admins: who may do what is asked of our principals, not of Django's permissions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin, StackedInline, TabularInline

from hub.access.principals import Principal
from hub.admin_site.callers import is_staff, principal_of
from hub.admin_site.given_values import GivenValuesMixin
from hub.admin_site.history import without_related_names
from hub.admin_site.visible import VisibleRelationsMixin, is_looked_up_in_own_rows, visible_deletions
from hub.core.errors import HubError


class HubTabularInline(GivenValuesMixin, VisibleRelationsMixin, TabularInline):  # type: ignore[misc]  # Unfold has no types
    """Rows of another model on a page, in a table; relations offer what the person may see."""


class HubStackedInline(GivenValuesMixin, VisibleRelationsMixin, StackedInline):  # type: ignore[misc]  # Unfold has no types
    """Rows of another model on a page, one below the other; relations offer what the person may see."""


class HubModelAdmin(GivenValuesMixin, VisibleRelationsMixin, ModelAdmin):  # type: ignore[misc]  # Unfold has no types
    """A model admin for superusers; subclasses open parts of it by overriding ``may_…``.

    ``obj`` is None where Django asks about the model as a whole. Rows, relations, filters and the page that asks
    before deleting name only what the person may see, see ``hub.admin_site.visible``.
    """

    compressed_fields = True
    list_fullwidth = True

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser

    def may_add(self, principal: Principal) -> bool:
        return principal.is_superuser

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return principal.is_superuser

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the model in menus to those who may look at it."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask ``may_view``, or ``may_change``, which includes it."""
        return self._ask(request, lambda who: self.may_view(who, obj) or self.may_change(who, obj))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Ask ``may_add``."""
        return self._ask(request, self.may_add)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask ``may_change``."""
        return self._ask(request, lambda who: self.may_change(who, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Ask ``may_delete``."""
        return self._ask(request, lambda who: self.may_delete(who, obj))

    @staticmethod
    def _ask(request: HttpRequest, question: Callable[[Principal], bool]) -> bool:
        # the login page asks as well, before anybody is signed in
        return is_staff(request) and isinstance(request.user, User) and question(principal_of(request))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Let an address look rows up by their own columns, and by what the list's filters name."""
        if not super().lookup_allowed(lookup, value, request):
            return False
        filters = self.get_list_filter(request)
        if any(isinstance(one, type) and getattr(one, "parameter_name", None) == lookup for one in filters):
            return True
        named = [one if isinstance(one, str) else one[0] for one in filters if _names_field(one)]
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
            without_related_names(response)
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        """Show the form, or save it; what a service refuses is told on the form's page, and nothing is saved."""
        try:
            response: HttpResponseBase = super().changeform_view(request, object_id, form_url, extra_context)
        except HubError as error:
            return _told(request, error)
        return response

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Ask, then delete; what a service refuses is told on the page that asks, and nothing is deleted."""
        try:
            response: HttpResponseBase = super().delete_view(request, object_id, extra_context)
        except HubError as error:
            return _told(request, error)
        return response


def _names_field(listed: object) -> bool:
    return isinstance(listed, str | tuple)


def _told(request: HttpRequest, error: HubError) -> HttpResponseRedirect:
    messages.error(request, str(error))
    return HttpResponseRedirect(request.get_full_path())


class ReadOnlyMixin:
    """Rows that only the hub itself writes: nobody adds, changes or deletes them here."""

    def may_add(self, principal: Principal) -> bool:
        return False

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return False

    def may_delete(self, principal: Principal, obj: Model | None) -> bool:
        return False
