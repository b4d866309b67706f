"""The terms of chunks, and their keys in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.db import connection

from knowledge.index.analysis import PassageTerms, analyse_passage
from knowledge.models import Chunk, LexicalField

TermIds = dict[int, dict[str, int]]  # by field and text

# Terms come as one JSON text, each behind the digit of its field: writing an array of thousands costs the client ten
# times as much, and making pairs twice as much.
_GIVEN = """
SELECT left(item, 1)::smallint AS field, substr(item, 2) AS text
FROM jsonb_array_elements_text(%s::jsonb) AS one (item)
"""
_TERM_IDS = f"""
SELECT t.field, t.text, t.id FROM knowledge_lexicalterm t
JOIN ({_GIVEN}) AS given ON t.field = given.field AND t.text = given.text
"""  # noqa: S608 (the parts are constants)
# Sorted, so that workers which meet in new terms wait for each other in one order and never in a circle.
_INSERT_TERMS = f"""
INSERT INTO knowledge_lexicalterm (field, text)
SELECT given.field, given.text FROM ({_GIVEN}) AS given ORDER BY given.field, given.text COLLATE "C"
ON CONFLICT (field, text) DO NOTHING RETURNING field, text, id
"""  # noqa: S608 (the parts are constants)


def terms_of(chunk: Chunk, *, title: str, path: str) -> PassageTerms:
    """Return the terms that a chunk of a document is indexed under. No query."""
    # The context prefix holds the heading path, and a long table's header.
    head = "\n".join([title, chunk.context_prefix or "\n".join(chunk.section_path)])
    return analyse_passage(head, chunk.content, name=path)


def term_ids_of(passages: Sequence[PassageTerms]) -> TermIds:
    """Return the keys of those terms that the index has. At most one query."""
    return _term_ids(passages, [_TERM_IDS])


def make_terms(passages: Sequence[PassageTerms]) -> TermIds:
    """Return the keys of all terms, and make those that are not there."""
    # The last time for terms that another worker made at the same moment.
    return _term_ids(passages, [_TERM_IDS, _INSERT_TERMS, _TERM_IDS])


def _term_ids(passages: Sequence[PassageTerms], statements: Sequence[str]) -> TermIds:
    wanted: dict[int, set[str]] = {
        LexicalField.WORD.value: set().union(*(one.words for one in passages)),
        LexicalField.BIGRAM.value: set().union(*(one.bigrams for one in passages)),
    }
    found: TermIds = {field_: {} for field_ in wanted}
    for statement in statements:
        missing = [f"{field_}{term}" for field_, terms in wanted.items() for term in terms - found[field_].keys()]
        if missing:
            with connection.cursor() as cursor:
                cursor.execute(statement, [json.dumps(missing, ensure_ascii=False)])
                for field_, text, term_id in cursor.fetchall():
                    found[field_][text] = term_id
    return found
