"""Read-only openCypher over the graph of three documents: what it answers, what it refuses, whom it shows what."""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.access.principals import Classification, Role, local_operator
from hub.core.errors import InvalidInput
from hub.core.stopping import Stop, Stopped, stoppable_by
from knowledge.graph.cypher.guard import guarded
from knowledge.graph.cypher.lexer import tokens_of
from knowledge.graph.cypher.process import ProcessEnded
from knowledge.graph.cypher.query import (
    MAX_WORK_UNITS,
    CypherQuery,
    QueryCrash,
    QueryTimeout,
    projection_backend,
    query_knowledge_graph,
)
from knowledge.graph.cypher.translate import translate
from knowledge.graph.masters import sync_masters
from knowledge.ingest import graph
from knowledge.services.deletion import delete_document
from knowledge.services.editing import update_document
from tests.factories import CollectionFactory, principal_with
from tests.knowledge.graph.queries import ANSWERS, REFUSED, SPIRITED
from tests.knowledge.graph.support import add
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS, TESTS

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def process():
    """The process is this module's; each test's database is its own, so copies are never kept between tests."""
    yield
    projection_backend().copies.forget()


@pytest.fixture(autouse=True)
def fresh_copies():
    projection_backend().copies._kept.clear()


@pytest.fixture
def project(tmp_path):
    sync_masters()
    found = {
        "requirements": add(tmp_path, REQUIREMENTS, name="要件定義書.md", document_type="requirements"),
        "design": add(tmp_path, DESIGN, name="基本設計書.md", document_type="basic_design"),
        "tests": add(tmp_path, TESTS, name="テスト計画書.md", document_type="test_plan"),
    }
    while due := graph.take_due():
        for document_pk in due:
            graph.update_graph(document_pk)
    return found


def ask(text: str, principal=None, **more):
    return query_knowledge_graph(principal or local_operator(), CypherQuery(text=text, **more))


def values(result) -> list[list]:
    return [list(record.values()) for record in result.records]


def test_forty_queries_on_the_shipped_schema_give_what_the_documents_say(project):
    for text, parameters, expected in ANSWERS:
        found = ask(text, parameters=parameters)
        assert values(found) == expected, text
        assert found.is_complete


def test_thirty_eight_constructs_of_the_language_are_understood(project):
    assert len(SPIRITED) == 38
    for text, parameters in SPIRITED:
        assert ask(text, parameters=parameters).records, text


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


def test_a_node_comes_with_the_hubs_id_label_name_and_code(project):
    (record,) = ask("MATCH (n:Requirement {code: 'FR-001'}) RETURN n").records
    assert record["n"]["labels"] == ["Requirement"]
    assert record["n"]["id"].startswith("gn_")
    assert record["n"]["properties"]["name"] == record["n"]["properties"]["code"] == "FR-001"
    assert record["n"]["properties"]["label"] == "蔵書検索"


def test_japanese_variables_parameters_and_columns_come_back_as_they_were_written(project):
    found = ask(
        "MATCH (要求:要件) WHERE 要求.code = $番号 RETURN 要求.label AS 名称, 要求.name", parameters={"番号": "FR-002"}
    )
    assert found.records == ({"名称": "貸出", "要求.name": "FR-002"},)


def test_a_missing_parameter_is_named(project):
    with pytest.raises(InvalidInput, match=r"\$id"):
        ask("MATCH (n {id: $id}) RETURN n")


def test_a_query_that_the_engine_can_not_read_is_told_in_its_words(project):
    with pytest.raises(InvalidInput, match="cypher_query"):
        ask("MATCH (n RETURN n")


def test_an_endless_query_is_stopped(project):
    text = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b UNWIND range(1, 3000) AS c RETURN count(a + b + c)"
    with pytest.raises((QueryTimeout, InvalidInput)):
        ask(text, timeout_ms=200)
    assert ask("RETURN 1 AS one").records == ({"one": 1},)


def test_a_process_that_was_killed_is_replaced_by_the_next_query(project):
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]
    child = projection_backend().copies.process._child
    child.kill()
    child.wait()
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]


def test_a_query_that_nobody_waits_for_any_more_ends_with_its_process(project):
    ask("RETURN 1")
    process, stop = projection_backend().copies.process, Stop()
    child = process._child
    request = {
        "do": "query",
        "graph": next(iter(projection_backend().copies._kept)).name,
        "query": "MATCH (a), (b), (c), (d) WHERE a.name + b.name + c.name + d.name CONTAINS 'zzzz' RETURN count(*)",
        "parameters": {},
        "timeout_ms": 60_000,
        "row_limit": 10,
        "max_work_units": MAX_WORK_UNITS,
        "max_characters": 10_000,
    }

    def wait_for_it() -> None:
        with stoppable_by(stop):
            process.ask(request, timeout_s=60, generation=process.generation)

    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(wait_for_it)
        stop.set()
        with pytest.raises(Stopped):
            asked.result(timeout=20)
    child.wait(timeout=20)
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]


def test_a_query_that_ends_its_process_twice_is_its_callers_to_mend(project, monkeypatch):
    def ended(*_args: object, **_more: object) -> None:
        raise ProcessEnded

    ask("RETURN 1")
    monkeypatch.setattr(projection_backend().copies.process, "ask", ended)
    monkeypatch.setattr(projection_backend().copies, "ensure", lambda _key: 1)
    with translation.override("en"), pytest.raises(QueryCrash, match="Narrow it") as caught:
        ask("MATCH (n) RETURN n")
    assert (caught.value.error_code, caught.value.status, caught.value.retryable) == ("query_crashed", 422, False)


def test_rows_beyond_the_limit_are_cut_and_the_answer_says_so(project):
    found = ask("MATCH (n) RETURN n.name", row_limit=3)
    assert len(found.records) == 3
    assert not found.is_complete


def test_the_process_can_open_no_file_even_without_the_guard(project):
    ask("RETURN 1")
    process = projection_backend().copies.process
    request = {
        "do": "query",
        "graph": next(iter(projection_backend().copies._kept)).name,
        "query": 'LOAD CSV FROM "/etc/passwd" AS row RETURN row',
        "parameters": {},
        "timeout_ms": 1000,
        "row_limit": 10,
        "max_work_units": 1000,
        "max_characters": 10_000,
    }
    said = process.ask(request, timeout_s=5, generation=process.generation)
    assert "records" not in said
    assert "error" in said


def test_a_change_reaches_the_next_query_without_building_everything_anew(project, tmp_path, monkeypatch):
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[3]]
    loads = []
    process = projection_backend().copies.process
    real = process.ask

    def noted(request, tables=(), **more):
        if request["do"] == "load":
            loads.append(request["is_new"])
        return real(request, tables, **more)

    monkeypatch.setattr(process, "ask", noted)
    add(
        tmp_path,
        TESTS.replace("| TC-002 | 貸し出す | FR-002 |", "| TC-003 | 予約する | FR-003 |"),
        name="テスト計画書.md",
    )
    traced = "MATCH (t:要件)-[:追跡]->(r:要件) WHERE t.code STARTS WITH 'TC' RETURN t.code, r.code ORDER BY t.code"
    assert values(ask(traced)) == [["TC-001", "FR-001"], ["TC-003", "FR-003"]]
    delete_document(principal=local_operator(), document_id=project["design"].public_id)
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[2]]
    assert values(ask("MATCH (n) WHERE n.code STARTS WITH 'C-' RETURN count(n)")) == [[0]]
    assert loads == [False, False]


def test_after_changes_the_copy_is_what_a_new_one_would_be(project, tmp_path):
    everything = (
        "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN n.id, properties(n), type(r), m.id ORDER BY n.id, type(r), m.id"
    )
    ask(everything)
    add(tmp_path, DESIGN.replace("C-002 | 貸出部 | FR-002", "C-003 | 予約部 | FR-003"), name="基本設計書.md")
    update_document(
        principal=local_operator(), document_id=project["tests"].public_id, classification=Classification.C3
    )
    while due := graph.take_due():
        for document_pk in due:
            graph.update_graph(document_pk)
    changed = values(ask(everything, row_limit=5000))
    projection_backend().copies._kept.clear()
    assert values(ask(everything, row_limit=5000)) == changed


def test_nobody_sees_more_than_their_collections_and_their_ceiling(project, tmp_path):
    other = CollectionFactory(slug="other")
    add(tmp_path, "# 別件設計書\n\n## 1. FR-777 別件\n\n本文。\n", name="別件.md", collection="other")
    reader = principal_with(Role.READER, other)
    assert values(ask("MATCH (d:Document) RETURN d.name", reader)) == [["別件設計書"]]
    assert values(ask("MATCH (n:Requirement) RETURN n.code", reader)) == [["FR-777"]]
    assert values(ask("MATCH (d:Document) RETURN count(d)")) == [[4]]
    stranger = principal_with(None, other)
    assert values(ask("MATCH (n) WHERE n:Document OR n:Section RETURN count(n)", stranger)) == [[0]]


def test_a_copy_that_lost_its_right_to_a_document_loses_the_document(project):
    reader = principal_with(Role.READER, project["design"].collection)
    assert values(ask("MATCH (d:Document) RETURN count(d)", reader)) == [[3]]
    update_document(
        principal=local_operator(), document_id=project["design"].public_id, classification=Classification.C3
    )
    graph.update_graph(project["design"].pk)
    assert values(ask("MATCH (d:Document) RETURN count(d)", reader)) == [[2]]
    assert values(ask("MATCH (n) WHERE n.code STARTS WITH 'C-' RETURN count(n)", reader)) == [[0]]


WORDS = (
    "LOAD load LoAd CSV FROM CREATE cReAtE MERGE SET DELETE REMOVE FOREACH CALL MATCH RETURN UNION WITH UNWIND "
    "EXPLAIN PROFILE 'x' \"y\" `z` ' \" ` // /* */ \\u0053 ( ) { } [ ] ; : | , . $ $p -> - * 1 n n.set 要件 名 AS "
    "db.labels dbms.security /etc/passwd apoc.load.json \u200b ＬＯＡＤ"
)
FRAGMENTS = st.sampled_from([*WORDS.split(), "\n", "\t", "\u3000"])


@given(pieces=st.lists(FRAGMENTS, max_size=14), glue=st.sampled_from(["", " ", "\n", "/**/"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_breaks_the_guard(text):
    with contextlib.suppress(InvalidInput):
        assert guarded(text)


def test_what_the_guard_lets_through_of_random_queries_changes_nothing_and_ends(project):
    """The engine gets fuzz that passed the guard, for real: it answers or refuses, and the graph is as before."""
    before = values(ask("MATCH (n) RETURN count(n)"))

    @given(pieces=st.lists(FRAGMENTS, min_size=2, max_size=10))
    @settings(max_examples=40, deadline=None, database=None)
    def try_out(pieces):
        with contextlib.suppress(InvalidInput, QueryTimeout):
            ask("MATCH (n) " + " ".join(pieces) + " RETURN n", timeout_ms=500, parameters={"p": 1}, row_limit=5)

    try_out()
    assert values(ask("MATCH (n) RETURN count(n)")) == before


def test_answers_are_json(project):
    for text, parameters in SPIRITED:
        json.dumps(ask(text, parameters=parameters).records, allow_nan=False)


def test_a_process_of_another_life_is_not_asked():
    process = projection_backend().copies.process
    process.ensure()
    with pytest.raises(ProcessEnded):
        process.ask({"do": "drop", "graph": "x"}, timeout_s=1, generation=process.generation - 1)


def test_a_refusal_is_told_in_the_language_in_which_it_is_shown():
    with pytest.raises(InvalidInput) as refused:
        guarded("MATCH (n) DELETE n")
    with translation.override("en"):
        assert str(refused.value) == 'cypher_query: "DELETE" is not allowed: queries only read the graph.'
