"""What a review says that it consulted is what it consulted: rules, passages, paths of the graph, the ontology."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from django.db import connection

from hub.access.principals import Role, local_operator
from knowledge.graph.cypher.query import CypherQuery, projection_backend, query_knowledge_graph
from knowledge.graph.masters import sync_masters
from knowledge.graph.search import GraphQuery, graph_search
from knowledge.ingest import graph
from knowledge.models import Document, GraphNode
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, review_facts, start_review
from tests.factories import new_collection, principal_with, upload_file, upload_text, work_through
from tests.knowledge.graph.texts import DESIGN, REQUIREMENTS
from tests.review.runs.test_runs import SAMPLE

pytestmark = pytest.mark.django_db

STYLE, TRACES, TOPICS, DUTIES = "BD-C01", "BD-B02", "BD-B01", "BD-D01"


@pytest.fixture
def shelf():
    return new_collection()


@pytest.fixture
def requirements(tmp_path, shelf):
    more = {"document_type": "requirements", "name": "要件定義書.md", "collection": shelf.slug}
    return work_through(upload_text(local_operator(), tmp_path, REQUIREMENTS, **more).document)


@pytest.fixture
def design(tmp_path, shelf, requirements):
    sync_masters()
    more = {"document_type": "basic_design", "name": "基本設計書.md", "collection": shelf.slug}
    document = work_through(upload_text(local_operator(), tmp_path, DESIGN, **more).document)
    while due := graph.take_due():
        for document_pk in due:
            graph.update_graph(document_pk)
    return document


@pytest.fixture
def library(requirements):
    """The design of the sample, which guidelines oblige."""
    sync_masters()
    return work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)


def reviewed(document, *related, principal=None, items=(), **options):
    """The review's results by check item, as a caller sees them."""
    review = run(document, *related, items=items, **options)
    return results(review, principal or local_operator())


def run(document, *related, items=(), **options):
    asked = ReviewOptions(
        check_items=items, related_documents=tuple(each.public_id for each in related), judge="rules", **options
    )
    review = start_review(principal=local_operator(), document_id=document.public_id, options=asked)
    assert execution.execute(review.pk)
    return review


def results(review, principal):
    shown = review_facts(get_review(principal, review.public_id), everything=True)
    return {result.check_item_id: result for result in shown.results}


@contextmanager
def away(table: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO gone")
        yield
        cursor.execute(f"ALTER TABLE gone RENAME TO {table}")


def test_every_result_names_what_it_consulted_and_nothing_else(library):
    found = reviewed(library)
    assert {result.strategy_used for result in found.values()} >= {"rules", "ontology", "graph_rag", "none"}
    for result in found.values():
        named = {"ontology": "ontology", "graph_rag": "graph", "vector_rag": "vector"}.get(result.strategy_used)
        assert named is None or named in result.consulted
        assert bool(result.evidence.graph_paths) == ("graph" in result.consulted)
        assert not result.evidence.retrieved_chunks
        assert not {"vector", "lexical", "model"} & set(result.consulted)
        assert result.strategy_selection_reason
    assert found[STYLE].strategy_used == "rules"
    assert found[STYLE].consulted == ["rules"]
    assert found[TRACES].strategy_used == "rules"
    assert found[TOPICS].consulted == ["rules", "ontology"]


def test_an_obliging_article_is_reached_by_a_path_that_the_graph_answers(library):
    result = reviewed(library, items=(DUTIES,))[DUTIES]
    assert result.strategy_used == "graph_rag"
    assert result.evidence.graph_paths
    projection_backend().copies._kept.clear()
    for path in result.evidence.graph_paths:
        assert path[0] == library.public_id
        found = query_knowledge_graph(
            local_operator(),
            CypherQuery(
                text="MATCH (d {id: $d})-[:CATEGORIZED_BY]->(t {id: $t})-[:MUST_COMPLY]->(a {id: $a}) RETURN a.code",
                parameters=dict(zip("dta", path, strict=True)),
            ),
        )
        assert len(found.records) == 1
    assert {(edge.source, edge.target) for edge in result.evidence.graph_edges} >= {
        pair for path in result.evidence.graph_paths for pair in pairwise(path)
    }
    projection_backend().copies.forget()


def test_identifiers_that_two_documents_name_are_followed_from_one_to_the_other(design, requirements):
    result = reviewed(design, requirements, items=(TRACES,))[TRACES]
    assert result.consulted == ["rules", "graph"]
    assert "関連文書" in result.strategy_selection_reason
    ends = {(path[0], path[-1]) for path in result.evidence.graph_paths}
    assert (design.public_id, requirements.public_id) in ends
    edges = {frozenset((edge.source, edge.target)) for edge in result.evidence.graph_edges}
    for path in result.evidence.graph_paths:
        for step in path:
            assert graph_search(local_operator(), GraphQuery(entity=step, max_depth=1)).starts == (step,)
        assert all(frozenset(pair) in edges for pair in pairwise(path))


def test_a_path_through_a_hidden_document_is_withheld_with_a_notice(design, requirements, shelf):
    review = run(design, requirements, items=(TRACES,))
    assert results(review, local_operator())[TRACES].evidence.graph_paths
    other = new_collection()
    Document.objects.filter(pk=requirements.pk).update(collection=other)
    GraphNode.objects.filter(public_id=requirements.public_id).update(collection=other)
    result = results(review, principal_with(Role.READER, shelf))[TRACES]
    assert not result.evidence.graph_paths
    assert not result.evidence.graph_edges
    assert "paths_withheld" in [notice["code"] for notice in result.notices]
    assert requirements.public_id not in result.model_dump_json()


def test_what_is_no_longer_in_the_graph_is_not_shown(design, requirements):
    review = run(design, requirements, items=(TRACES,))
    GraphNode.objects.filter(public_id=requirements.public_id).delete()
    result = results(review, local_operator())[TRACES]
    assert all(requirements.public_id not in path for path in result.evidence.graph_paths)
    assert "paths_withheld" in [notice["code"] for notice in result.notices]


@pytest.mark.parametrize(
    ("forced", "source", "filled"),
    [
        ("vector_rag", "vector", "retrieved_chunks"),
        ("graph_rag", "graph", "graph_paths"),
        ("ontology", "ontology", "graph_paths"),
    ],
)
def test_a_forced_strategy_retrieves_what_it_says(design, forced, source, filled):
    plain = reviewed(design, items=(STYLE,))[STYLE]
    result = reviewed(design, items=(STYLE,), force_strategy=forced)[STYLE]
    assert plain.evidence.model_dump() == {name: [] for name in plain.evidence.model_dump()}
    assert result.strategy_used == forced
    assert source in result.consulted
    assert getattr(result.evidence, filled)
    assert forced in result.strategy_selection_reason
    assert result.verdict == plain.verdict
    both = reviewed(design, items=(STYLE,), force_strategy="hybrid")[STYLE]
    assert both.strategy_used == "hybrid"
    assert {"vector", "graph"} <= set(both.consulted)
    assert both.evidence.retrieved_chunks
    assert both.evidence.graph_paths


def test_with_the_graph_away_passages_stand_in_and_rules_go_on(library, design):
    with away("knowledge_graphedge"):
        review = run(library, items=(DUTIES, STYLE))
        forced = run(design, items=(STYLE,), force_strategy="graph_rag")
    found = results(review, local_operator())
    assert found[DUTIES].verdict in ("pass", "warning", "fail")
    assert found[DUTIES].strategy_used == "rules"
    assert [notice["code"] for notice in found[DUTIES].notices] == ["graph_paths_unavailable"]
    instead = results(forced, local_operator())[STYLE]
    assert instead.strategy_used == "vector_rag"
    assert instead.evidence.retrieved_chunks
    assert [notice["code"] for notice in instead.notices] == ["graph_unavailable"]


def test_with_the_ontology_away_its_part_is_skipped_and_never_a_pass(design):
    with away("knowledge_ontologyclass"):
        review = run(design, items=(TOPICS, STYLE))
    found = results(review, local_operator())
    assert found[TOPICS].verdict in ("skipped", "fail")
    assert "ontology_unavailable" in [notice["code"] for notice in found[TOPICS].notices]
    assert "ontology" not in found[TOPICS].consulted
    assert found[STYLE].verdict != "skipped"


def test_with_the_guidelines_away_no_duty_passes(library):
    with away("knowledge_guidelinearticle"):
        review = run(library, items=(DUTIES,))
    result = results(review, local_operator())[DUTIES]
    assert result.verdict == "skipped"
    assert "guidelines_unavailable" in [notice["code"] for notice in result.notices]
