"""What home pages are made with: who may open them, errors as pages, what each of them shows around its content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from hub.admin_site.confirming import asked_first
from hub.admin_site.pages import View, is_fetched, is_signed_in, is_staff, way_back
from hub.core.bounds import unstorable
from hub.core.texts import UNSTORABLE
from hub.home.errors import form_only
from hub.home.policy import POLICY

PART = "home/part.html"  # the frame of what a script fetches: none
MENU = (
    *((_("Home"), "home"), (_("Documents"), "documents"), (_("Reviews"), "reviews")),
    *((_("Questions"), "questions"), (_("Guide"), "guide")),
)


def home_page(view: View) -> View:
    """Open a view to everybody who is signed in, with a second factor where it is a duty."""
    return never_cache(require_safe(_guarded(view)))


def _guarded(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **named: Any) -> HttpResponseBase:  # noqa: ANN401
        if not is_signed_in(request):
            return redirect_to_login(way_back(request, otherwise=reverse("home")), reverse("admin:login"))
        if asked := asked_first(request, onwards=way_back(request, otherwise=reverse("home"))):
            return asked
        _check_characters(request, named)
        return view(request, **named)

    return guarded


def _check_characters(request: HttpRequest, named: Mapping[str, Any]) -> None:
    """Refuse what PostgreSQL can't even compare with a name. :raises InvalidInput: a value has a NUL character."""
    fields = [*request.GET.lists(), *request.POST.lists(), *((name, [str(value)]) for name, value in named.items())]
    for field, values in fields:
        if any(UNSTORABLE.search(value) for value in values):
            raise unstorable(field)


def home_action(view: View) -> View:
    """As `home_page`, for what a form of a page does. It is guarded by Django's check of where the form is from."""
    taken = _guarded(view)

    @wraps(view)
    def act(request: HttpRequest, **named: Any) -> HttpResponseBase:  # noqa: ANN401
        return taken(request, **named) if request.method == "POST" else form_only(request)

    return never_cache(act)


def render_home(
    request: HttpRequest, template: str, *, title: str | Promise, status: int = 200, **context: object
) -> TemplateResponse:
    """Render a page with menu and account, or what a script fetches of it without them."""
    everything = {**frame_of(request), "title": title, **context}
    everything["fetched"] = is_fetched(request)
    everything["frame"] = PART if is_fetched(request) else "home/base.html"
    response = TemplateResponse(request, template, everything, status=status)
    response["Content-Security-Policy"] = POLICY
    return response


def frame_of(request: HttpRequest) -> dict[str, Any]:
    """Give what the frame around each page shows. Without a query, but for who is signed in."""
    return {
        "menu": [(title, reverse(name), _place_in_menu(request.path, reverse(name))) for title, name in MENU],
        "signed_in": is_signed_in(request),
        "runs_hub": is_staff(request),
        "here": request.get_full_path(),
    }


def _place_in_menu(path: str, entry: str) -> str:
    """The value of ``aria-current`` of a menu's entry: "page", "true" for a page below it, or empty."""
    if path == entry:
        return "page"
    return "true" if entry != reverse("home") and path.startswith(entry) else ""
