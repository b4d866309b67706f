"""What the admins of things that curators keep for everybody have in common, those with versions too."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from hub.access.names import name_with_login
from hub.access.principals import Principal
from hub.access.versions import CuratedVersion, PublicationStatus, refusals
from hub.admin_site.base import HubModelAdmin, everybody, nobody
from hub.admin_site.pages import badge, errors_as_messages, is_staff, principal_of


class CuratedAdmin(HubModelAdmin):
    """Everybody may look; who holds ``right`` adds and changes. What may be deleted is for subclasses to say."""

    may_view = everybody


class CuratedRowsMixin:
    """Rows on the page of such a thing: everybody sees them, holders of its right change them, of a version in drafts.

    The page's own admin says which right that is.
    """

    admin_site: Any
    parent_model: type[Model]

    def _is_held(self, request: HttpRequest) -> bool:
        page: HubModelAdmin = self.admin_site.get_model_admin(self.parent_model)
        return page.is_held_by(principal_of(request))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_staff(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_draft = getattr(obj, "status", PublicationStatus.DRAFT) == PublicationStatus.DRAFT
        return is_staff(request) and is_draft and self._is_held(request)

    has_add_permission = has_delete_permission = has_change_permission


class PlaceField(forms.IntegerField):
    """A place in an order: stored from ``first``, shown and typed from 1. Who types 0 means the first place as well."""

    def __init__(self, *, first: int, **given: Any) -> None:  # noqa: ANN401 (Django's options)
        super().__init__(**given)
        self.first = first

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 (Django's signature)
        """Give what is shown; what was typed stays."""
        return value - self.first + 1 if isinstance(value, int) else value

    def to_python(self, value: Any) -> int | None:  # noqa: ANN401 (Django's signature)
        place = super().to_python(value)
        return None if place is None else max(place - 1, 0) + self.first


class OrderedRowsMixin:
    """Rows in an order that people give: by dragging, by buttons and keys (``order_rows.js``), or by typing numbers.

    Who may only read the rows is shown their places from 1, too.
    """

    order_by: str
    """The field that holds the place of a row."""
    first_place = 0
    """What that field holds in the first row."""

    class Media:
        js = ("hub/order_rows.js",)

    def get_formset(self, request: HttpRequest, obj: Model | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Let who may change the rows order them."""
        may_order = self.has_change_permission(request, obj)  # type: ignore[attr-defined]
        self.ordering_field = self.order_by if may_order else None
        formset = super().get_formset(request, obj, **kwargs)  # type: ignore[misc]
        if may_order:
            given = formset.form.base_fields[self.order_by]
            place = PlaceField(
                first=self.first_place,
                label=given.label,
                required=given.required,
                initial=max(given.initial or 0, self.first_place),
                widget=given.widget,
            )
            formset.form.base_fields[self.order_by] = place
            place.widget.attrs |= {"data-place": "", "data-up": _("Move up"), "data-down": _("Move down"), "min": 1}
            place.widget.attrs["data-moved"] = _("Now in place {place} of {all}")
        return formset

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401 (Django's signature)
        fields = super().get_fields(request, obj)  # type: ignore[misc]
        return fields if self.has_change_permission(request, obj) else _named(fields, self.order_by, "place")  # type: ignore[attr-defined]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "place")  # type: ignore[misc]

    @admin.display(description=_("position"))
    def place(self, row: Any) -> int:  # noqa: ANN401 (of the subclass' model)
        return int(getattr(row, self.order_by)) - self.first_place + 1


def _named(fields: Any, name: str, instead: str) -> Any:  # noqa: ANN401 (a field's name, or lines of them)
    """Return the fields of an admin, in their lines, with another name in the place of one."""
    if isinstance(fields, str):
        return instead if fields == name else fields
    return [_named(each, name, instead) for each in fields]


class CuratedVersionAdmin(HubModelAdmin):
    """Who holds ``right`` sees all versions and edits drafts; what is published stays as it is. Nothing is deleted.

    Subclasses say which services save and publish. Forms of their pages post to ``<app>_<model>_publish``, and to
    ``<app>_<model>_copy`` where `copy` is among their ``buttons``.
    """

    buttons: tuple[str, ...] = ("publish",)
    change_form_template = "admin/knowledge/curated/change_form.html"

    def save_draft(self, principal: Principal, version: Any) -> None:  # noqa: ANN401 - of the subclass' model
        """Store a draft in the name of the person."""
        raise NotImplementedError

    def publish_draft(self, principal: Principal, pk: int) -> CuratedVersion:
        """Put a draft in force."""
        raise NotImplementedError

    def make_draft(self, principal: Principal, pk: int) -> CuratedVersion:
        """Make a draft of a version, or give the draft that there is."""
        raise NotImplementedError

    def page_after_refusal(self, pk: int) -> str:
        """Where a person goes on whose draft was not published."""
        return self.page("changelist")

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        return getattr(obj, "status", PublicationStatus.DRAFT) == PublicationStatus.DRAFT and self.is_held_by(principal)

    may_delete = nobody

    def get_readonly_fields(self, request: HttpRequest, obj: CuratedVersion | None = None) -> tuple[str, ...]:
        """What it is a version of holds its versions together: it stays."""
        return (obj.THING,) if obj else ()

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<int:pk>/{name}/",
                self.admin_site.admin_view(require_POST(getattr(self, name))),
                name=self._name_of(name),
            )
            for name in self.buttons
        ]
        return [*own, *super().get_urls()]

    def page(self, name: str, *arguments: int) -> str:
        """The address of one of this model's pages."""
        return reverse(f"admin:{self._name_of(name)}", args=arguments)

    def _name_of(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def save_model(
        self, request: HttpRequest, obj: CuratedVersion, form: forms.ModelForm[CuratedVersion], change: bool
    ) -> None:
        self.save_draft(principal_of(request), obj)

    def copy(self, request: HttpRequest, pk: int) -> HttpResponseRedirect:
        """Make a draft of a version, or go to the draft that there is."""
        address = self.page("changelist")
        with errors_as_messages(request):
            address = self.page("change", self.make_draft(principal_of(request), pk).pk)
        return HttpResponseRedirect(address)

    def publish(self, request: HttpRequest, pk: int) -> HttpResponseRedirect:
        address = self.page_after_refusal(pk)
        with errors_as_messages(request):
            version = self.publish_draft(principal_of(request), pk)
            messages.success(request, _("{version} is in force.").format(version=version))
            address = self.page("changelist")
        return HttpResponseRedirect(address)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        *args: Any,  # noqa: ANN401
        obj: CuratedVersion | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> HttpResponseBase:
        """Say to holders of the right who may publish their draft, and offer a copy of other versions."""
        principal = principal_of(request)
        if obj is not None and self.is_held_by(principal):
            may_copy = "copy" in self.buttons and not obj.is_draft
            context["publisher_refused"] = refusals(principal, obj)["publisher_refused"]
            context["copy_address"] = self.page("copy", obj.pk) if may_copy else ""
        response: HttpResponseBase = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    @admin.display(description=_("author"), ordering="author")
    def written_by(self, obj: CuratedVersion) -> str:
        return name_with_login(obj.author) if obj.author else "-"

    @admin.display(description=_("state"))
    def state(self, obj: CuratedVersion) -> SafeString:
        return badge(obj.status, PublicationStatus(obj.status).label)
