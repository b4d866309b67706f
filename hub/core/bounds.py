"""How large what people give may be: numbers, texts and JSON. One check for every door, and for what is stored."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db.models import CheckConstraint, Field, JSONField, Model, Q, TextField
from django.db.models.functions import Cast, Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.deconstruct import deconstructible
from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, InvalidInput
from hub.core.texts import UNSTORABLE

LONG_TEXT = 10_000
"""The most characters of a description, a reason or a comment."""
SHORT_TEXT = 200
"""The most characters of a name or an id, where no column says less."""
MOST_NAMED = 500
"""The most names, codes or words in one list, where no service says less."""
PROMPT_TEXT = 20_000
"""The most characters of a prompt to a language model."""
CHAPTER_TEXT = 100_000
"""The most characters of an article of a guideline."""
INTEGER = 2**31 - 1
"""The most that an integer column holds."""

_JSON_BYTES, _JSON_KEYS, _JSON_DEPTH = 64 * 1024, 500, 20
_DIGITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """How large a JSON value may be that people give: UTF-8 bytes, keys and list items in all, levels."""

    size_bytes: int = _JSON_BYTES
    entries: int = _JSON_KEYS
    depth: int = _JSON_DEPTH


GIVEN_JSON = JsonLimits()
"""For metadata, settings and parameters."""
CURATED_JSON = JsonLimits(size_bytes=256 * 1024, entries=5_000)
"""For criteria, required elements, cases, and the options of a review with the codes of its check items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The least and the most that a number may be, for the schema, the model's field and the table."""

    least: float
    most: float

    def validators(self) -> list[BaseValidator]:
        """Give the validators of a model's field."""
        return [MinValueValidator(self.least), MaxValueValidator(self.most)]

    def check(self, field: str) -> CheckConstraint:
        """Give the table's constraint; no value at all is left to the field."""
        inside = Q(**{f"{field}__gte": self.least, f"{field}__lte": self.most})
        return CheckConstraint(
            condition=inside | Q(**{f"{field}__isnull": True}), name=f"%(app_label)s_%(class)s_{field}_bounds"
        )


def longest_text(field: str, most: int) -> CheckConstraint:
    """Give the table's constraint of a text field: at most ``most`` characters."""
    return CheckConstraint(
        condition=LessThanOrEqual(Length(field), most), name=f"%(app_label)s_%(class)s_{field}_length"
    )


def largest_json(field: str, limits: JsonLimits = GIVEN_JSON, *, unless: Q | None = None) -> CheckConstraint:
    """Give the table's constraint of a JSON field, ``unless`` leaves out rows that the hub itself writes.

    PostgreSQL writes numbers out and puts blanks between entries: its limit is four times that of what came in.
    """
    size = Length(Cast(field, TextField()))
    within = LessThanOrEqual(size, 4 * limits.size_bytes)
    condition = within if unless is None else unless | Q(within)
    return CheckConstraint(condition=condition, name=f"%(app_label)s_%(class)s_{field}_size")


def check_strings(value: object, path: str = "") -> None:
    """Look at every string in the JSON value at ``path``. Raises InvalidInput for one that can't be stored."""
    for at, one in _strings(value, path):
        if UNSTORABLE.search(one):
            raise unstorable(at or "body")


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}.{index}".lstrip("."))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield path, str(key)
            yield from _strings(item, f"{path}.{key}".lstrip("."))


def unstorable(field: str) -> HubError:
    """Make the refusal of a text in ``field`` that no table can keep."""
    return InvalidInput(
        _('"{field}" contains a NUL character or half of a surrogate pair, which no text may have.'),
        field=UNSTORABLE.sub("?", field),
    )


def check_json(value: object, field: str, limits: JsonLimits = GIVEN_JSON) -> None:
    """Refuse a JSON value that is too large, too deep, or has what JSON can't say. Raises InvalidInput."""
    entries = 0
    for depth, level in enumerate(levels(value)):
        if depth > limits.depth:
            raise _too_much(field, _('"{field}" is nested more than {limit} levels deep.'), limits.depth)
        entries += len(level)
        if entries > limits.entries + 1:
            raise _too_much(field, _('"{field}" has more than {limit} keys and list items.'), limits.entries)
        for one in level:
            _check_number(one, field)
    check_strings(value, field)
    if len(json.dumps(value, ensure_ascii=False).encode()) > limits.size_bytes:
        raise _too_much(field, _('"{field}" is larger than {limit} bytes.'), limits.size_bytes)


def levels(value: object) -> Iterator[Collection[object]]:
    """Yield the JSON value itself, then what is in it, then what is in that, while there is any. No recursion."""
    level: list[object] = [value]
    while level:
        yield level
        level = [inner for one in level for inner in _inside(one)]


def _inside(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_number(value: object, field: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(_('"{field}" has a number that is infinite or none at all.'), field=field)
    if isinstance(value, int) and abs(value) >= 10**_DIGITS:
        raise InvalidInput(_('"{field}" has a number with more than {digits} digits.'), field=field, digits=_DIGITS)


def _too_much(field: str, message: Any, limit: int) -> InvalidInput:  # noqa: ANN401 (a lazy translation)
    return InvalidInput(message, field=field, limit=limit)


@deconstructible
class WithinJsonLimits:
    """Validates a model's JSON field: :func:`check_json` for forms and :func:`check_row`."""

    def __init__(self, *, size_bytes: int = _JSON_BYTES, entries: int = _JSON_KEYS, depth: int = _JSON_DEPTH) -> None:
        self.limits = JsonLimits(size_bytes=size_bytes, entries=entries, depth=depth)

    def __call__(self, value: object) -> None:
        """:raises ValidationError: the value is not within the limits."""
        try:
            check_json(value, "JSON", self.limits)
        except InvalidInput as error:
            raise ValidationError(str(error)) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithinJsonLimits) and self.limits == other.limits

    def __hash__(self) -> int:
        return hash(self.limits)


def check_row(row: Model, *, only: Collection[str] | None = None) -> None:
    """Refuse a row with a value that its table can't or must not keep; ``only`` names the fields that were changed.

    Texts, numbers, choices, JSON and the model's ``clean`` are looked at. Relations and what must be unique are not:
    the caller has found the one, and the table refuses the other. No queries.

    :raises InvalidInput: with the names of the fields and what is wrong.
    """
    fields = [field for field in row._meta.concrete_fields if not field.is_relation and not field.primary_key]
    looked_at = {field.attname for field in fields if only is None or field.name in only}
    for field in fields:
        if field.attname in looked_at:
            _check_stored(field, getattr(row, field.attname))
        # Django skips it where a field may be blank
        if field.attname in looked_at and not field.null and getattr(row, field.attname) is None:
            raise InvalidInput(_('"{field}" can\'t be null.'), field=field.name)
    left_out = {field.name for field in row._meta.concrete_fields} - looked_at
    try:
        row.clean_fields(exclude=left_out)
        row.clean()
    except ValidationError as error:
        raise _invalid_row(error) from error


def _check_stored(field: Field[Any, Any], value: object) -> None:
    if not isinstance(field, JSONField):
        check_strings(value, field.name)
    for limits in (one.limits for one in field.validators if isinstance(one, WithinJsonLimits)):
        check_json(value, field.name, limits)  # before Django writes it as JSON, which ends in a RecursionError


def _invalid_row(error: ValidationError) -> InvalidInput:
    by_field = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    problems = "; ".join(f"{name}: {' '.join(lines)}".removeprefix(": ") for name, lines in by_field.items())
    return InvalidInput(_("These values can't be used: {problems}"), problems=problems, field=next(iter(by_field)))
