"""Exact phrases: what stands in 「」, 『』 or quotes must occur in a passage.

Compared after NFKC, whatever the case of letters, and however lines are broken: white space counts only between two
letters or digits of ASCII, as between English words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.db.models import BooleanField, F, Func, Q, TextField, Value
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput
from knowledge.backends.analysis import terms_inside
from knowledge.backends.embedders.text import normalise
from knowledge.models import EmbeddingSet
from knowledge.search.lexical import chunks_with_most
from knowledge.search.scope import searchable_chunks
from knowledge.types import SearchFilter

MAX_PHRASES = 16
# Quotes of one kind may stand in each other once; a single quote inside of a word is an apostrophe.
_QUOTED = re.compile(
    r"「((?:[^「」]|「[^「」]*+」)++)」|『((?:[^『』]|『[^『』]*+』)++)』"
    r"|[\"＂]([^\"＂]++)[\"＂]|[“”„〝]([^“”„〝〞〟]++)[“”〞〟]|«([^«»]++)»"
    r"|(?<![A-Za-z0-9])['‘’]([^'‘’]++)['’](?![A-Za-z0-9])"
)


class _Squeezed(Func):
    """A text as phrases are compared: folded, without white space but between words of ASCII."""

    arity = 1
    output_field = TextField()
    template = (
        r"regexp_replace(regexp_replace(lower(normalize(%(expressions)s, NFKC)), '\s+', ' ', 'g'), "
        r"'(?<![a-z0-9]) | (?![a-z0-9])', '', 'g')"
    )


class _Contains(Func):
    """That a text has another one in it."""

    arity = 2
    output_field = BooleanField()
    template = "strpos(%(expressions)s) > 0"


def find_phrases(text: str) -> tuple[str, ...]:
    """Give what a question quotes, after NFKC and without outer spaces; each once. Quotes around quotes say no more.

    >>> find_phrases("「応答 時間」と\\"Ａ\\"と「『版』」と「」")
    ('応答 時間', 'A', '版')

    :raises InvalidInput: there are more than ``MAX_PHRASES``.
    """
    phrases = tuple(phrase for phrase in dict.fromkeys(normalise(one).strip() for one in _quoted(text)) if phrase)
    if len(phrases) > MAX_PHRASES:
        raise InvalidInput(
            _("query: expected at most {limit} phrases in quotes, got {given}. Leave the quotes out."),
            field="query",
            limit=MAX_PHRASES,
            given=len(phrases),
        )
    return phrases


def _quoted(text: str) -> Iterator[str]:
    for found in _QUOTED.finditer(text):
        phrase = next(group for group in found.groups() if group is not None)
        inner = _QUOTED.fullmatch(phrase.strip())
        yield next(group for group in inner.groups() if group is not None) if inner else phrase


def chunks_with_phrases(
    principal: Principal, restriction: SearchFilter, embedding_set: EmbeddingSet, phrases: tuple[str, ...]
) -> Q:
    """Find the searchable chunks that have every phrase, as a condition. Up to four queries.

    The index tells which chunks may have them, so that only those texts are read; a phrase that the index can tell
    nothing of, such as a single sign, is looked for in all of them.
    """
    chunks = searchable_chunks(principal, restriction, embedding_set)
    told = [sorted(terms) for terms in map(terms_inside, phrases) if terms]
    if told:
        chunks = chunks.filter(among(chunks_with_most(told, embedding_set)))
    for phrase in phrases:
        chunks = chunks.filter(_Contains(_Squeezed(F("content")), _Squeezed(Value(phrase))))
    return among(list(chunks.values_list("pk", flat=True)))


def among(chunk_ids: list[int]) -> Q:
    """The condition that a chunk is one of these; as one parameter, however many they are."""
    return Q(pk__in=RawSQL("SELECT unnest(%s::bigint[])", [chunk_ids]))
