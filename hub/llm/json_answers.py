"""Read the JSON that a model was asked for, and check it."""

from __future__ import annotations

import json
import re
from typing import Any

from django.utils.translation import gettext_lazy as _
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from hub.core.bounds import check_strings
from hub.core.errors import InvalidInput
from hub.llm.errors import LlmInvalidAnswer
from hub.llm.types import AnswerSchema

_FENCE = re.compile(r"\A\s*+```(?:json)?+\s*+(?<=\n)(.*?)\n?```\s*+\Z", re.DOTALL | re.IGNORECASE)
# Bounds that endpoints refuse in a strict schema. Source: OpenAI, "Structured Outputs", supported schemas.
_NOT_STRICT = frozenset({"minLength", "maxLength"})


def read_answer(text: str, schema: AnswerSchema) -> Any:  # noqa: ANN401 - any JSON value
    """Parse an answer, with or without a code fence around it, and hold it against the schema.

    :raises LlmInvalidAnswer: code ``llm_invalid_json`` or ``llm_wrong_schema``; the message says where, not what.
    """
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise LlmInvalidAnswer(
            _("The language model's answer is not JSON ({reason})."),
            code="llm_invalid_json",
            text=text,
            reason=str(error)[:100],
        ) from error
    try:
        check_strings(data, "answer")
    except InvalidInput as error:
        raise LlmInvalidAnswer(
            _("The language model's answer has characters that can't be stored (NUL, half of a surrogate pair)."),
            code="llm_unstorable",
            text=text,
        ) from error
    problem = best_match(Draft202012Validator(schema.schema).iter_errors(data))
    if problem is not None:
        raise LlmInvalidAnswer(
            _('The language model\'s answer has not the form that was asked for: "{rule}" does not hold at {place}.'),
            code="llm_wrong_schema",
            text=text,
            rule=problem.validator,
            place=problem.json_path,
        )
    return data


def strict_schema(schema: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Leave out of a schema what endpoints refuse when they hold a model to it; the answer is checked in full."""
    if isinstance(schema, dict):
        return {key: strict_schema(value) for key, value in schema.items() if key not in _NOT_STRICT}
    return [strict_schema(item) for item in schema] if isinstance(schema, list) else schema


def describe_schema(schema: AnswerSchema) -> str:
    """Tell a model in words to answer in a schema, for endpoints that can't be held to one."""
    written = json.dumps(schema.schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else, no code fence. It must meet this JSON schema:\n{written}"
