"""Exact phrases: what stands in 「」, 『』 or quotes must occur in a passage, character by character after NFKC."""

from __future__ import annotations

import re

from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.expressions import RawSQL

from hub.access.principals import Principal
from knowledge.backends.analysis import terms_inside
from knowledge.backends.embedders.text import normalise
from knowledge.models import EmbeddingSet
from knowledge.search.lexical import chunks_with_all
from knowledge.search.scope import searchable_chunks
from knowledge.types import SearchFilter

_QUOTED = re.compile(r"「([^「」]+)」|『([^『』]+)』|\"([^\"]+)\"|[“”„]([^“”„]+)[“”]")


class _Contains(Func):
    """That a text, after NFKC, has another one in it."""

    arity = 2
    output_field = BooleanField()
    template = "strpos(normalize(%(expressions)s) > 0"
    arg_joiner = ", NFKC), "


def find_phrases(text: str) -> tuple[str, ...]:
    """Give what a question quotes, after NFKC and without outer spaces; each once.

    >>> find_phrases("「応答 時間」と\\"Ａ\\"と「」")
    ('応答 時間', 'A')
    """
    quoted = (next(group for group in found.groups() if group is not None) for found in _QUOTED.finditer(text))
    return tuple(phrase for phrase in dict.fromkeys(normalise(one).strip() for one in quoted) if phrase)


def chunks_with_phrases(
    principal: Principal, restriction: SearchFilter, embedding_set: EmbeddingSet, phrases: tuple[str, ...]
) -> Q:
    """Find the searchable chunks that have every phrase, as a condition. Up to four queries.

    The index tells which chunks may have them, so that only those texts are read; a phrase that the index can tell
    nothing of, such as a single sign, is looked for in all of them.
    """
    terms = {term for phrase in phrases for term in terms_inside(phrase)}
    chunks = searchable_chunks(principal, restriction, embedding_set)
    if terms:
        chunks = chunks.filter(among(chunks_with_all(sorted(terms), embedding_set)))
    for phrase in phrases:
        chunks = chunks.filter(_Contains(F("content"), Value(phrase)))
    return among(list(chunks.values_list("pk", flat=True)))


def among(chunk_ids: list[int]) -> Q:
    """The condition that a chunk is one of these; as one parameter, however many they are."""
    return Q(pk__in=RawSQL("SELECT unnest(%s::bigint[])", [chunk_ids]))
