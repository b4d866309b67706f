"""Read-only openCypher over the graph of three documents: what it answers, and what it says where it can not."""

from __future__ import annotations

import json

import pytest
from django.utils import translation

from hub.core.errors import InvalidInput
from knowledge.graph.cypher.guard import guarded
from tests.knowledge.graph.cypher.asking import ask, values
from tests.knowledge.graph.cypher.queries import ANSWERS, SPIRITED

pytestmark = pytest.mark.django_db


def test_forty_queries_on_the_shipped_schema_give_what_the_documents_say(project):
    for text, parameters, expected in ANSWERS:
        found = ask(text, parameters=parameters)
        assert values(found) == expected, text
        assert found.is_complete


def test_thirty_eight_constructs_of_the_language_are_understood(project):
    assert len(SPIRITED) == 38
    for text, parameters in SPIRITED:
        assert ask(text, parameters=parameters).records, text


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


def test_rows_beyond_the_limit_are_cut_and_the_answer_says_so(project):
    found = ask("MATCH (n) RETURN n.name", row_limit=3)
    assert len(found.records) == 3
    assert not found.is_complete


def test_answers_are_json(project):
    for text, parameters in SPIRITED:
        json.dumps(ask(text, parameters=parameters).records, allow_nan=False)


def test_a_refusal_is_told_in_the_language_in_which_it_is_shown():
    with pytest.raises(InvalidInput) as refused:
        guarded("MATCH (n) DELETE n")
    with translation.override("en"):
        assert str(refused.value) == 'cypher_query: "DELETE" is not allowed: queries only read the graph.'
