"""Roles that end: who gave or handed them on, until when and why, those that ended, and a button that ends one now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models.enums import ChoicesType
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from hub.access.models import Grant
from hub.access.people import delegate_hub_role, end_hub_role, give_hub_role, limited_hub_roles
from hub.access.principals import HubRole, Role
from hub.admin_site.asking import ask_first
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import admin_page, errors_as_messages, principal_of, render_page
from hub.core.errors import Forbidden, HubError, NotFound
from knowledge.grants import Grantee, delegate_role, end_role, find_holder, grant_role, grantee_of, list_grants

MOST_ENDED = 200


class TimedGrantForm(forms.Form):
    """Who gets which role, until when and why. ``hand_on``: a role of one's own, for as long as one has it."""

    user = forms.CharField(
        label=gettext_lazy("User name"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget
    )
    group = forms.CharField(
        label=gettext_lazy("or a group"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget
    )
    role = forms.ChoiceField(label=gettext_lazy("role"), widget=UnfoldAdminSelectWidget)
    until = forms.DateTimeField(
        label=gettext_lazy("until"),
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local", "class": "hub-input"}),
    )
    reason = forms.CharField(label=gettext_lazy("reason"), max_length=200, widget=UnfoldAdminTextInputWidget)
    hand_on = forms.BooleanField(
        label=gettext_lazy("Hand on a role of mine"),
        required=False,
        help_text=gettext_lazy("It then counts only as long as you have the role yourself. To a person alone."),
    )

    def __init__(self, roles: ChoicesType, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = roles.choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Find the person or the group. Raises ValidationError."""
        given = self.cleaned_data
        if given.get("hand_on") and given.get("group"):
            raise forms.ValidationError(_("A role is handed on to a person, and not to a group."))
        try:
            given["holder"] = find_holder(Grantee(user=given.get("user", ""), group=given.get("group", "")))
        except HubError as error:
            raise forms.ValidationError(str(error)) from error
        return given


@admin_page("rights/collections/<slug:slug>/", name="hub_collection_grants")
@require_http_methods(["GET", "HEAD", "POST"])
def collection_grants_page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The roles in a collection that end; given, handed on and ended by who administers it."""
    principal = principal_of(request)
    try:
        rows = [row for row in list_grants(principal, slug) if row.until is not None]
    except (Forbidden, NotFound) as error:
        raise Http404(str(error)) from error

    def give(given: dict[str, Any]) -> None:
        told = {"principal": principal, "slug": slug, "role": given["role"], "until": given["until"]}
        if given["hand_on"]:
            delegate_role(to=given["user"], reason=given["reason"], **told)
        else:
            grant_role(to=Grantee(user=given["user"], group=given["group"]), reason=given["reason"], **told)

    def end(grant_id: int) -> None:
        row = next((row for row in rows if row.pk == grant_id), None)
        if row is None:
            raise NotFound(_("There is no such grant."), code="grant_not_found")
        end_role(principal=principal, slug=slug, to=grantee_of(row), role=row.role)

    title = _("Roles in {slug} that end").format(slug=slug)
    return _answer(request, title=title, roles=Role, rows=rows, give=give, end=end)


@admin_page("rights/hub-roles/", name="hub_role_grants")
@require_http_methods(["GET", "HEAD", "POST"])
def hub_role_grants_page(request: HttpRequest) -> HttpResponseBase:
    """The roles of the hub that end; given, handed on and ended by who administers people."""
    principal = principal_of(request)
    rows = list(limited_hub_roles(principal))

    def give(given: dict[str, Any]) -> None:
        told = {"principal": principal, "role": HubRole(given["role"]), "until": given["until"]}
        if given["hand_on"]:
            delegate_hub_role(to=given["holder"]["user"], reason=given["reason"], **told)
        else:
            give_hub_role(**given["holder"], reason=given["reason"], **told)

    def end(grant_id: int) -> None:
        end_hub_role(principal=principal, grant_id=grant_id)

    return _answer(request, title=_("Roles of the hub that end"), roles=HubRole, rows=rows, give=give, end=end)


def _answer(
    request: HttpRequest,
    *,
    title: str,
    roles: ChoicesType,
    rows: Sequence[Grant],
    give: Callable[[dict[str, Any]], None],
    end: Callable[[int], None],
) -> HttpResponseBase:
    """Do what was asked for and lead back, or show the page; what was typed stays in it when it is refused.

    Before a role ends, another page asks.
    """
    form = TimedGrantForm(roles, request.POST if request.method == "POST" and "end" not in request.POST else None)
    if "end" in request.POST:
        number = whole_number(request.POST["end"]) or 0
        asked = ask_first(
            request,
            title=_("End now"),
            consequence=_("The role ends at once. It comes back only when somebody gives it anew."),
            rows=[str(row) for row in rows if row.pk == number],
            button=_("End now"),
        )
        if asked is not None:
            return asked
        with errors_as_messages(request):
            end(number)
            messages.success(request, _("The role has ended."))
        return HttpResponseRedirect(request.path)
    if form.is_bound and form.is_valid():
        with errors_as_messages(request):
            give(form.cleaned_data)
            messages.success(request, _("The role is given."))
            return HttpResponseRedirect(request.path)
    now = timezone.now()
    ended = [row for row in rows if _end_of(row) <= now]
    counting = set(type(rows[0])._default_manager.in_force().values_list("pk", flat=True)) if rows else set()
    return render_page(
        request,
        "admin/hub/grants.html",
        title=title,
        form=form,
        standing=[(row, row.pk in counting) for row in sorted(rows, key=_end_of) if _end_of(row) > now],
        ended=sorted(ended, key=_end_of, reverse=True)[:MOST_ENDED],
        ended_count=len(ended),
        most_ended=MOST_ENDED,
    )


def _end_of(row: Grant) -> datetime:
    assert row.until is not None  # noqa: S101 (only grants that end are shown)
    return row.until
