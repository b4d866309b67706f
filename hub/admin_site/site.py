"""The admin site: Unfold's, with pages of our own beside those of the models."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.apps import apps
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _
from unfold.sites import UnfoldAdminSite

from hub.admin_site.pages import registered_pages
from hub.admin_site.sign_in_forms import OwnPasswordForm, SignInForm


class HubAdminSite(UnfoldAdminSite):  # type: ignore[misc]  # Unfold has no types
    """Mounts the pages that apps registered; ``/admin/search/`` is the search page, not Unfold's menu search."""

    index_title = _("Overview")
    login_template = "admin/hub/login.html"
    login_form = SignInForm

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        # it loads every row that would go, chunks included; the apps have delete actions of their own
        self.disable_action("delete_selected")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """List apps and models as Django does, but only when a page looks at them: our menu does not.

        Django puts the list on every page, and asks each model for four permissions to make it.
        """
        listed = super().get_app_list
        return cast("list[Any]", SimpleLazyObject(lambda: listed(request, app_label)))

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Let people change their own password, as Django does, with our form."""
        request.current_app = self.name
        view = PasswordChangeView.as_view(
            form_class=partial(OwnPasswordForm, request=request),
            success_url=reverse("admin:password_change_done", current_app=self.name),
            template_name=self.password_change_template or PasswordChangeView.template_name,
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        return view(request)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        """Complete as Django does; a field that leads here from elsewhere has nothing to complete, and is refused."""
        if request.method == "GET" and not _names_own_field(request):  # other methods are refused by the view
            raise PermissionDenied
        response: HttpResponseBase = super().autocomplete_view(request)
        return response

    def get_urls(self) -> list[URLPattern]:
        """Put our pages first and move Unfold's menu search (named ``search``) out of their way."""
        pages = [path(page.route, self.admin_view(page.view), name=page.name) for page in registered_pages()]
        menu_search = path("menu-search/", self.admin_view(self.search), name="search")
        rest = [pattern for pattern in super().get_urls() if getattr(pattern, "name", None) != "search"]
        return [*pages, menu_search, *rest]


def _names_own_field(request: HttpRequest) -> bool:
    """Whether the address names a column of a model, and not what leads to it from elsewhere."""
    try:
        model = apps.get_model(request.GET.get("app_label", ""), request.GET.get("model_name", ""))
        return bool(model._meta.get_field(request.GET.get("field_name", "")).concrete)
    except (LookupError, ValueError, FieldDoesNotExist):
        return False
