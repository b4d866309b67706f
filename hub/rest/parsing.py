"""Reading JSON bodies and parameters, so that what can't be used or stored is named before a handler runs."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext_lazy as _
from ninja.parser import Parser

from hub.core.bounds import check_strings, unstorable
from hub.core.strict_json import read_json
from hub.rest.errors import BadRequest, UnsupportedMediaType


class JsonParser(Parser):
    """ninja's parser with exact errors. ninja wraps what ``parse_body`` raises; hub.rest.errors unwraps it."""

    def parse_body(self, request: HttpRequest) -> Any:  # noqa: ANN401 (any JSON value)
        """Parse the JSON body.

        :raises UnsupportedMediaType: the Content-Type is not JSON (none at all is taken for JSON).
        :raises BadRequest: ``malformed_json``, with the position.
        :raises InvalidInput: a string has a character that can't be stored.
        """
        given = request.content_type
        if given and given != "application/json" and not given.endswith("+json"):
            raise UnsupportedMediaType(
                _('This call reads a body of type application/json, not "{given}".'), given=given
            )
        return parse_json(request.body)

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Flatten query, form or file parameters. :raises InvalidInput: a value has a NUL character."""
        for name, values in data.lists():
            if any(isinstance(value, str) and "\x00" in value for value in values):
                raise unstorable(name)
        return super().parse_querydict(data, list_fields, request)


def parse_json(body: bytes) -> Any:  # noqa: ANN401 (any JSON value)
    """Parse strict UTF-8 JSON (no NaN or Infinity). Errors as in :meth:`JsonParser.parse_body`."""
    try:
        value = read_json(body.decode("utf-8"))
        if b"\\u" in body:  # NUL and lone surrogates only come as escapes in UTF-8 JSON
            check_strings(value, "")
    except json.JSONDecodeError as error:
        raise _malformed(
            _("The body is not valid JSON: {reason} at line {line}, column {column}."),
            reason=error.msg,
            line=error.lineno,
            column=error.colno,
        ) from None
    except UnicodeDecodeError as error:
        raise _malformed(_("The body is not UTF-8: byte {position} can't be read."), position=error.start) from None
    except ValueError as error:
        raise _malformed(_("The body is not valid JSON: {reason}."), reason=str(error)) from None
    return value


def _malformed(message: Any, **data: object) -> BadRequest:  # noqa: ANN401 (str or lazy translation)
    return BadRequest(message, code="malformed_json", **data)
