"""The admin site: Unfold's, with pages of our own beside those of the models, and forms that check passwords.

Those forms stand behind the brake on guessing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME, authenticate
from django.contrib.auth.forms import AuthenticationForm as BaseAuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import FieldDoesNotExist, PermissionDenied, ValidationError
from django.forms import CharField
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import Resolver404, URLPattern, path, resolve, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminTextInputWidget

from hub.access.provider_sessions import CREDENTIAL
from hub.access.second_factor import accepts, has_second_factor
from hub.access.services import principal_for_user, record_event
from hub.access.sign_in import locked_until, only_sign_in_as, wait_message
from hub.admin_site.commands import find_commands
from hub.admin_site.confirming import asked_first
from hub.admin_site.pages import for_everybody, is_for_everybody, is_signed_in, registered_pages, remembered, way_back


class SignInForm(AuthenticationForm):  # type: ignore[misc]  # Unfold has no types
    """Unfold's form, with the code of those who have an authenticator; it says how long to wait where it refuses."""

    code = CharField(
        label=_("Code of the authenticator, where you have set one up"),
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "spellcheck": "false"}),
    )

    def confirm_login_allowed(self, user: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Let everybody in whose account is active; what pages they find is asked on each."""
        BaseAuthenticationForm.confirm_login_allowed(self, user)

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("The user name, the password or the code is wrong. Upper and lower case matter."),
    }

    def clean(self) -> dict[str, Any]:
        """:raises ValidationError: the sign-in is refused; with code ``locked`` whatever the password was."""
        username = str(self.cleaned_data.get("username", ""))
        with only_sign_in_as(username):
            try:
                cleaned: dict[str, Any] = super().clean()
                user = self.get_user()
                if user is None or _has_right_code(self.request, user, self.cleaned_data.get("code", "")):
                    return cleaned
                self.user_cache = None
                refused = self.get_invalid_login_error()
            except ValidationError as error:
                refused = error  # what was counted is kept
        _check_lock(self.request, username)
        raise refused


class OwnPasswordForm(AdminOwnPasswordChangeForm):  # type: ignore[misc]  # Unfold has no types
    """Unfold's form, with the old password checked as at a sign-in: a session left open is no way to guess it."""

    def __init__(self, user: User, *args: object, request: HttpRequest, **options: object) -> None:
        super().__init__(user, *args, **options)
        self.request = request

    def clean_old_password(self) -> str:
        """:raises ValidationError: it is wrong, or too many wrong ones were given."""
        given: str = self.cleaned_data["old_password"]
        username = self.user.get_username()
        with only_sign_in_as(username):
            is_right = authenticate(self.request, username=username, password=given) is not None
        if not is_right:
            _check_lock(self.request, username)
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return given

    def save(self, commit: bool = True) -> User:
        """Store the new password, and say so in the audit trail."""
        user: User = super().save(commit)
        record_event(principal_for_user(user), "ACCOUNT_CHANGE", f"user:{user.pk}", changed=["password"])
        return user


def check_local_proof(request: HttpRequest, user: User, password: str, code: str) -> None:
    """Check the password, and the code of who has an authenticator, as at a sign-in.

    :raises ValidationError: one of them is wrong, or too many were; which, is not said.
    """
    username = user.get_username()
    with only_sign_in_as(username):
        is_right = authenticate(request, username=username, password=password) is not None
        is_right = is_right and _has_right_code(request, user, code)
    if not is_right:
        _check_lock(request, username)
        raise ValidationError(_("The password or the code is wrong."), code="wrong")


def _has_right_code(request: HttpRequest, user: User, code: str) -> bool:
    """Whether the second factor is right, or there is none; a wrong one is counted as a wrong password is."""
    if not has_second_factor(user) or accepts(user, code):
        return True
    user_login_failed.send(sender=__name__, credentials={"username": user.get_username()}, request=request)
    return False


def _check_lock(request: HttpRequest, username: str) -> None:
    until = locked_until(request, username)
    if until is not None:
        raise ValidationError(wait_message(until), code="locked")


def begin_sign_in(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Lead to an identity provider; where there is none of this id, to the sign-in page."""
    if not settings.CONFIG.hub_oidc_providers:
        raise Http404
    from hub.admin_site.provider_sign_in import start  # nobody else needs what it loads

    return start(request, provider_id)


def end_sign_in(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Take what an identity provider sends somebody back with."""
    if not settings.CONFIG.hub_oidc_providers:
        raise Http404
    from hub.admin_site.provider_sign_in import come_back  # nobody else needs what it loads

    return come_back(request, provider_id)


class HubAdminSite(UnfoldAdminSite):  # type: ignore[misc]  # Unfold has no types
    """Mounts the pages that apps registered; ``/admin/search/`` is the search page, not Unfold's menu search."""

    index_title = _("Overview")
    login_template = "admin/hub/login.html"
    login_form = SignInForm

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        # it loads every row that would go, chunks included, and asks no service: rows are deleted one by one, on their
        # own pages, and documents by an action of their own
        self.disable_action("delete_selected")

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
        """Guard a page as Django does, and ask who is there before what can't be undone.

        Who is signed in and no staff finds the pages of their own account, and is refused the others.
        """
        guarded = super().admin_view(view, cacheable)
        unguarded = csrf_protect(never_cache(view))
        is_open = is_for_everybody(view)

        @wraps(guarded)
        def ask_first(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            signed_in = is_signed_in(request)
            if signed_in and not is_open and not self.has_permission(request):
                raise PermissionDenied(_("This page is for those who run the hub."))
            onwards = way_back(request, otherwise=request.get_full_path())
            asked = asked_first(request, onwards=onwards) if signed_in else None
            page = unguarded if signed_in and is_open else guarded
            response: HttpResponseBase = asked or page(request, *args, **kwargs)
            return response

        return ask_first

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """List the menu as Unfold does, once in a request: the page's menu, its part of the guide and the way to it."""
        listed = super().get_sidebar_list
        return remembered(request, "menu", lambda: cast("list[dict[str, Any]]", listed(request)))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """List apps and models as Django does, but only when a page looks at them: our menu does not.

        Django puts the list on every page, and asks each model for four permissions to make it.
        """
        listed = super().get_app_list
        return cast("list[Any]", SimpleLazyObject(lambda: listed(request, app_label)))

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Give what every page shows; no menu to who is no staff and finds their own account here."""
        context: dict[str, Any] = super().each_context(request)
        return context if self.has_permission(request) else {**context, "is_nav_sidebar_enabled": False}

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Offer the identity providers beside the form for local accounts; lead to the home page without ``next``."""
        if request.method == "GET" and is_signed_in(request):
            return HttpResponseRedirect(reverse("home"))
        onwards = urlencode({"next": request.GET["next"]}) if "next" in request.GET else ""
        offered = [
            (provider.name, f"{reverse('sign-in', args=[provider.id])}?{onwards}")
            for provider in settings.CONFIG.hub_oidc_providers
        ]
        context = {"providers": offered, **(extra_context or {})}
        if REDIRECT_FIELD_NAME not in request.GET | request.POST:
            context[REDIRECT_FIELD_NAME] = reverse("home")
        response: HttpResponseBase = super().login(request, context)
        if response.status_code == HTTPStatus.FOUND and not self.has_permission(request):
            response.headers["Location"] = _for_no_staff(response.headers["Location"])
        return response

    @for_everybody
    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Sign out; who came by an identity provider is led on to it, so that they are signed out there, too."""
        key = request.session.get(CREDENTIAL) if request.method == "POST" else None
        signed_out: HttpResponseBase = super().logout(request, extra_context)
        if key is None or not settings.CONFIG.hub_oidc_providers:
            return signed_out
        from hub.access.providers.sign_in import sign_out  # nobody else needs what it loads

        name, url = sign_out(int(key))
        if not url:
            return signed_out
        # not a redirect: the policy of pages allows forms to lead nowhere but here
        context = {**self.each_context(request), "title": _("Signing out"), "provider": name, "url": url}
        context["has_permission"] = False
        return TemplateResponse(request, "admin/hub/signing_out.html", context)

    @for_everybody
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

    @for_everybody
    def password_change_done(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Say that the password is changed."""
        response: HttpResponseBase = super().password_change_done(request, extra_context)
        return response

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Answer Ctrl-K. Unfold's own keeps what it found for five minutes, whatever one may see by then."""
        found = find_commands(request, request.GET.get("s", "")) if request.method == "GET" else []
        return TemplateResponse(request, "unfold/helpers/command_results.html", {"results": found})

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        """Complete as Django does; a field that leads here from elsewhere has nothing to complete, and is refused."""
        if request.method == "GET" and not _names_own_field(request):  # other methods are refused by the view
            raise PermissionDenied
        response: HttpResponseBase = super().autocomplete_view(request)
        return response

    def get_urls(self) -> list[URLPattern]:
        pages = [path(page.route, self.admin_view(page.view), name=page.name) for page in registered_pages()]
        menu_search = path("menu-search/", self.admin_view(self.search), name="search")
        rest = [pattern for pattern in super().get_urls() if getattr(pattern, "name", None) != "search"]
        return [*pages, menu_search, *rest]


def _for_no_staff(onwards: str) -> str:
    """Lead who is no staff home instead of to a page of the admin that would refuse them."""
    try:
        match = resolve(urlsplit(onwards).path)
    except Resolver404:
        return onwards
    is_open = "admin" not in match.namespaces or is_for_everybody(match.func)
    return onwards if is_open else reverse("home")


def _names_own_field(request: HttpRequest) -> bool:
    """Whether the address names a column of a model, and not what leads to it from elsewhere."""
    try:
        model = apps.get_model(request.GET.get("app_label", ""), request.GET.get("model_name", ""))
        return bool(model._meta.get_field(request.GET.get("field_name", "")).concrete)
    except (LookupError, ValueError, FieldDoesNotExist):
        return False
