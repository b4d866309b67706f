"""Form fields that say what is wrong with a value that nobody should send, where Django's own end in an error."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import JSONField
from django.http import HttpRequest

from hub.core.bounds import JsonLimits, WithinJsonLimits
from hub.core.strict_json import read_json

FORM_JSON = JsonLimits(size_bytes=256 * 1024, entries=5000)
"""For JSON that curators write, whose model says nothing narrower."""


class StrictDecoder(json.JSONDecoder):
    """Reads JSON as every door does; forms know one error only."""

    def decode(self, s: str, *_more: Any) -> Any:  # noqa: ANN401 (any JSON value)
        """Read a JSON text. Raises json.JSONDecodeError."""
        try:
            return read_json(s)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from error


class KeyChoiceField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """A choice of one row; what can be no key of it is shown as no choice beside the error."""

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 (Django's signature)
        """Give the key that is shown, "" for what can be none."""
        prepared = super().prepare_value(value)
        if prepared in self.empty_values:
            return prepared
        options = self.queryset.model._meta  # type: ignore[union-attr]  # set by the relation
        key: Any = options.get_field(self.to_field_name) if self.to_field_name else options.pk
        try:
            key.run_validators(key.to_python(prepared))
        except ValidationError:
            return ""
        return "" if "\x00" in str(prepared) else prepared


class GivenValuesMixin:
    """For model admins and inlines: relations and JSON are read by the fields above."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Read JSON strictly and within limits."""
        if not isinstance(db_field, JSONField):
            return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        field = super().formfield_for_dbfield(db_field, request, **{"decoder": StrictDecoder, **kwargs})  # type: ignore[misc]
        if field is not None:
            field.validators.append(WithinJsonLimits(size_bytes=FORM_JSON.size_bytes, entries=FORM_JSON.entries))
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Show no choice for what is no key."""
        return super().formfield_for_foreignkey(db_field, request, **{"form_class": KeyChoiceField, **kwargs})  # type: ignore[misc]
