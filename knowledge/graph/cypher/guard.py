"""What a query may do: read. Everything else is refused before anybody runs it, by an allow list of clauses.

The checks work on tokens, so that strings, names in backticks and comments neither hide nor feign anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from knowledge.graph.cypher.lexer import Kind, Token, tokens_of

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

MAX_QUERY = 20_000
MAX_TOKENS = 5_000
MAX_NESTING = 60
OPENING = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL"})
# Clauses that write, load, or reach outside, in Cypher and its dialects, and can stand inside a query. Commands such
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
