"""The properties of a graph node as people read and write them: a table of names and values.

What only programs go by, what is nested, and what has no name that a row of a form can send, is not in the table and
stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.text import normalize_newlines
from django.utils.translation import gettext_lazy as _

from hub.core.strict_json import read_json
from knowledge.admin.fields import type_names
from knowledge.models import ArticleSeverity

PLAIN = str | int | float | bool
FACTS: Mapping[str, Promise] = {
    "path": _("Path"),
    "document_type": _("Document type"),
    "sections": _("Sections"),
    "page": _("Page"),
    "label": _("Name"),
    "mentions": _("times that the document says so"),
    "category": _("category"),
    "required": _("required"),
    "severity": _("severity"),
    "guideline": _("Guideline"),
    "edition": _("Edition"),
    "note": _("note"),
}
"""Names of the properties that documents and masters write; those that curators add have names of their own."""
FOR_PROGRAMS = frozenset(
    {"name", "code", "document_id", "defined_in", "start_offset", "end_offset", "role", "prefix", "level", "number"}
    | {"domain", "checklist", "check_type", "priority"}
)
EMPTY_ROWS = 3
MOST_ROWS = 400
"""Properties of one form: two fields of each and the form's others are below DATA_UPLOAD_MAX_NUMBER_FIELDS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A row of the table. ``choices`` are the values that there are, with what they are called; empty for any text.
    Of one that ``is_new`` the key is typed, too.
    """

    key: str
    text: str
    choices: tuple[tuple[str, str], ...] = ()
    is_new: bool = False

    @property
    def name(self) -> str:
        return str(FACTS.get(self.key, self.key))

    @property
    def in_words(self) -> str:
        return dict(self.choices).get(self.text, self.text)

    @property
    def has_lines(self) -> bool:
        return _has_line_break(self.text)


def rows_of(properties: Mapping[str, Any], types: Mapping[str, str] | None = None) -> list[Property]:
    """Return the properties that people are shown. One query, unless the names of document types are given."""
    named = type_names() if types is None else types
    return [
        Property(key=key, text=_as_text(value), choices=_choices(key, value, named))
        for key, value in properties.items()
        if isinstance(value, PLAIN) and key not in FOR_PROGRAMS and key.strip() and not _has_line_break(key)
    ]


def _has_line_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def _as_text(value: PLAIN) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choices(key: str, value: PLAIN, types: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if isinstance(value, bool):
        return (("true", str(_("Yes"))), ("false", str(_("No"))))
    named = {"document_type": types, "severity": dict(ArticleSeverity.choices)}.get(key, {})
    return tuple((code, str(name)) for code, name in named.items()) if value in named else ()


def with_changes(stored: Mapping[str, Any], rows: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return stored properties with what was sent of the table: (key, value), a value that is empty takes it away.

    What was sent as it was shown stays as it is stored. Blanks around what was typed go; a number or a yes that was
    changed stays one. :raises ValidationError: a name is missing, there twice, or one that is not for people.
    """
    shown = {one.key: one.text for one in rows_of(stored, types={})}
    changed, seen = dict(stored), set(stored).difference(shown)
    for sent_key, sent in rows:
        key, text = sent_key if sent_key in shown else sent_key.strip(), normalize_newlines(sent)
        if not key and not text.strip():
            continue
        if not key:
            raise ValidationError(_("Give “%(value)s” a name."), params={"value": text[:100]})
        if key in seen or key in FOR_PROGRAMS:
            raise ValidationError(_("There is “%(name)s” already. Choose another name."), params={"name": key[:100]})
        seen.add(key)
        if key in shown and text == normalize_newlines(shown[key]):
            continue
        if text.strip():
            changed[key] = _read(text.strip(), stored.get(key))
        else:
            changed.pop(key, None)
    return changed


def _read(text: str, before: object) -> PLAIN:
    """Read a value as the kind that it was before; as a text where it was none, or can't be read so."""
    if not isinstance(before, int | float):
        return text
    try:
        value = read_json(text)
    except ValueError:
        return text
    is_same_kind = isinstance(value, int | float) and isinstance(value, bool) == isinstance(before, bool)
    return value if is_same_kind else text


class PropertiesWidget(forms.Widget):
    """A table with a row for each property, and some where a name is typed, too. It needs no scripts."""

    def render(
        self,
        name: str,
        value: Sequence[Property],
        attrs: Mapping[str, Any] | None = None,
        renderer: object = None,
    ) -> SafeString:
        """Render the table; each row sends its key and its value."""
        return render_to_string("admin/hub/properties.html", {"name": name, "rows": value, "attrs": attrs or {}})

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[tuple[str, str]]:  # noqa: ANN401 (Django's)
        """Return the rows as they were sent."""
        return list(zip(data.getlist(f"{name}-key"), data.getlist(f"{name}-value"), strict=False))

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:  # noqa: ANN401 (Django's)
        return f"{name}-key" not in data


class PropertiesField(forms.Field):
    """Changes the properties of a node, ``stored``, by what the table sends."""

    widget = PropertiesWidget
    stored: Mapping[str, Any] = MappingProxyType({})

    def prepare_value(self, value: Any) -> list[Property]:  # noqa: ANN401 (Django's signature)
        """Give the rows of what is stored, or of what was typed beside an error."""
        left = {one.key: one for one in rows_of(self.stored)}
        if not isinstance(value, list):
            return [*left.values(), *[Property(key="", text="", is_new=True)] * EMPTY_ROWS]
        return [
            replace(left.pop(key), text=text) if key in left else Property(key=key, text=text, is_new=True)
            for key, text in value
        ]

    def clean(self, value: list[tuple[str, str]]) -> dict[str, Any]:
        """Return all properties. :raises ValidationError: see `with_changes`; a text has a NUL character."""
        text = forms.CharField(required=False, strip=False)
        return with_changes(self.stored, [(text.clean(key), text.clean(given)) for key, given in value])

    def stored_in_words(self, sent: Iterable[tuple[str, str]]) -> str:
        """Return what is stored of the rows that were sent otherwise, or not at all; "" where there are none."""
        texts = {key: normalize_newlines(text) for key, text in sent}
        rows = [one for one in rows_of(self.stored) if texts.get(one.key) != normalize_newlines(one.text)]
        return "; ".join(f"{one.name}: {one.in_words}" for one in rows)

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 (Django's)
        try:
            return self.clean(data) != self.stored
        except ValidationError:
            return True
