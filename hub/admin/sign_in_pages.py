"""Pages about one's own sign-in: proving again who one is, the second factor, and the sessions."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from hub.access import second_factor
from hub.access.people import may_set_password
from hub.access.provider_models import ProviderAccount
from hub.access.sessions import confirm_now, end_sessions, sessions_of
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import admin_page, errors_as_messages, for_everybody, principal_of, render_page
from hub.admin_site.site import check_local_proof
from hub.core.errors import InvalidInput

CODE = {"autocomplete": "one-time-code", "inputmode": "text", "spellcheck": "false"}


class ConfirmForm(forms.Form):
    """The password again and, where there is an authenticator, its code."""

    password = forms.CharField(label=gettext_lazy("Password"), widget=UnfoldAdminPasswordWidget)
    code = forms.CharField(
        label=gettext_lazy("Code of the authenticator, or a recovery code"),
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs=CODE),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.request = request
        if not second_factor.has_second_factor(cast(User, request.user)):
            del self.fields["code"]

    def clean(self) -> dict[str, Any]:
        """:raises ValidationError: something is wrong, or too much was; said as at a sign-in."""
        given = self.cleaned_data
        if "password" not in given:
            raise ValidationError(_("Enter your password."), code="required")
        check_local_proof(self.request, cast(User, self.request.user), given["password"], given.get("code", ""))
        return given


@admin_page("confirm/", name="hub_confirm")
@for_everybody
@sensitive_post_parameters("password", "code")
def confirm(request: HttpRequest) -> HttpResponseBase:
    """Ask who is there, and lead back: by the password and code of a local account, or by the provider."""
    onwards = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(onwards, allowed_hosts=None, require_https=False):
        onwards = reverse("home")
    account = ProviderAccount.objects.filter(user=cast(User, request.user)).first()
    known = {one.id: one for one in settings.CONFIG.hub_oidc_providers}
    if account is not None and account.provider in known:
        query = urlencode({"again": "1", "next": onwards})
        url = f"{reverse('sign-in', args=[account.provider])}?{query}"
        return render_page(
            request,
            "admin/hub/confirm.html",
            title=_("Confirm who you are"),
            provider=known[account.provider].name,
            url=url,
        )
    form = ConfirmForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        request.session.cycle_key()  # who copied the session before is not confirmed by this
        confirm_now(request)
        return HttpResponseRedirect(onwards)
    return render_page(request, "admin/hub/confirm.html", title=_("Confirm who you are"), form=form)


@admin_page("second-factor/", name="hub_second_factor")
@for_everybody
@sensitive_post_parameters("code", "password")
def set_up(request: HttpRequest) -> HttpResponseBase:
    """Set up an authenticator, or remove it; recovery codes are shown in the answer to its first code, once.

    Beginning takes the password, and removing it the code besides: who only has the session can do neither. A key is
    shown once, in the answer to the beginning. After a wrong code it is in the person's authenticator already.
    """
    user, title = cast(User, request.user), _("Second factor")
    if not user.has_usable_password():
        return render_page(request, "admin/hub/second_factor.html", title=title, is_local=False)
    facts: dict[str, Any] = {"is_local": True}
    if request.method == "POST":
        try:
            facts |= _change_factor(request, user)
        except (InvalidInput, ValidationError) as error:
            messages.error(request, " ".join(getattr(error, "messages", [str(error)])))
    facts |= {"is_set": second_factor.has_second_factor(user), "left": second_factor.recovery_codes_left(user)}
    facts["is_waiting"] = "secret" not in facts and not facts["is_set"] and second_factor.is_waiting(user)
    answer = render_page(request, "admin/hub/second_factor.html", title=title, **facts)
    answer["Cache-Control"] = "no-store"
    return answer


def _change_factor(request: HttpRequest, user: User) -> dict[str, Any]:
    """Do what the form asks for; gives what the page shows of it.

    :raises ValidationError: the password, or the code with it, is wrong. :raises InvalidInput: the first code is.
    """
    given = request.POST
    if "begin" in given:
        check_local_proof(request, user, given.get("password", ""), "")
        secret = second_factor.begin(user)
        return {"secret": secret, "picture": second_factor.picture_of(second_factor.address_of(user, secret))}
    if "remove" in given:
        check_local_proof(request, user, given.get("password", ""), given.get("code", "")[:20])
        second_factor.remove(principal_of(request), user)
        messages.success(request, _("The authenticator is removed."))
        return {}
    principal = principal_of(request)
    codes = second_factor.confirm(principal, user, given.get("code", "")[:20])
    # Sessions that began by the password alone are not as safe as the account is now.
    end_sessions(principal, user, but_key=request.session.session_key)
    return {"codes": codes}


@admin_page("sessions/", name="hub_sessions")
@for_everybody
def sessions(request: HttpRequest) -> HttpResponseBase:
    """List one's sessions and end them; with ``?user=`` those of whose password one may set."""
    principal, user = principal_of(request), cast(User, request.user)
    asked_for = whole_number(request.GET.get("user"))
    if asked_for is not None:
        user = get_object_or_404(User, pk=asked_for)
        if user.pk != principal.user_id and not may_set_password(principal, user):
            raise Http404  # as for nobody: whom there is, is not for everybody
    own_key = request.session.session_key
    if request.method == "POST":
        with errors_as_messages(request):
            count = end_sessions(principal, user, handle=request.POST.get("session", ""), but_key=own_key)
            messages.success(request, _("Sessions ended: {count}.").format(count=count))
        return HttpResponseRedirect(request.get_full_path())
    found = sessions_of(principal, user, own_key=own_key)
    return render_page(request, "admin/hub/sessions.html", title=_("Sessions"), person=user, sessions=found)
