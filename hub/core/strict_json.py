"""JSON as RFC 8259 has it: Python's reader also takes NaN, Infinity and numbers that become infinite."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def read_json(text: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Read a JSON text.

    :raises json.JSONDecodeError: it is not JSON, with the position.
    :raises ValueError: it has NaN, Infinity or a number that no float can hold, or is nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is larger than any number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
