"""Model fields of what people give: bounded in forms, in ``check_row`` and in every write that goes past both.

The table has the same bound by :func:`longest_text`, :func:`most_items` or :func:`largest_json` in its model's Meta.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.validators import ArrayMaxLengthValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CheckConstraint, Field, JSONField, Q, TextField

from hub.core.bounds import GIVEN_JSON, LONG_TEXT, MOST_NAMED, JsonLimits, WithinJsonLimits
from hub.core.errors import InvalidInput

ST = TypeVar("ST")
GT = TypeVar("GT")


class _Given(Field[ST, GT]):
    """Runs the field's validators before a value is written: by save, update, bulk_create and bulk_update alike."""

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:  # noqa: ANN401 (Django's)
        """:raises InvalidInput: the value is larger than the field takes."""
        if not hasattr(value, "resolve_expression"):
            try:
                self.run_validators(value)
            except ValidationError as error:
                named = f"{self.model._meta.verbose_name}: {self.verbose_name}"
                problem = " ".join(error.messages)
                raise InvalidInput("{named}: {problem}", field=self.name, named=named, problem=problem) from error
        return super().get_db_prep_save(value, connection)


class GivenText(_Given[ST, GT], TextField[ST, GT]):
    """A text of at most ``max_length`` characters."""

    def __init__(self, verbose_name: Any = None, *, max_length: int = LONG_TEXT, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(verbose_name, max_length=max_length, **kwargs)
        self.validators.append(MaxLengthValidator(max_length))


class GivenList(_Given[ST, GT], ArrayField[ST, GT]):
    """A list of at most ``most`` items; ``base_field`` has their own bound."""

    def __init__(self, base_field: Field[Any, Any], *, most: int = MOST_NAMED, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(base_field, **kwargs)
        self.most = most
        self.validators.append(ArrayMaxLengthValidator(most))

    def deconstruct(self) -> Any:  # noqa: ANN401 (Django's)
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs | {"most": self.most}


class GivenJson(_Given[ST, GT], JSONField[ST, GT]):
    """A JSON value within ``limits``."""

    def __init__(self, verbose_name: Any = None, *, limits: JsonLimits = GIVEN_JSON, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(verbose_name, **kwargs)
        self.limits = limits
        within = WithinJsonLimits(size_bytes=limits.size_bytes, entries=limits.entries, depth=limits.depth)
        self.validators.append(within)


def most_items(field: str, most: int = MOST_NAMED) -> CheckConstraint:
    """Give the table's constraint of a list: at most ``most`` items."""
    return CheckConstraint(condition=Q(**{f"{field}__len__lte": most}), name=f"%(app_label)s_%(class)s_{field}_items")
