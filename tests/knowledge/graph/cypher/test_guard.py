"""What the guard lets through: reading, and nothing else, whatever the text."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.core.errors import InvalidInput
from knowledge.graph.cypher.guard import guarded, tokens_of
from knowledge.graph.cypher.query import QueryTimeout
from knowledge.graph.cypher.translate import translate
from tests.knowledge.graph.cypher.asking import ask, values
from tests.knowledge.graph.cypher.queries import REFUSED

pytestmark = pytest.mark.django_db


def test_everything_but_reading_is_refused_before_anything_runs(project):
    for text in REFUSED:
        with pytest.raises(InvalidInput) as refused:
            ask(text)
        assert "cypher_query" in str(refused.value), text


def test_words_in_strings_names_and_comments_are_no_clauses(project):
    text = """
    // LOAD CSV FROM 'x' AS y, DELETE everything
    MATCH (n:Requirement) /* CREATE (m) */ WHERE n.name <> 'DELETE n' AND n.name <> "LOAD CSV"
    RETURN n.code AS `SET` ORDER BY n.code LIMIT 1;
    """
    assert ask(text).records == ({"SET": "C-001"},)


WORDS = (
    "LOAD load LoAd CSV FROM CREATE cReAtE MERGE SET DELETE REMOVE FOREACH CALL MATCH RETURN UNION WITH UNWIND "
    "EXPLAIN PROFILE 'x' \"y\" `z` ' \" ` // /* */ \\u0053 ( ) { } [ ] ; : | , . $ $p -> - * 1 n n.set 要件 名 AS "
    "db.labels dbms.security /etc/passwd apoc.load.json \u200b ＬＯＡＤ"
)
FRAGMENTS = st.sampled_from([*WORDS.split(), "\n", "\t", "\u3000"])


@given(pieces=st.lists(FRAGMENTS, max_size=14), glue=st.sampled_from(["", " ", "\n", "/**/"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_mixture_of_fragments_gets_a_forbidden_clause_past_the_guard(pieces, glue):
    """What the guard lets through is cut again as the engine gets it: no forbidden word stands where a clause may."""
    try:
        tokens = guarded(glue.join(pieces))
    except InvalidInput:
        return
    passed = translate(tokens, {}).query
    again = tokens_of(passed)
    assert [token.text for token in again if token.text != ";"] == [token.text for token in again]
    guarded(passed)


@given(text=st.text(max_size=80))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_breaks_the_guard(text):
    with contextlib.suppress(InvalidInput):
        assert guarded(text)


def test_what_the_guard_lets_through_of_random_queries_changes_nothing_and_ends(project):
    """The engine gets fuzz that passed the guard, for real: it answers or refuses, and the graph is as before."""
    before = values(ask("MATCH (n) RETURN count(n)"))

    @given(pieces=st.lists(FRAGMENTS, min_size=2, max_size=10))
    @settings(max_examples=40, database=None)
    def try_out(pieces):
        with contextlib.suppress(InvalidInput, QueryTimeout):
            ask("MATCH (n) " + " ".join(pieces) + " RETURN n", timeout_ms=500, parameters={"p": 1}, row_limit=5)

    try_out()
    assert values(ask("MATCH (n) RETURN count(n)")) == before
