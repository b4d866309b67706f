"""Which passages may answer a caller's question: permissions, current versions and filters, as one subquery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from time import monotonic
from typing import Any

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import BooleanField, F, Func, Q, QuerySet, TextField, Value
from django.utils import timezone
from numpy.typing import NDArray

from hub.access.principals import Classification
from hub.core.routing import read_connection
from knowledge.index.active_embedder import chunks_of
from knowledge.models import Chunk, EmbeddingSet, LexicalField
from knowledge.search.database import INTEGER, read_columns
from knowledge.search.postings import array_literal
from knowledge.search.reach import Reach
from knowledge.search.visible import VisibleVersions, visible_versions
from knowledge.text.folding import normalise
from knowledge.text.numbering import heading_number
from knowledge.text.numerals import DIGITS, MOST_WRITTEN, TENS, write_numeral
from knowledge.types.search import SearchFilter

_NUMBER_ALONE = re.compile(r"[0-9]+(?:\.[0-9]+)*\.?|\([0-9]+\)|[A-Z](?:\.[0-9]+)*|第\S+[編部章節款項条]")

# What is before the words of a heading: 8.2, 第3章, (1), A.
_ANY_NUMBER = r"(第\s*[^\s()]+[編部章節款項条]|[0-9]+([.-][0-9]+)*\.?|\([0-9]+\)|[A-Z]([.-][0-9]+)*[.\s])"

_COUNT = "SELECT count(*) FROM ({permitted} LIMIT %s) AS permitted"
# Of what is not in the lexical index yet the number is 0.
_NUMBERS = """
SELECT coalesce(e.ordinal, 0) AS ordinals
FROM ({permitted} LIMIT %s) AS permitted (id) LEFT JOIN knowledge_lexicalentry e ON e.chunk_id = permitted.id
"""
# The statistics of one field count each indexed chunk once.
_ARE_FEW = """
WITH most AS MATERIALIZED (
  SELECT least(%s, coalesce(sum(chunks), 0) / %s)::bigint AS chunks FROM knowledge_lexicalstatistics
  WHERE field = %s AND (policy_id IS NULL OR policy_id = %s)
)
SELECT count(*) <= (SELECT chunks FROM most)
FROM ({permitted} LIMIT (SELECT chunks FROM most) + 1) AS permitted
"""


_HOW_MANY_OF = "SELECT count(*) FROM knowledge_chunk c WHERE c.id = ANY(%s::bigint[]) AND c.id IN ({permitted})"

# Up to so many permitted chunks both legs look at all of them: that is exact, and faster than a filtered walk through
# an index or through postings.
SMALL = 10_000
# Up to so many, and up to one of so many of all chunks of a set, the vector leg compares all that are permitted: a walk
# would have to keep many times more candidates to find as many that are permitted, and still miss some.
COMPARED = 150_000
COMPARED_ONE_OF = 4
# Where there is no filter, how many they are is counted again after so long; it decides on the plan alone.
_ROUGH_S = 60
_REMEMBERED = 256

_NO_FILTER = SearchFilter()
_Compiled = tuple[str, tuple[Any, ...], bool]  # statement, parameters, whether it is known to give nothing


@dataclass(slots=True)
class PermittedChunks:
    """A SELECT of the ids of the passages that may answer; ``is_empty`` when that is known without asking.

    ``is_filtered`` when the caller asked for some of what they may search, ``is_everything`` when for all of it.
    ``policy_id`` is that of the set, by which its chunks are counted. With ``for_words`` they are counted by reading
    their numbers in the lexical index, which are asked for then. ``has_index`` unless that can't be read. Words are
    counted in the ``visible`` versions, whatever the filter, and in all where nothing is hidden from the caller (None).
    ``reach`` is what the caller may search, None where all passages that the statement gives may be shown.
    """

    sql: str
    params: tuple[Any, ...]
    is_empty: bool = False
    is_filtered: bool = False
    is_everything: bool = False
    policy_id: int = 0
    for_words: bool = False
    has_index: bool = True
    visible: VisibleVersions | None = None
    reach: Reach | None = None
    _count: int | None = None
    _numbers: NDArray[np.int64] | None = None
    _is_comparable: bool | None = None

    @property
    def count(self) -> int:
        """How many they are, ``SMALL`` + 1 standing for more. One query, the first time."""
        if self._count is None:
            self._count = 0 if self.is_empty else self._counted()
        return self._count

    @property
    def is_small(self) -> bool:
        """Return whether looking at all of them is the better plan. One query at most, the first time."""
        key = (SMALL, self.sql, self.params)
        if self._count is None and self.is_everything and _many_until.get(key, 0.0) > monotonic():
            return False
        is_small = self.count <= SMALL
        if self.is_everything and not is_small:
            if len(_many_until) >= _REMEMBERED:
                _many_until.clear()
            _many_until[key] = monotonic() + _ROUGH_S
        return is_small

    @property
    def is_comparable(self) -> bool:
        """Return whether comparing all of their vectors is the better plan. Up to two queries, the first time."""
        if self._is_comparable is None:
            ask = _roughly_few if self.is_everything else _are_few
            limits = (COMPARED, COMPARED_ONE_OF, int(monotonic() // _ROUGH_S))
            self._is_comparable = self.is_small or (
                self.has_index and ask(self.sql, self.params, self.policy_id, *limits)
            )
        return self._is_comparable

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers in the lexical index of them all, where they are small. One query, the first time."""
        if self._numbers is None:
            self._numbers = self._read_numbers()
        return self._numbers[self._numbers > 0]

    def _counted(self) -> int:
        if self.for_words and self.has_index:
            self._numbers = self._read_numbers()
            return self._numbers.size
        with read_connection().cursor() as cursor:
            cursor.execute(_COUNT.format(permitted=self.sql), [*self.params, SMALL + 1])
            return int(cursor.fetchone()[0])

    def _read_numbers(self) -> NDArray[np.int64]:
        sql = _NUMBERS.format(permitted=self.sql)
        return read_columns(sql, [*self.params, SMALL + 1], {"ordinals": INTEGER})["ordinals"]


def _are_few(sql: str, params: tuple[Any, ...], policy_id: int, most: int, one_of: int, _minute: int) -> bool:
    with read_connection().cursor() as cursor:
        cursor.execute(_ARE_FEW.format(permitted=sql), [most, one_of, LexicalField.WORD.value, policy_id, *params])
        return bool(cursor.fetchone()[0])


def are_all_permitted(chunk_ids: NDArray[np.int64], permitted: PermittedChunks) -> bool:
    """Ask the primary, in the running transaction, whether all of some chunks are there and may be shown. One query."""
    if not chunk_ids.size:
        return True
    with connection.cursor() as cursor:
        given = [array_literal(chunk_ids.tolist()), *permitted.params]
        cursor.execute(_HOW_MANY_OF.format(permitted=permitted.sql), given)
        return bool(cursor.fetchone()[0] == chunk_ids.size)


# The statements that gave more than so many, and when they are to be counted again.
_many_until: dict[tuple[object, ...], float] = {}


# Counting takes as long as the rest of a search.
_roughly_few = lru_cache(maxsize=256)(_are_few)


def searchable_chunks(reach: Reach, restriction: SearchFilter, embedding_set: EmbeddingSet) -> QuerySet[Chunk]:
    """A set's chunks of the current versions of live documents the caller may search, as far as the filter goes.

    Collections, documents and types that do not exist, or that the caller may not see, simply match nothing.
    """
    documents = reach.documents()
    if restriction.collections:
        documents = documents.filter(collection__slug__in=restriction.collections)
    if restriction.document_ids:
        documents = documents.filter(public_id__in=restriction.document_ids)
    if restriction.document_types:
        documents = documents.filter(document_type_id__in=restriction.document_types)
    if restriction.metadata:
        documents = documents.filter(metadata__contains=dict(restriction.metadata))
    if restriction.classifications:
        levels = [Classification[name.upper()] for name in restriction.classifications]
        documents = documents.filter(classification__in=levels)
    documents = documents.filter(*_dates(restriction))
    chunks = Chunk.objects.filter(chunks_of(embedding_set), version__in=documents.values("current_version_id"))
    if restriction.language:
        chunks = chunks.filter(language=restriction.language.lower())
    if restriction.section_path:
        titles = restriction.section_path
        patterns = Value([section_pattern(title) for title in titles], output_field=ArrayField(TextField()))
        matches = _SectionPathMatches(F("section_path"), patterns, Value(is_number_alone(titles[0])))
        chunks = chunks.filter(matches)
    return chunks


def permitted_chunks(
    reach: Reach,
    restriction: SearchFilter,
    embedding_set: EmbeddingSet,
    *,
    within: Q | None = None,
    for_words: bool = False,
) -> PermittedChunks:
    """Compile `searchable_chunks`, as far as they lie ``within`` a further condition, for use inside a leg's query.

    ``for_words`` says that the lexical leg will ask, too.
    """
    if not within and restriction == _NO_FILTER:
        everything = _all_permitted(reach, embedding_set, embedding_set.policy_id)
        return PermittedChunks(
            *everything,
            is_everything=True,
            for_words=for_words,
            visible=visible_versions(reach),
            reach=reach,
        )
    chunks = searchable_chunks(reach, restriction, embedding_set).filter(within or Q())
    return PermittedChunks(
        *_compiled(chunks),
        is_filtered=restriction != _NO_FILTER,
        policy_id=embedding_set.policy_id,
        for_words=for_words,
        visible=visible_versions(reach),
        reach=reach,
    )


@lru_cache(maxsize=256)
def _all_permitted(reach: Reach, embedding_set: EmbeddingSet, _policy_id: int) -> _Compiled:
    """Compile what a caller may search at all: the statement says where, and everything else is looked up by it.

    Most searches have no filter, and compiling takes longer than anything else in them but SQL and the model.
    """
    return _compiled(searchable_chunks(reach, _NO_FILTER, embedding_set))


def _compiled(chunks: QuerySet[Chunk]) -> _Compiled:
    try:
        sql, params = chunks.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return "SELECT NULL::bigint AS id WHERE false", (), True
    return sql, tuple(params), False


def _dates(restriction: SearchFilter) -> Iterator[Q]:
    for field in ("created", "updated"):
        first, last = getattr(restriction, f"{field}_from"), getattr(restriction, f"{field}_to")
        if first is not None:
            yield Q(**{f"{field}_at__gte": moment_of(first)})
        if last is not None:
            yield Q(**{f"{field}_at__lt": end}) if (end := first_after(last)) else Q()


def first_after(last: date) -> datetime | None:
    """Return the moment that comes next after a time or a whole day; None at the calendar's end."""
    step = timedelta(microseconds=1) if isinstance(last, datetime) else timedelta(days=1)
    try:
        return moment_of(last + step)
    except OverflowError:
        return None


def moment_of(given: date) -> datetime:
    """Read a day as its beginning, and a time without a zone, in the hub's time zone."""
    moment = given if isinstance(given, datetime) else datetime.combine(given, time.min)
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


def section_pattern(title: str) -> str:
    """Make PostgreSQL's regular expression for a heading: its text (NFKC), with or without its number, or that alone.

    >>> [bool(re.search(section_pattern(given), "8. 非機能設計")) for given in ("非機能設計", "機能設計")]
    [True, False]
    >>> bool(re.search(section_pattern("3.2"), "3.2 性能")), bool(re.search(section_pattern("3.2"), "3.20 保守"))
    (True, False)
    """
    text = normalise(title).strip()
    if not is_number_alone(text):
        return rf"^\s*({_ANY_NUMBER}\s*)?\(?{_quote(text)}\)?\s*$"
    number = heading_number(f"{text} x") or text.rstrip(".")
    spellings = [_quote(number).replace(r"\.", "[.-]")]
    if number.isdigit() and 1 <= int(number) <= MOST_WRITTEN:
        spellings.append(write_numeral(int(number)))  # 第十二章
    return rf"^\s*(第\s*)?({'|'.join(spellings)})($|[^0-9A-Za-z{DIGITS}{TENS}.-]|[.-]($|[^0-9]))"


def is_number_alone(text: str) -> bool:
    """Return whether a filter's entry is the number of a heading without its words."""
    return _NUMBER_ALONE.fullmatch(normalise(text).strip()) is not None


def _quote(text: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", text)


class _SectionPathMatches(Func):
    """Consecutive headings from the top; a number alone in the first place is found at any depth."""

    arity = 3
    output_field = BooleanField()
    template = (
        "EXISTS (SELECT FROM (SELECT %(expressions)s) AS given (path, patterns, any_depth), "
        "generate_subscripts(given.path, 1) AS top WHERE (given.any_depth OR top = 1) AND NOT EXISTS ("
        "SELECT FROM generate_subscripts(given.patterns, 1) AS step WHERE "
        "coalesce(normalize(given.path[top + step - 1], NFKC) !~ given.patterns[step], true)))"
    )
