"""From what people write to what the engine reads: Japanese type names, and names outside of ASCII."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge.graph.cypher.guard import Kind, Token
from knowledge.graph.reading import name_key

_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """A query in the engine's own words. ``names`` says what is in results in place of what was written."""

    query: str
    names: Mapping[str, str]
    parameters: Mapping[str, str]

    def written(self, column: str) -> str:
        """A column's name as the caller wrote it."""
        for name, original in self.names.items():
            column = column.replace(name, original)
        return column


def translate(tokens: Sequence[Token], labels: Mapping[str, str]) -> Translated:
    """Put codes for type names and ASCII names for others; ``labels`` gives codes by the keys of names.

    A type's name counts where a label is: after ``:``, or after ``|``, ``&`` and ``!`` of one. Properties keep
    their names, in backticks. Shortest paths beside other patterns become clauses of their own.
    """
    words: list[str] = []
    end = 0
    tokens = with_paths_apart(tokens)
    names: dict[str, str] = {}
    parameters: dict[str, str] = {}
    for index, token in enumerate(tokens):
        # blanks and comments are one blank: columns without an alias are called what is written
        words.append(" " if token.start != end else "")
        words.append(_word(tokens, index, token, labels, names, parameters))
        end = token.start + len(token.text)
    return Translated(
        query="".join(words),
        names={short: original for original, short in names.items()},
        parameters={short: original for original, short in parameters.items()},
    )


_PATHS = frozenset({"shortestpath", "allshortestpaths"})


def with_paths_apart(tokens: Sequence[Token]) -> list[Token]:
    """Put each shortest path of a MATCH with several patterns into a MATCH of its own, after the others.

    ``MATCH (a), (b), p = shortestPath((a)-[*]-(b))`` is openCypher; the engine wants the ends matched before.
    """
    found = list(tokens)
    for at in range(len(found) - 1, -1, -1):
        if found[at].text.upper() != "MATCH" or found[at].kind is not Kind.WORD:
            continue
        if at and found[at - 1].text.upper() == "OPTIONAL":
            continue
        patterns, end = _patterns(found, at + 1)
        paths = [each for each in patterns if _is_path(each)]
        if not paths or len(patterns) < 2:
            continue
        plain = [each for each in patterns if not _is_path(each)]
        apart: list[Token] = [found[at], *_with_commas(plain)] if plain else []
        for path in paths:
            apart += [replace(found[at], start=-1), *path]
        found[at:end] = apart
    return found


def _patterns(tokens: Sequence[Token], start: int) -> tuple[list[list[Token]], int]:
    """The patterns of the MATCH that begins before ``start``, and where they end."""
    patterns: list[list[Token]] = [[]]
    depth, at = 0, start
    while at < len(tokens):
        token = tokens[at]
        depth += (token.text in _OPENING) - (token.text in _CLOSING) if token.kind is Kind.SIGN else 0
        if depth < 0 or token.text == ";" or (depth == 0 and _ends_patterns(tokens, at)):
            break
        if depth == 0 and token.text == ",":
            patterns.append([])
        else:
            patterns[-1].append(token)
        at += 1
    return patterns, at


_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def _ends_patterns(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word outside of brackets is the next clause: no path's name, and not the function of a path."""
    if tokens[at].kind not in (Kind.WORD, Kind.QUOTED_WORD):
        return False
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return after != "=" and not (tokens[at].text.lower() in _PATHS and after == "(")


def _is_path(pattern: Sequence[Token]) -> bool:
    return any(token.kind is Kind.WORD and token.text.lower() in _PATHS for token in pattern[:3])


def _with_commas(patterns: Sequence[Sequence[Token]]) -> Iterator[Token]:
    for number, pattern in enumerate(patterns):
        if number:
            yield Token(kind=Kind.SIGN, text=",", value=",", start=-1)
        yield from pattern


def _word(
    tokens: Sequence[Token],
    index: int,
    token: Token,
    labels: Mapping[str, str],
    names: dict[str, str],
    parameters: dict[str, str],
) -> str:
    if token.kind is Kind.PARAMETER:
        return "$" + parameters.setdefault(token.value, f"p_{len(parameters)}")
    if token.kind is Kind.STRING:
        return _ESCAPE.sub(_character, token.text)
    if token.kind not in (Kind.WORD, Kind.QUOTED_WORD):
        return token.text
    if _is_label(tokens, index):
        return labels.get(name_key(token.value)) or _plain(token, names)
    if token.value.isascii() or _is_property(tokens, index):
        return token.text if token.value.isascii() else f"`{token.value}`"
    return _plain(token, names)


def _character(match: re.Match[str]) -> str:
    """An escaped code point as itself: engines that resolve escapes before they look for quotes must find none."""
    if match["code"] is None:
        return match.group()
    character = chr(int(match["code"], 16))
    return "\\" + character if character in "'\"\\" else character


def _plain(token: Token, names: dict[str, str]) -> str:
    if token.value.isascii():
        return token.text
    return names.setdefault(token.value, f"hub_name_{len(names)}")


def _is_property(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word names a property: after a dot, or as the key of a map."""
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return before == "." or (after == ":" and before in ("{", ","))


def _is_label(tokens: Sequence[Token], index: int) -> bool:
    at = index - 1
    while at >= 1 and tokens[at].text in ("|", "&") and tokens[at - 1].kind in (Kind.WORD, Kind.QUOTED_WORD):
        at -= 2  # further labels of the same pattern: A|B, A&B
    while at >= 1 and tokens[at].text == "!":
        at -= 1
    return at >= 0 and tokens[at].text == ":" and not (at >= 1 and _in_map(tokens, at - 1))


def _in_map(tokens: Sequence[Token], key: int) -> bool:
    before = tokens[key - 1].text if key else ""
    return before in ("{", ",") and _innermost(tokens, key) == "{"


def _innermost(tokens: Sequence[Token], index: int) -> str:
    depth = 0
    for token in reversed(tokens[:index]):
        if token.kind is not Kind.SIGN:
            continue
        if token.text in ")]}":
            depth += 1
        elif token.text in "([{":
            if depth == 0:
                return token.text
            depth -= 1
    return ""
