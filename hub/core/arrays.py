"""Conditions on arrays, for queries."""

from __future__ import annotations

from django.db.models import BooleanField, Func


class IsAnyOf(Func):
    """Whether a value is in an array: a column, a subquery's rows, or thousands of values as one parameter.

    ``IN`` takes a parameter for each value; and how many rows a subquery in ``IN`` keeps, PostgreSQL guesses as if each
    row of its table were as likely, where of an array it goes by how the column's values are spread.
    """

    arity = 2
    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = BooleanField()
