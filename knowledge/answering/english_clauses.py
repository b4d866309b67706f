"""The clauses of an English text, told by the words that join and begin them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.answering.clauses import ACTED_ON, ACTS, Clause, Party, words_in

_JOINS = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z])|[;\n]\s*"
    r"|(?:,\s+|(?<![\s,])\s+)(?:and(?! \d)|but|while|whereas|although|though|yet)\s+(?:then\s+)?"
    r"|,\s+(?=(?:which|who|whose|where|when|then)\b)"
)
_NO_NAMES = """
be: is are was were be been being
auxiliary: has have had will would shall should can could may might must do does did
before: in on at by from after before during since until with within for under over through between when if as once
before: because according following despite upon to of
determiner: the a an its his her their our your each every all both some any no
pronoun: it he she they we i you which who whose where there this that these those then what
"""
_WORDS = [(kind, words.split()) for kind, _colon, words in (line.partition(":") for line in _NO_NAMES.splitlines())]
_BE, _AUXILIARIES, _BEFORE, _DETERMINERS, _PRONOUNS = (
    frozenset(word for one, words in _WORDS if one in kinds for word in words)
    for kinds in (("be",), ("be", "auxiliary"), ("before",), ("determiner",), ("pronoun",))
)
_WORD = re.compile(r"[^\s,()\"“”]+|,")
_PARTICIPLE = r"\w*(?:ed|en|wn|ne|lt|pt|ld|id|nt|ght|ck|un|ut|et|st)"
_PASSIVE = re.compile(rf"\b(?:{'|'.join(sorted(_BE))})\s+(?:(?:not|\w+ly)\s+)?{_PARTICIPLE}\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<!by )(?P<name>\b[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*|(?<=\bthe )[a-z][\w'-]*)")
_BY = re.compile(
    r"\bby\s+(?:(?:the|an?|its|his|her|their)\s+)?"
    r"(?P<name>[A-Z][\w'’.-]*(?:\s+[A-Z][\w'’.-]*)*|(?!\w+ing\b)[a-z][\w'-]*)"
)


def english_clauses(text: str) -> list[Clause]:
    """Return the clauses of an English text, its capitals as they are; without a subject it has the one before.

    >>> [(one.text, [sorted(p.words) for p in one.parties]) for one in english_clauses("The owner signs it and pays.")]
    [('The owner signs it', [['オーナー']]), ('pays.', [])]
    """
    found: list[Clause] = []
    before: tuple[Party, ...] = ()
    for piece in (piece for piece in _JOINS.split(text) if piece.strip()):
        subject, acts = _subject_of(piece)
        parties = tuple(_parties(piece, subject))
        own = parties[:1] if subject else ()
        lent = [] if own else list(before)
        found.append(Clause(text=piece, parties=parties, acts=acts, beside=_beside(piece, subject), lent=lent))
        before = own or before
    return found


def _parties(piece: str, subject: frozenset[str]) -> Iterator[Party]:
    is_passive = _PASSIVE.search(piece) is not None
    if subject:
        yield Party(role=ACTED_ON if is_passive else ACTS, words=subject)
    by = _BY.search(piece) if is_passive else None
    if by and (words := words_in(by["name"])):
        yield Party(role=ACTS, words=words)


def _beside(piece: str, subject: frozenset[str]) -> tuple[frozenset[str], ...]:
    """The names behind the subject of a clause that says what somebody does; none where it says what something is."""
    is_passive = _PASSIVE.search(piece) is not None
    if not is_passive and any(word.casefold() in _BE for word in _WORD.findall(piece)):
        return ()
    names = (words_in(found["name"]) for found in _NAMED.finditer(piece))
    return tuple(name for name in names if name and not name <= subject)


def _subject_of(piece: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of what a clause begins with, behind an adverbial and its comma, and of the verb behind that.

    None where a verb or pronoun begins it; the verb of something that only is is none.
    """
    words = _WORD.findall(piece)
    if words and words[0].casefold() in _BEFORE:
        words = words[words.index(",") + 1 :] if "," in words else []
    has_article = bool(words) and words[0].casefold() in _DETERMINERS
    words = words[1:] if has_article else words
    length = next((at for at, word in enumerate(words) if _ends_name(word)), len(words))
    if length and not (length < len(words) and words[length].casefold() in _AUXILIARIES):
        capitals = next((at for at, word in enumerate(words[:length]) if not word[:1].isupper()), length)
        length = capitals or (max(1, length - 1) if has_article else 0)
    behind = (word for word in words[length:] if word.casefold() not in _AUXILIARIES and not word.endswith("ly"))
    verb = next(behind, "")
    acts = frozenset() if _ends_name(verb) else words_in(verb)
    return words_in(" ".join(words[:length])), acts


def _ends_name(word: str) -> bool:
    folded = word.casefold()
    return folded in _AUXILIARIES | _BEFORE | _DETERMINERS | _PRONOUNS | {",", "not"}
