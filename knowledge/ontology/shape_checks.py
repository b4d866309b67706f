"""Checking a stored version against its own SHACL shapes: what waits stands in PostgreSQL and is found again."""

from __future__ import annotations

from datetime import datetime, timedelta

from billiard.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone

from knowledge.models import Ontology
from knowledge.ontology.rdf_writing import graph_of
from knowledge.ontology.shapes import ShapesError, patterns_of, validate
from knowledge.ontology.store import load_facts

TIME_LIMIT_S = 120
MAX_ATTEMPTS = 3
# Longer than a check may take: what still waits then has lost its task or its worker.
LOST_AFTER = timedelta(seconds=TIME_LIMIT_S + 60)


def ask_for_check(ontology_id: int) -> None:
    """Note that a version's shapes are to be checked; to be called in the transaction that stores the version."""
    Ontology.objects.filter(pk=ontology_id).update(shapes_report=_waiting(attempts=0))


def check_shapes(ontology_id: int) -> None:
    """Store the report of a version that waits for one. After three attempts that ended nowhere it says so instead."""
    if not _take(ontology_id):
        return
    graph = graph_of(load_facts(Ontology.objects.get(pk=ontology_id)))
    try:
        report = validate(graph).as_dict()
    except SoftTimeLimitExceeded:
        patterns = ", ".join(patterns_of(graph))[:300]
        report = {"error": f"stopped after {TIME_LIMIT_S} s" + (f"; sh:pattern: {patterns}" if patterns else "")}
    except ShapesError as error:
        report = {"error": str(error)}
    Ontology.objects.filter(pk=ontology_id).update(shapes_report=report)


def lost_checks() -> list[int]:
    """The keys of versions whose check was asked for or begun long ago and never ended."""
    waiting = Ontology.objects.filter(shapes_report__pending=True).values_list("pk", "shapes_report__since")
    before = timezone.now() - LOST_AFTER
    return [pk for pk, since in waiting if datetime.fromisoformat(since) < before]


@transaction.atomic
def _take(ontology_id: int) -> bool:
    row = Ontology.objects.select_for_update().filter(pk=ontology_id, shapes_report__pending=True).first()
    if row is None or row.shapes_report is None:
        return False
    attempts = row.shapes_report["attempts"] + 1
    given_up = attempts > MAX_ATTEMPTS
    stopped = {"error": f"the worker was stopped in each of {MAX_ATTEMPTS} attempts"}
    Ontology.objects.filter(pk=ontology_id).update(shapes_report=stopped if given_up else _waiting(attempts))
    return not given_up


def _waiting(attempts: int) -> dict[str, object]:
    return {"pending": True, "attempts": attempts, "since": timezone.now().isoformat()}
