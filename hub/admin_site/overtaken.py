"""Two people, or two tabs, at one form: the second is told who saved what, and saves knowingly or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Field, Model
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

SEEN = "hub_seen"
LONGEST_SHOWN = 300


def digest_of(row: Model, names: Iterable[str]) -> str:
    """Name what a row holds in some of its fields: another digest, and somebody has changed it."""
    values = {name: row._meta.get_field(name).value_to_string(row) for name in sorted(names)}  # type: ignore[union-attr]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _names(form: Any) -> list[str]:  # noqa: ANN401 (a form class or a form of any model)
    fields = {one.name for one in form._meta.model._meta.concrete_fields}
    given = form.fields if hasattr(form, "fields") else form.base_fields
    return sorted(fields & set(given))


class OvertakenMixin:
    """For model admins: the form of a row is refused when the row has changed since the form was opened.

    Nothing that was typed is lost: the form comes back with it and with what stands there now, and takes the next save.
    A form that does not say what it saw, as none of a browser does, is taken as it is.
    """

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401
        form: Any = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        if obj is None or request.method != "POST" or SEEN not in request.POST:
            return form
        seen = request.POST[SEEN]

        class Checked(form):  # type: ignore[misc]
            def clean(self) -> Any:  # noqa: ANN401
                cleaned = super().clean()
                if seen != digest_of(self.instance, _names(self)):
                    raise ValidationError(saved_by_others(self.instance, self))
                return cleaned

        Checked.__name__ = form.__name__
        return Checked

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        *given: Any,  # noqa: ANN401 (Django's)
        obj: Any = None,  # noqa: ANN401
        **more: Any,  # noqa: ANN401
    ) -> HttpResponseBase:
        """Give the page what its form saw of the row."""
        if more.get("change") and obj is not None and self.has_change_permission(request, obj):  # type: ignore[attr-defined]
            stored = type(obj)._base_manager.filter(pk=obj.pk).first()  # the form may have written into ``obj``
            if stored is not None:
                context[SEEN] = digest_of(stored, _names(context["adminform"].form))
        response: HttpResponseBase = super().render_change_form(request, context, *given, obj=obj, **more)  # type: ignore[misc]
        return response


def saved_by_others(row: Model, form: forms.ModelForm[Any]) -> list[str]:
    """Say who saved when, and what stands now in the fields that the form would change."""
    kind = ContentType.objects.get_for_model(row, for_concrete_model=False)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(row.pk)).select_related("user")
    last = entries.order_by("-action_time").first()
    if last is not None:
        at = date_format(timezone.localtime(last.action_time), "Y-m-d H:i")
        first = _("{who} saved this at {at}, after you had opened it.").format(who=last.user.get_username(), at=at)
    else:
        first = _("This was saved elsewhere after you had opened it.")
    says = [first + " " + _("Nothing of yours is saved yet. Merge what differs, and save again.")]
    for name in form.changed_data:
        field = next((one for one in row._meta.concrete_fields if one.name == name), None)
        if field is not None:
            label = form.fields[name].label or name
            says.append(_("{field} is now: {value}").format(field=label, value=_shown(row, field)))
    return says


def _shown(row: Model, field: Field[Any, Any]) -> str:
    text = str(getattr(row, f"get_{field.name}_display", lambda: field.value_to_string(row))())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
