"""Checking a stored version against its own SHACL shapes: what waits is in PostgreSQL and is found again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from rdflib import Graph

from knowledge.models import Ontology
from knowledge.ontology.rdf_mapping import graph_of
from knowledge.ontology.shapes import patterns_of
from knowledge.ontology.store import load_facts
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.process.isolation import as_it_is, run_on_bytes

TASK = "knowledge.ontology.shapes:validate_file"
# A worker waits meanwhile: long enough for some ten thousand individuals, short enough for what others wait for.
LIMITS = ParseLimits(wall_s=30, cpu_s=10, memory_bytes=1024**3)
MAX_ATTEMPTS = 3
# Longer than a check may take: what still waits then has lost its task or its worker.
LOST_AFTER = timedelta(seconds=LIMITS.wall_s + 150)


def ask_for_check(ontology_id: int) -> None:
    """Note that a version's shapes are to be checked; to be called in the transaction that stores the version."""
    Ontology.objects.filter(pk=ontology_id).update(shapes_report=_waiting(attempts=0))


def check_shapes(ontology_id: int) -> None:
    """Store the report of a version that waits for one. After three attempts that ended nowhere it says so instead."""
    if not _take(ontology_id):
        return
    graph = graph_of(load_facts(Ontology.objects.get(pk=ontology_id)))
    try:
        report = _report(graph)
    except ParseError as error:
        patterns = ", ".join(patterns_of(graph))[:300]
        stopped = f"stopped after {LIMITS.cpu_s:.0f} s" if error.code == "timeout" else error.text.en
        report = {"error": stopped + (f"; sh:pattern: {patterns}" if patterns else "")}
    Ontology.objects.filter(pk=ontology_id).update(shapes_report=report)


def _report(graph: Graph) -> dict[str, Any]:
    """Check a graph in a child process with limits; a :class:`ShapesReport` as a dict, or ``error``.

    :raises ParseError: it took too much time or memory.
    """
    statements = graph.serialize(format="nt", encoding="utf-8")
    return run_on_bytes(TASK, statements, as_it_is, filename="shapes.nt", limits=LIMITS)


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
