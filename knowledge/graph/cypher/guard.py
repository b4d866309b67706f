"""What a query may be: its tokens, so that nothing is judged by what is in a string or a comment, and its guard."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

MAX_QUERY = 20_000
MAX_TOKENS = 5_000
MAX_NESTING = 60
OPENING = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL"})
# Clauses that write, load, or reach outside, in Cypher and its dialects, and can be inside a query. Commands such
# as EXPLAIN, SHOW or ALTER can only open one, and OPENING has none of them.
FORBIDDEN = frozenset(
    {
        "ALTER",
        "ATTACH",
        "COPY",
        "CREATE",
        "DELETE",
        "DETACH",
        "DROP",
        "FOREACH",
        "INSERT",
        "INSTALL",
        "LOAD",
        "MERGE",
        "NODETACH",
        "REMOVE",
        "SET",
        "TRANSACTIONS",
        "USE",
    }
)
PROCEDURES = frozenset(
    {
        "db.labels",
        "db.relationshiptypes",
        "db.propertykeys",
        "db.schema",
        "db.schema.visualization",
        "db.schema.nodetypeproperties",
        "db.schema.reltypeproperties",
        "pagerank",
        "degree",
        "betweenness",
        "closeness",
        "connected_components",
        "louvain",
        "label_propagation",
    }
)
# Functions are called by name and an opening bracket; those of the shipped engine that read files or embed text.
FORBIDDEN_FUNCTIONS = frozenset({"text_score", "vector_score", "text_bm25", "file", "linenumber", "read_file"})


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


def guarded(query: str) -> list[Token]:
    """Give the tokens of a query that only reads. Raises InvalidInput saying what is refused and where."""
    if not query.strip() or len(query) > MAX_QUERY or "\x00" in query:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="cypher_query", limit=MAX_QUERY)
    tokens = tokens_of(query)
    if tokens and tokens[-1].text == ";":
        tokens = tokens[:-1]
    if len(tokens) > MAX_TOKENS:
        raise _refused(_("the query is longer than {limit} words and signs"), limit=MAX_TOKENS)
    if not tokens or not tokens[0].is_word(*OPENING):
        given = tokens[0].text if tokens else ""
        raise _refused(
            _('a query begins with MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN or CALL, not "{word}"'), word=given
        )
    _check_nesting(tokens)
    for index, token in enumerate(tokens):
        _check(tokens, index, token)
    return tokens


def _check(tokens: Sequence[Token], index: int, token: Token) -> None:
    if token.text == ";":
        raise _refused(_("one query at a time, no ; inside"))
    if token.kind is not Kind.WORD:
        return
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if token.is_word(*FORBIDDEN) and not _is_name(tokens, index):
        raise _refused(_('"{word}" is not allowed: queries only read the graph'), word=token.text)
    if token.is_word("CALL") and not _is_name(tokens, index):
        _check_call(tokens, index)
    if token.is_word("UNION") and not _is_name(tokens, index):
        _check_union(tokens, index)
    if following is not None and following.text == "(" and token.value.casefold() in FORBIDDEN_FUNCTIONS:
        raise _refused(_('the function "{word}" is not allowed'), word=token.text)


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word is a property's name (n.set), which no dialect takes for a keyword."""
    before = tokens[index - 1] if index else None
    return before is not None and before.text == "." and index > 1 and tokens[index - 2].text != "."


def _check_call(tokens: Sequence[Token], index: int) -> None:
    """CALL { … } and CALL (x) { … } are subqueries; otherwise the procedure's dotted name is on the list."""
    rest = tokens[index + 1 :]
    if rest and rest[0].text in ("{", "("):
        return
    name = ""
    for token in rest:
        if token.kind not in (Kind.WORD, Kind.QUOTED_WORD) and token.text != ".":
            break
        if name and not name.endswith(".") and token.text != ".":
            break
        name += token.value
    if name.casefold() not in PROCEDURES:
        raise _refused(
            _('the procedure "{name}" is not allowed; allowed: {known}'), name=name, known=", ".join(sorted(PROCEDURES))
        )


def _check_union(tokens: Sequence[Token], index: int) -> None:
    rest = [token for token in tokens[index + 1 : index + 3] if not token.is_word("ALL", "DISTINCT")]
    if not rest or not rest[0].is_word(*OPENING):
        raise _refused(
            _('after UNION another query begins, with MATCH or RETURN, not "{word}"'), word=rest[0].text if rest else ""
        )


def _check_nesting(tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.kind is Kind.SIGN and token.text in "([{":
            depth += 1
        elif token.kind is Kind.SIGN and token.text in ")]}":
            depth -= 1
        if depth > MAX_NESTING:
            raise _refused(_("brackets are nested deeper than {limit}"), limit=MAX_NESTING)


def _refused(reason: str | StrPromise, **data: object) -> InvalidInput:
    return InvalidInput(_("cypher_query: {reason}."), code="cypher_refused", reason=format_lazy(reason, **data))
