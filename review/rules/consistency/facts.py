"""The table of facts of a document: what it says of which thing, how much or when or who, where, on what conditions.

Facts are read from table cells under their headers, labelled lines, and sentences. Two facts with the same ``about``
and ``conditions`` speak of one thing; `contradictions` compares them.
"""

from __future__ import annotations

from functools import lru_cache

from knowledge.types.documents import Block, Section
from review.rules.consistency.fact_cells import facts_of_lines, facts_of_rows
from review.rules.consistency.fact_identifiers import facts_of_identifiers
from review.rules.consistency.fact_lists import facts_of_lists
from review.rules.consistency.fact_making import Fact, Facts
from review.rules.consistency.fact_polarity import facts_of_polarity
from review.rules.consistency.fact_sentences import facts_of_sentences
from review.rules.consistency.fact_usage import facts_of_usage

_READERS = (
    facts_of_rows,
    facts_of_lines,
    facts_of_sentences,
    facts_of_identifiers,
    facts_of_usage,
    facts_of_polarity,
    facts_of_lists,
)


@lru_cache(maxsize=4)
def facts_of(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Facts:
    """Return the document as facts are made from it."""
    return Facts(text, sections, blocks)


@lru_cache(maxsize=8)
def read_facts(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> tuple[Fact, ...]:
    """Return the facts of a document in its order."""
    facts = facts_of(text, sections, blocks)
    found = [fact for reader in _READERS for fact in reader(facts)]
    return tuple(sorted(found, key=lambda each: (each.start, each.end, each.about)))
