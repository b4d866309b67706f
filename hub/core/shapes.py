"""Shapes of answers, filled from the attributes of rows and of other objects."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator

Shape = TypeVar("Shape", bound=BaseModel)

TextOrNone = Annotated[str | None, BeforeValidator(lambda text: text or None)]
"""A text that is null in answers where it is empty."""


def filled(shape: type[Shape], source: object, **others: object) -> Shape:
    """Return a shape with the attributes of ``source`` that its fields are named after; ``others`` go before those.

    Shapes within it are filled from the attributes of what stands there, too. A field that neither has takes its
    default; raises pydantic's ValidationError for one without.
    """
    names = [name for name in shape.model_fields if name not in others and hasattr(source, name)]
    return shape.model_validate({name: getattr(source, name) for name in names} | others, from_attributes=True)
