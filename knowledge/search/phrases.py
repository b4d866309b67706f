"""Exact phrases: what is in 「」, 『』 or quotes must occur in a passage.

The index says which passages may have a phrase; their texts are read to be sure. Where those are very many, or the
index can tell nothing (a single sign), the texts of the passages that answer the question best are read first, and no
more of them than give both legs their candidates. Where no passage has the phrases, neighbours are read together: a
phrase may begin in one and end in the next.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.db import Error
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _
from numpy.typing import NDArray

from hub.core.database import in_one_line
from hub.core.errors import InvalidInput, Unavailable
from knowledge.index.analysis import QueryTerms, terms_inside
from knowledge.models import Chunk, EmbeddingSet
from knowledge.search.database import going_back
from knowledge.search.phrase_postings import known_of_phrases, numbers_with_most, ranked_numbers
from knowledge.search.phrase_sql import chunks_holding, chunks_sharing
from knowledge.search.postings import array_literal
from knowledge.search.reach import Reach
from knowledge.search.scope import PermittedChunks, permitted_chunks, searchable_chunks
from knowledge.search.weighing import FieldTerm, weigh_terms
from knowledge.text.folding import normalise
from knowledge.types.search import SearchFilter

logger = logging.getLogger(__name__)
MAX_PHRASES = 16
# Up to so many passages are read without asking which are the best.
READ_AT_ONCE = 2_000
# Of more, the best ones are read, until so many have the phrases, or so many have been read.
ENOUGH = 400
MOST_READ = 10_000
_ENTRIES = "SELECT chunk_id FROM knowledge_lexicalentry WHERE ordinal = ANY(%s::integer[])"
# Quotes of one kind may be in each other once; a single quote inside of a word is an apostrophe.
_QUOTED = re.compile(
    r"「((?:[^「」]|「[^「」]*+」)++)」|『((?:[^『』]|『[^『』]*+』)++)』"
    r"|[\"＂]([^\"＂]++)[\"＂]|[“”„〝]([^“”„〝〞〟]++)[“”〞〟]|«([^«»]++)»"
    r"|(?<![A-Za-z0-9])['‘’]([^'‘’]++)['’](?![A-Za-z0-9])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithPhrases:
    """The condition that a chunk is one of those found; ``is_cut`` when there may be others, less like the question.

    ``is_divided`` when none has the phrases by itself, but with the next one or the one before it. Which of
    them the caller may see is not told by it. ``is_unindexed`` when the index had no part in it, and neighbours were
    not looked at.
    """

    condition: Q
    is_cut: bool = False
    is_divided: bool = False
    is_unindexed: bool = False


def find_phrases(text: str) -> tuple[str, ...]:
    """Return what a question quotes, after NFKC and without outer spaces; each once. Quotes around quotes say no more.

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
    reach: Reach,
    restriction: SearchFilter,
    embedding_set: EmbeddingSet,
    phrases: tuple[str, ...],
    terms: QueryTerms,
) -> WithPhrases:
    """Find the searchable chunks that have every phrase, for a question of these terms. Up to 12 queries.

    All of them, as long as no more than ``READ_AT_ONCE`` may have the phrases, or the caller may search few passages.
    Otherwise the best ones. Where there are none, pairs of neighbours that have every phrase together. Without the
    index, few passages are read one by one.

    :raises Unavailable: the index can't be read, and there are many.
    """
    permitted = permitted_chunks(reach, restriction, embedding_set)
    with_all = chunks_holding(searchable_chunks(reach, restriction, embedding_set), phrases)
    try:
        with going_back():
            groups = [inside for inside in map(terms_inside, phrases) if inside]
            known = known_of_phrases(groups, embedding_set, visible=permitted.visible)
            numbers = numbers_with_most(groups, known) if groups else None
            weighed = partial(weigh_terms, terms, embedding_set, visible=permitted.visible)
            found, is_cut = _whole(with_all, permitted, numbers, weighed)
            if found or is_cut:
                return WithPhrases(condition=among(found), is_cut=is_cut)
            pairs = chunks_sharing(phrases, groups, known)
    except Error as error:
        logger.error("the index can't tell where phrases are: %s", in_one_line(error))
        if not permitted.is_small:
            raise Unavailable(
                _("Quoted phrases can't be looked for at the moment. Leave the quotes out."), code="phrases_unavailable"
            ) from error
        return WithPhrases(condition=among(list(with_all.values_list("pk", flat=True))), is_unindexed=True)
    return WithPhrases(condition=among(pairs), is_divided=bool(pairs))


def _whole(
    with_all: QuerySet[Chunk],
    permitted: PermittedChunks,
    numbers: NDArray[np.int32] | None,
    weighed: Callable[[], list[FieldTerm]],
) -> tuple[list[int], bool]:
    """Find the keys of chunks that have the phrases by themselves, among some numbers or all, and if others may.

    ``weighed`` gives the question's terms, where the best ones are to be read.
    """
    if numbers is not None and numbers.size <= READ_AT_ONCE:
        return _read(with_all, numbers), False
    if permitted.is_small:
        found = with_all if numbers is None else with_all.filter(_numbered(numbers))
        return list(found.values_list("pk", flat=True)), False
    best = ranked_numbers(weighed(), MOST_READ + 1, among=numbers)
    keys: list[int] = []
    for batch in (best[:READ_AT_ONCE], best[READ_AT_ONCE:MOST_READ]):
        keys += _read(with_all, batch)
        if len(keys) >= ENOUGH:
            return keys, True
    return keys, numbers is None or best.size > MOST_READ


def among(chunk_ids: list[int]) -> Q:
    """The condition that a chunk is one of these; as one parameter, however many they are."""
    return Q(pk__in=RawSQL("SELECT unnest(%s::bigint[])", [chunk_ids]))


def _read(with_all: QuerySet[Chunk], numbers: NDArray[np.signedinteger]) -> list[int]:
    """Return those that have the phrases. One query, none for no numbers."""
    return list(with_all.filter(_numbered(numbers)).values_list("pk", flat=True)) if numbers.size else []


def _numbered(numbers: NDArray[np.signedinteger]) -> Q:
    return Q(pk__in=RawSQL(_ENTRIES, [array_literal(numbers.tolist())]))  # noqa: S611 - no text of a caller's
