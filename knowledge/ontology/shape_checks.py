"""Checking a stored version against its own SHACL shapes."""

from __future__ import annotations

from billiard.exceptions import SoftTimeLimitExceeded

from knowledge.models import Ontology
from knowledge.ontology.rdf_mapping import graph_of
from knowledge.ontology.shapes import ShapesError, has_shapes, validate
from knowledge.ontology.store import load_facts

TIME_LIMIT_S = 120


def check_shapes(ontology_id: int) -> None:
    """Store the report of a version; the same again if it was done before. A version without shapes has none."""
    ontology = Ontology.objects.filter(pk=ontology_id).first()
    if ontology is None:
        return
    graph = graph_of(load_facts(ontology))
    if has_shapes(graph):
        try:
            report = validate(graph).as_dict()
        except SoftTimeLimitExceeded:
            report = {"error": f"stopped after {TIME_LIMIT_S} s"}
        except ShapesError as error:
            report = {"error": str(error)}
        Ontology.objects.filter(pk=ontology_id).update(shapes_report=report)
