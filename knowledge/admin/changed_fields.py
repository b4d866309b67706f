"""What differs between two versions of a master, field by field, in words of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from django.core.exceptions import FieldDoesNotExist
from django.db.models import BooleanField, Model
from django.utils.translation import gettext

from knowledge.admin.fields import type_names


class Change(Protocol):
    """One field that differs. Lists are lists, or their members in one text with commas between them."""

    @property
    def field(self) -> str: ...
    @property
    def before(self) -> Any: ...  # noqa: ANN401 (as the field's value is)
    @property
    def after(self) -> Any: ...  # noqa: ANN401


def changed_fields(model: type[Model], changes: Iterable[Change]) -> list[tuple[str, str, str]]:
    """Return the name of each field that differs, with its value before and after.

    Two queries where types of documents differ.
    """
    return [
        (_title(model, one.field), _in_words(model, one.field, one.before), _in_words(model, one.field, one.after))
        for one in changes
    ]


def _title(model: type[Model], name: str) -> str:
    field = _field(model, name)
    return name if field is None else str(field.verbose_name)


def _field(model: type[Model], name: str) -> Any:  # noqa: ANN401 (fields have no type of their own that says all this)
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


def _in_words(model: type[Model], name: str, value: Any) -> str:  # noqa: ANN401 (as the field's value is)
    field = _field(model, name)
    if name == "document_types":
        types = type_names()
        return ", ".join(types.get(code, code) for code in (value.split(", ") if isinstance(value, str) else value))
    if isinstance(field, BooleanField):
        return gettext("Yes") if str(value) == "True" else gettext("No")
    if choices := dict(getattr(field, "flatchoices", ())):
        return str(choices.get(value, value))
    if isinstance(value, list | tuple):
        return ", ".join(map(_member, value))
    return str(value)


def _member(value: Any) -> str:  # noqa: ANN401 (a text, or a required element)
    if not isinstance(value, Mapping):
        return str(value)
    words = " / ".join((*value.get("words", ()), *value.get("patterns", ())))
    return f"{value.get('name', '')} ({words})" if words else str(value.get("name", ""))
