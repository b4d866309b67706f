"""Two people, or two tabs, at one form: the second is told who saved what, and saves knowingly or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from django.utils.translation import pgettext

from hub.access.names import name_of

SEEN = "hub_seen"
LONGEST_SHOWN = 300
DIGEST = 32  # characters
OPENED = "t"
"""In the field `SEEN`: after the digests, which are hexadecimal, and before the second in which the page was made."""
SECOND_DIGITS = 12


def digest_of(row: Model, names: Iterable[str]) -> str:
    """Name what a row holds in some of its fields: another digest, and somebody has changed it."""
    values = {name: row._meta.get_field(name).value_to_string(row) for name in sorted(names)}  # type: ignore[union-attr]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


def _names(form: Any) -> list[str]:  # noqa: ANN401 (a form class or a form of any model)
    fields = {one.name for one in form._meta.model._meta.concrete_fields}
    given = form.fields if hasattr(form, "fields") else form.base_fields
    return sorted(fields & set(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsBeside:
    """The rows of another model that a page's form changes, too: what they are called, and which fields."""

    label: str
    rows: Sequence[Model]
    names: Sequence[str]

    def digest(self) -> str:
        """Name what the rows hold: another digest, and one of them was changed, added or deleted."""
        return ",".join(f"{row.pk}:{digest_of(row, self.names)}" for row in self.rows)


class OvertakenMixin:
    """For model admins: the form of a row is refused when it, or a row in its tables, has changed since it was opened.

    Nothing that was typed is lost: the form comes back with it and with what stands there now, and takes the next save.
    A form that does not say what it saw, as none of a browser does, is taken as it is.
    """

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401
        form: Any = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        if obj is None or request.method != "POST" or SEEN not in request.POST:
            return form
        digests, _sign, opened = request.POST[SEEN].partition(OPENED)
        seen, rows_seen = digests[:DIGEST], digests[DIGEST:]
        rows_beside = self._rows_beside

        class Checked(form):  # type: ignore[misc]
            def clean(self) -> Any:  # noqa: ANN401
                cleaned = super().clean()
                beside = rows_beside(request, self.instance)
                is_same = rows_seen == _digest_of_all(beside)
                if seen != digest_of(self.instance, _names(self)) or not is_same:
                    raise ValidationError(saved_by_others(self.instance, self, [] if is_same else beside, opened))
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
        """Give the page what its form saw of the row, and of those in its tables."""
        if more.get("change") and obj is not None and self.has_change_permission(request, obj):  # type: ignore[attr-defined]
            stored = type(obj)._base_manager.filter(pk=obj.pk).first()  # the form may have written into ``obj``
            if stored is not None:
                own = digest_of(stored, _names(context["adminform"].form))
                opened = f"{OPENED}{timezone.now().timestamp():.0f}"
                context[SEEN] = own + _digest_of_all(self._rows_beside(request, stored)) + opened
        response: HttpResponseBase = super().render_change_form(request, context, *given, obj=obj, **more)  # type: ignore[misc]
        return response

    def _rows_beside(self, request: HttpRequest, row: Model) -> list[RowsBeside]:
        """The rows of the page's tables that the person may change, as they are stored. One query for each table."""
        found = []
        for inline in self.get_inline_instances(request, row):  # type: ignore[attr-defined]
            if inline.has_change_permission(request, row):
                formset = inline.get_formset(request, row)
                rows = inline.get_queryset(request).filter(**{formset.fk.name: row}).order_by("pk")
                label = str(inline.verbose_name_plural)
                found.append(RowsBeside(label=label, rows=list(rows), names=_names(formset.form)))
        return found


def _digest_of_all(beside: Iterable[RowsBeside]) -> str:
    """Name what several tables hold, "" without one."""
    digests = [one.digest() for one in beside]
    return hashlib.sha256("/".join(digests).encode()).hexdigest()[:DIGEST] if digests else ""


def saved_by_others(
    row: Model, form: forms.ModelForm[Any], beside: Iterable[RowsBeside], opened: str = ""
) -> list[str]:
    """Say who saved when, and what stands now in the fields that the form would change and in the tables ``beside``.

    ``opened`` is the second, since 1970, in which the form was shown: who saved before did not overtake it, but a
    worker, or somebody by another door.
    """
    kind = ContentType.objects.get_for_model(row, for_concrete_model=False)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(row.pk)).select_related("user")
    last = entries.order_by("-action_time").first()
    if last is not None and last.action_time.timestamp() >= _second(opened):
        at = date_format(timezone.localtime(last.action_time), "Y-m-d H:i")
        first = _("{who} saved this at {at}, after you had opened it.").format(who=name_of(last.user), at=at)
    else:
        first = _("This was saved elsewhere after you had opened it.")
    says = [first + " " + _("Nothing of yours is saved yet. Merge what differs, and save again.")]
    for name in form.changed_data:
        field = next((one for one in row._meta.concrete_fields if one.name == name), None)
        if field is not None:
            label = form.fields[name].label or name
            value = _stored_in_words(form, name) or _shown(row, field)
            says.append(_("{field} is now: {value}").format(field=label, value=value))
    for table in beside:
        rows = "; ".join(str(one) for one in table.rows) or pgettext("value", "nothing")
        says.append(_("{field} is now: {value}").format(field=table.label, value=_cut(rows)))
    return says


def _second(opened: str) -> int:
    """The second that a form says; the first of all where it says none."""
    return int(opened) if len(opened) <= SECOND_DIGITS and opened.isascii() and opened.isdecimal() else 0


def _stored_in_words(form: forms.ModelForm[Any], name: str) -> str:
    """What is stored beside what was sent, of a field that has words for it: ``stored_in_words`` of its class."""
    in_words = getattr(form.fields[name], "stored_in_words", None)
    return _cut(in_words(form[name].data)) if in_words else ""


def _shown(row: Model, field: Field[Any, Any]) -> str:
    text = str(getattr(row, f"get_{field.name}_display", lambda: field.value_to_string(row))())
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
