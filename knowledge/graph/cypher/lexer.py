"""Cutting a Cypher query into tokens, so that nothing is judged by what stands in a string or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput


class Kind(StrEnum):
    WORD = "word"
    QUOTED_WORD = "quoted_word"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    SIGN = "sign"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of a query. ``text`` is as written, ``value`` without quotes, or the name of a parameter."""

    kind: Kind
    text: str
    value: str
    start: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords (upper case) outside of quotes."""
        return self.kind is Kind.WORD and self.value.upper() in words


_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n\r]*|/\*.*?\*/)
      |(?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
      |(?P<quoted>`(?:``|[^`])*`)
      |\$(?P<parameter>\w+|`(?:``|[^`])*`)
      |(?P<number>0x[0-9a-fA-F]+|(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      |(?P<word>[^\W\d]\w*)
      |(?P<sign><=|>=|<>|=~|\.\.|\+=|\|\||[-+*/%^=<>(){}\[\],.:;|&!?])""",
    re.VERBOSE | re.DOTALL,
)


def tokens_of(query: str) -> list[Token]:
    """Cut a query into tokens without blanks and comments. Raises InvalidInput at what is no token."""
    return list(_read(query))


def _read(query: str) -> Iterator[Token]:
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise InvalidInput(
                _("cypher_query: nothing is understood from character {position} on: {shown}"),
                code="invalid_cypher",
                position=position + 1,
                shown=query[position : position + 20],
            )
        position = match.end()
        if (token := _token(match)) is not None:
            yield token


def _token(match: re.Match[str]) -> Token | None:
    text, start = match.group(), match.start()
    for name, kind in (("string", Kind.STRING), ("number", Kind.NUMBER), ("word", Kind.WORD), ("sign", Kind.SIGN)):
        if match[name] is not None:
            return Token(kind=kind, text=text, value=text, start=start)
    if match["quoted"] is not None:
        return Token(kind=Kind.QUOTED_WORD, text=text, value=_unquoted(text), start=start)
    if match["parameter"] is not None:
        name = match["parameter"]
        return Token(kind=Kind.PARAMETER, text=text, value=_unquoted(name) if name[0] == "`" else name, start=start)
    return None


def _unquoted(text: str) -> str:
    return text[1:-1].replace("``", "`")
