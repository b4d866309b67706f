"""People, groups, ceilings and tokens in the admin."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from hub.access.models import AccessToken, Clearance, HubRoleGrant
from hub.access.people import (
    check_group_may_change,
    check_groups,
    check_rank,
    may_change_account,
    may_set_password,
    remove_ceiling,
    save_ceiling,
    save_hub_role,
    withdraw_hub_role,
)
from hub.access.principals import HubRight, Principal, Scope
from hub.access.second_factor import remove
from hub.access.services import (
    HAS_PASSWORD_OF_ITS_DAY,
    create_token,
    end_of_token,
    last_possible_end,
    may_see_tokens_of,
    record_event,
    revoke_token,
    usable_scopes,
)
from hub.access.sessions import end_sessions
from hub.access.sign_in import end_wait
from hub.admin_site.base import HubModelAdmin, holders, nobody
from hub.admin_site.pages import badge, errors_as_messages, principal_of
from hub.core.errors import HubError, InvalidInput

admin.site.unregister(User)
admin.site.unregister(Group)


class AccountLinesMixin:
    """Writes a line of the audit trail where Django notes that an account or a group was added, changed or deleted.

    Changes of passwords are among them. The names of changed fields are noted, and for groups and staff what they are
    now; never a password.
    """

    def log_addition(self, request: HttpRequest, obj: User | Group, message: Any) -> LogEntry:  # noqa: ANN401
        _record_account(request, "CREATE", obj, now=_rights_of(obj))
        noted: LogEntry = super().log_addition(request, obj, message)  # type: ignore[misc]
        return noted

    def log_change(self, request: HttpRequest, obj: User | Group, message: Any) -> LogEntry:  # noqa: ANN401
        changed = {str(name) for part in message if "changed" in part for name in part["changed"].get("fields", ())}
        _record_account(request, "CHANGE", obj, changed=sorted(changed), now=_rights_of(obj))
        noted: LogEntry = super().log_change(request, obj, message)  # type: ignore[misc]
        return noted

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:  # noqa: ANN401
        for obj in queryset:
            _record_account(request, "DELETE", obj)
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def _record_account(request: HttpRequest, what: str, obj: User | Group, **facts: object) -> None:
    kind = "user" if isinstance(obj, User) else "group"
    record_event(principal_of(request), f"ACCOUNT_{what}", f"{kind}:{obj.pk}", name=str(obj), **facts)


def _rights_of(obj: User | Group) -> dict[str, object]:
    if not isinstance(obj, User):
        return {}
    marks = {name: getattr(obj, name) for name in ("is_active", "is_staff", "is_superuser")}
    return {**marks, "groups": sorted(obj.groups.values_list("name", flat=True))}


class AccountForm(UserChangeForm):  # type: ignore[misc]  # Unfold has no types
    """Django's form; groups that the person may not give, or take, are refused."""

    principal: Principal

    def clean_groups(self) -> QuerySet[Group]:
        """Give the groups. Raises ValidationError for a change that the person may not make."""
        chosen: QuerySet[Group] = self.cleaned_data["groups"]
        before = set(self.instance.groups.all()) if self.instance.pk else set()
        try:
            check_groups(self.principal, self.instance, before ^ set(chosen))
        except HubError as error:
            raise forms.ValidationError(str(error)) from error
        return chosen


@admin.register(User)
class UserAdmin(AccountLinesMixin, DjangoUserAdmin, HubModelAdmin):  # type: ignore[type-arg, misc]
    """Django's user pages in Unfold's clothes, for who administers people.

    Django's own permissions are left out: nothing here asks for them. What a superuser is, superusers say.
    """

    right = HubRight.PEOPLE
    form = AccountForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_filter = ("is_staff", "is_superuser", "is_active", "groups")
    filter_horizontal = ()
    actions = ("end_wait", "end_all_sessions", "remove_second_factor")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("last_name", "first_name", "email")}),
        (_("Permissions"), {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return may_change_account(principal, obj) if isinstance(obj, User) else self.is_held_by(principal)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:  # noqa: ANN401
        kept = () if principal_of(request).is_superuser else ("is_superuser", "last_login", "date_joined")
        return (*super().get_readonly_fields(request, obj), *kept)

    def get_form(
        self,
        request: HttpRequest,
        obj: User | None = None,
        change: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> type[forms.ModelForm[User]]:
        form: type[forms.ModelForm[User]] = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"principal": principal_of(request)})

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Set another person's password; that of who holds a role of the hub is for superusers."""
        user = self.get_object(request, id)
        if user is not None and not may_set_password(principal_of(request), user):
            raise PermissionDenied
        response: HttpResponse = super().user_change_password(request, id, form_url)
        return response

    def save_model(self, request: HttpRequest, obj: User, form: forms.ModelForm[User], change: bool) -> None:
        check_rank(principal_of(request), obj)
        super().save_model(request, obj, form, change)

    @admin.action(description=_("Let the selected users sign in again at once"))
    def end_wait(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        done = 0
        for user in queryset:
            with errors_as_messages(request):
                end_wait(principal=principal_of(request), username=user.get_username())
                done += 1
        messages.success(request, _("Wrong passwords are forgotten for: {count}.").format(count=done))

    @admin.action(description=_("End all sessions of the selected users"))
    def end_all_sessions(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        own_key, count = request.session.session_key, 0
        for user in queryset:
            with errors_as_messages(request):
                count += end_sessions(principal_of(request), user, but_key=own_key)
        messages.success(request, _("Sessions ended: {count}.").format(count=count))

    @admin.action(description=_("Remove the second factor of the selected users"))
    def remove_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        done = 0
        for user in queryset:
            with errors_as_messages(request):
                remove(principal_of(request), user)
                done += 1
        messages.success(request, _("Second factors are removed of: {count}.").format(count=done))


@admin.register(Group)
class GroupAdmin(AccountLinesMixin, DjangoGroupAdmin, HubModelAdmin):  # type: ignore[misc]
    """Django's group pages in Unfold's clothes, for who administers people; Django's own permissions are left out."""

    right = HubRight.PEOPLE
    fields = ("name",)
    filter_horizontal = ()

    def save_model(self, request: HttpRequest, obj: Group, form: forms.ModelForm[Group], change: bool) -> None:
        if change:
            check_group_may_change(principal_of(request), obj)
        super().save_model(request, obj, form, change)


@admin.register(Clearance)
class ClearanceAdmin(HubModelAdmin):
    right = HubRight.PEOPLE
    list_display = ("user", "ceiling")
    list_filter = ("ceiling",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    autocomplete_fields = ("user",)

    may_delete = holders

    def save_model(self, request: HttpRequest, obj: Clearance, form: forms.ModelForm[Clearance], change: bool) -> None:
        save_ceiling(principal=principal_of(request), clearance=obj)

    def delete_model(self, request: HttpRequest, obj: Clearance) -> None:
        remove_ceiling(principal=principal_of(request), clearance=obj)


@admin.register(HubRoleGrant)
class HubRoleGrantAdmin(HubModelAdmin):
    """Who may do what with what belongs to no collection; who administers people gives and takes it."""

    right = HubRight.PEOPLE
    list_display = ("holder", "role", "until", "delegator", "given_by", "reason")
    list_filter = ("role",)
    list_select_related = ("user", "group", "delegator", "given_by")
    search_fields = ("user__username", "group__name")
    autocomplete_fields = ("user", "group")
    fields = ("user", "group", "role", "until", "reason")

    may_delete = holders

    def save_model(
        self, request: HttpRequest, obj: HubRoleGrant, form: forms.ModelForm[HubRoleGrant], change: bool
    ) -> None:
        save_hub_role(principal=principal_of(request), grant=obj)

    def delete_model(self, request: HttpRequest, obj: HubRoleGrant) -> None:
        withdraw_hub_role(principal=principal_of(request), grant=obj)

    @admin.display(description=_("user or group"))
    def holder(self, grant: HubRoleGrant) -> str:
        return str(grant.user or grant.group)


class TokenForm(forms.ModelForm[AccessToken]):
    """What a new token is for. Scopes start with what a searching program needs."""

    offered: frozenset[Scope] = frozenset()

    scopes = forms.MultipleChoiceField(
        label=_("scopes"),
        choices=[(scope.value, scope.value) for scope in Scope],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        initial=[Scope.READ.value, Scope.SEARCH.value],
        help_text=_("What the token may be used for; the person's roles limit it further."),
    )

    class Meta:
        model = AccessToken
        fields = ("name", "user", "scopes", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        if "scopes" in self.fields:
            choices = [(scope.value, f"{scope.value}: {scope.label}") for scope in Scope if scope in self.offered]
            cast(forms.MultipleChoiceField, self.fields["scopes"]).choices = choices

    def clean_expires_at(self) -> datetime:
        """Give the end, by default the latest that may be. Raises ValidationError for one that may not."""
        try:
            return end_of_token(self.cleaned_data["expires_at"], now=timezone.now())
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from error

    def clean_scopes(self) -> list[str]:
        return sorted(self.cleaned_data["scopes"])


@admin.register(AccessToken)
class AccessTokenAdmin(HubModelAdmin):
    """Everyone manages their own tokens; who administers people sees and revokes those of others, but superusers'.

    Superusers make them for others, too. A token is made and revoked, never edited.
    """

    form = TokenForm
    list_display = ("name", "hint", "user", "scopes_text", "state", "created_at", "expires_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "user__username", "hint")
    autocomplete_fields = ("user",)
    actions = ("revoke",)
    change_form_outer_after_template = "admin/access/accesstoken/revoke.html"

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        if not isinstance(obj, AccessToken) or obj.user_id == principal.user_id:
            return True
        return may_see_tokens_of(principal, obj.user)

    def may_add(self, principal: Principal) -> bool:
        return bool(usable_scopes(principal))

    may_change = may_delete = nobody

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Offer one way to save: the answer shows the token."""
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        response: HttpResponseBase = super().add_view(request, form_url, {**(extra_context or {}), **only_save})
        return response

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessToken]:
        principal = principal_of(request)
        rows: QuerySet[AccessToken] = super().get_queryset(request)
        rows = rows.annotate(has_password_of_its_day=HAS_PASSWORD_OF_ITS_DAY)
        if principal.is_superuser:
            return rows
        own = Q(user_id=principal.user_id)
        return rows.filter(own | Q(user__is_superuser=False) if principal.may(HubRight.PEOPLE) else own)

    def get_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> list[str]:
        """Ask for what a new token needs; of an old one show everything but its digest."""
        if obj is None:
            user = ["user"] if principal_of(request).is_superuser else []
            return ["name", *user, "scopes", "expires_at"]
        return ["name", "hint", "user", "scopes_text", "state", "created_at", "expires_at", "last_used_at"]

    def get_form(
        self,
        request: HttpRequest,
        obj: AccessToken | None = None,
        change: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> type[forms.ModelForm[AccessToken]]:
        form: type[TokenForm] = super().get_form(request, obj, change, **kwargs)
        form.offered = usable_scopes(principal_of(request))
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Suggest the person themselves as the token's user, and the longest life."""
        return {"user": request.user.pk, "expires_at": last_possible_end(timezone.now())}

    def save_model(
        self, request: HttpRequest, obj: AccessToken, form: forms.ModelForm[AccessToken], change: bool
    ) -> None:
        """Make the token; it is kept on ``obj`` only until the answer is rendered."""
        principal = principal_of(request)
        user = obj.user if principal.is_superuser else cast(User, request.user)
        row, token = create_token(
            principal=principal,
            user=user,
            name=obj.name,
            scopes=frozenset(Scope(name) for name in obj.scopes),
            expires_at=obj.expires_at,
        )
        obj.__dict__.update({**row.__dict__, "plain_token": token})

    def response_add(
        self, request: HttpRequest, obj: AccessToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the token, this once: the answer is in no cache, session or message."""
        context = {**self.admin_site.each_context(request), "title": _("Access token"), "token": obj}
        context["plain_token"] = obj.__dict__.pop("plain_token")
        response = TemplateResponse(request, "admin/access/accesstoken/shown_once.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @admin.action(description=_("Revoke the selected tokens"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[AccessToken]) -> None:
        """Revoke token by token; revoking twice is no error."""
        done = 0
        for token in queryset:
            with errors_as_messages(request):
                revoke_token(principal=principal_of(request), token_id=token.pk)
                done += 1
        messages.success(request, _("Revoked: {count}.").format(count=done))

    @admin.display(description=_("scopes"))
    def scopes_text(self, token: AccessToken) -> str:
        return ", ".join(token.scopes)

    @admin.display(description=_("state"))
    def state(self, token: AccessToken) -> SafeString:
        if token.revoked_at:
            return badge("revoked", _("revoked"))
        if token.is_expired(timezone.now()):
            return badge("expired", _("expired"))
        if not token.has_password_of_its_day:  # type: ignore[attr-defined]  # annotated by get_queryset
            return badge("expired", _("ended with the password"))
        return badge("active", _("active"))
