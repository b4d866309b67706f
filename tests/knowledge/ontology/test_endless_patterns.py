"""Stored patterns without an end: where people store them, and where they are matched."""

from __future__ import annotations

from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.management.commands import doctor
from knowledge.ingest.graph import update_graph_now
from knowledge.models import DocumentGraph, IdentifierPattern, OntologyClass
from knowledge.ontology.rdf_files import read_graph
from knowledge.ontology.shapes import ShapesError, validate
from knowledge.stored_patterns import refused_patterns
from tests.factories import upload_text, work_through
from tests.knowledge.ontology.test_api import call as call

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
ENDLESS = r"(a|aa)+$"
TEXT = "# 設計書\n\n## 概要\n\n" + "a" * 80 + "b\n"
ONTOLOGY = r"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix hubv: <{hubv}> .
@prefix : <https://example.org/redos#> .
:Purpose a owl:Class ; hubv:topic true ; hubv:required true ; hubv:cue "{cue}" .
"""


@pytest.fixture
def document(tmp_path: Any) -> Any:
    return work_through(upload_text(local_operator(), tmp_path, TEXT, document_type="basic_design").document)


@pytest.mark.parametrize("cue", [ENDLESS, r"(a+)+\\$", r"(A|AA)+!"])
def test_an_ontology_with_a_cue_without_an_end_is_refused_with_its_name(call: Any, cue: str) -> None:
    from knowledge.ontology.vocabulary import HUBV

    turtle = ONTOLOGY.format(hubv=str(HUBV), cue=cue).encode()
    answer = call("PUT", "/ontologies/redos?publish=true", turtle, "text/turtle")
    assert answer.status_code == 422, answer.content
    assert answer.json()["code"] == "invalid_pattern"
    assert "Purpose" in answer.json()["detail"]


def test_coverage_by_a_stored_cue_without_an_end_is_an_answer_that_names_it(call: Any, document: Any) -> None:
    purpose = OntologyClass.objects.get(ontology__domain="system_design", code="purpose")
    OntologyClass.objects.filter(pk=purpose.pk).update(cues=[ENDLESS])
    asked = {"document_id": document.public_id, "check_type": "coverage"}
    answer = call("POST", "/ontologies/system_design/coverage", asked)
    assert answer.status_code == 409, answer.content
    assert answer.json()["code"] == "pattern_too_slow"
    assert ENDLESS in answer.json()["detail"]
    assert "purpose" in answer.json()["detail"]


def test_a_stored_identifier_pattern_without_an_end_leaves_the_graph_with_an_error_that_names_it(document: Any) -> None:
    IdentifierPattern.objects.create(pattern=ENDLESS)
    update_graph_now(document.pk)
    assert ENDLESS in DocumentGraph.objects.get(document=document).error


def test_a_shape_with_a_pattern_without_an_end_is_an_error_that_names_it() -> None:
    shape = rf"""@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix : <https://example.org/redos#> .
:Shape a sh:NodeShape ; sh:targetNode :x ; sh:property [ sh:path :code ; sh:pattern "{ENDLESS}" ] .
:x :code "{"a" * 80}b" .
"""
    with pytest.raises(ShapesError, match=r"\(a\|aa\)\+\$"):
        validate(read_graph(shape.encode(), rdf_format="turtle", domain="redos"))


def test_doctor_names_stored_patterns_that_would_be_refused_today() -> None:
    assert refused_patterns() == []
    IdentifierPattern.objects.create(pattern=ENDLESS)
    OntologyClass.objects.filter(ontology__domain="system_design", code="purpose").update(cues=["# (目的"])
    said = " ".join(str(finding["detail"]) for finding in doctor._patterns())
    for expected in (ENDLESS, "identifier pattern", "(目的", "ontology system_design, purpose"):
        assert expected in said
