"""Keeping a search engine in step: what is sent, sent again, compared, switched to, and told to operators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from hub.access.principals import Classification, local_operator
from hub.core.errors import Conflict
from hub.management.commands import doctor
from hub.site import alerts, health
from knowledge.documents.editing import update_document
from knowledge.generations import generations, reconciling, sending
from knowledge.generations.passages import passages_of
from knowledge.index.active_embedder import active_embedding_set
from knowledge.index.engine import get_engine
from knowledge.index.postings import delete_postings
from knowledge.models import Chunk, GenerationStatus, IndexChange, IndexGeneration
from tests.contracts.engine_shelf import DESIGN, MEETING, by_words, filled, in_engine, send
from tests.contracts.qdrant_facade import Facade, Fault
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("fault", [Fault.AWAY, Fault.HALF, Fault.TWICE])
def test_what_did_not_arrive_whole_is_sent_again(
    generation: IndexGeneration, library: Library, facade: Facade, fault: Fault
) -> None:
    chunks = library.add("追補.md", ["電子署名は長期署名とする。", "電子署名の検証は年に一度行う。"])
    delete_postings([library.made["議事録.md"].current_version.chunks.order_by("index")[0].pk])
    facade.script.append(fault)
    send(generation)
    waits = generations.lag_of(generation.pk).rows
    assert (waits == 0) == (fault is Fault.TWICE)
    assert bool(IndexGeneration.objects.get(pk=generation.pk).failure) == bool(waits)
    send(generation)
    assert not generations.lag_of(generation.pk).rows
    assert not IndexGeneration.objects.get(pk=generation.pk).failure
    assert in_engine(generation) == generations.wanted_passages(generation)
    assert {hit.chunk_id for hit in by_words("電子署名")} == {one.public_id for one in chunks}


def test_what_comes_late_raises_a_stray_passage_that_nobody_sees_and_that_goes(
    generation: IndexGeneration, library: Library, facade: Facade
) -> None:
    facade.script.append(Fault.HELD)
    chunks = library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    delete_postings([chunk.pk for chunk in chunks])
    send(generation)
    facade.release()
    assert in_engine(generation) == generations.wanted_passages(generation) + 1
    assert not by_words("電子署名 長期署名")
    assert reconciling.reconcile(generation.pk).stray == 1
    assert in_engine(generation) == generations.wanted_passages(generation)


def test_what_was_lost_is_found_by_comparing(generation: IndexGeneration, library: Library, facade: Facade) -> None:
    facade.script.append(Fault.LOST)
    library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    facade.script.append(Fault.LOST)
    update_document(
        principal=local_operator(),
        document_id=library.made["議事録.md"].public_id,
        classification=Classification.C3,
    )
    send(generation)
    repaired = reconciling.reconcile(generation.pk)
    assert (repaired.missing, repaired.stray, repaired.retagged > 0) == (1, 0, True)
    assert by_words("電子署名")
    assert reconciling.reconcile(generation.pk) == reconciling.Reconciled()


def test_what_a_node_forgot_is_sent_once_more(generation: IndexGeneration, library: Library, facade: Facade) -> None:
    chunks = library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    numbers = list(Chunk.objects.filter(pk__in=[one.pk for one in chunks]).values_list("lexical_entry", flat=True))
    get_engine().delete(generation.collection, numbers)
    assert not by_words("電子署名")
    assert sending.send_again() > 0
    send(generation)
    assert by_words("電子署名")


def test_nothing_is_noted_of_what_was_rolled_back(generation: IndexGeneration, library: Library) -> None:
    with transaction.atomic():
        library.add("追補.md", ["電子署名は長期署名とする。"])
        assert generations.lag_of(generation.pk).rows
        transaction.set_rollback(True)
    assert not generations.lag_of(generation.pk).rows


def test_without_an_engine_nothing_is_noted_and_nothing_asked(library: Library, django_assert_num_queries) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    assert not IndexChange.objects.exists()
    with django_assert_num_queries(0):
        assert sending.take_waiting() == []
        assert generations.lags() == {}
    with pytest.raises(Conflict) as refused:
        generations.create_generation(principal=local_operator(), shards=3, copies=1)
    assert refused.value.error_code == "no_search_engine"


def test_a_generation_is_switched_to_when_it_is_whole_and_back_with_one_row(
    engine_set: None, library: Library, facade: Facade
) -> None:
    first = generations.create_generation(principal=local_operator(), shards=3, copies=1)
    with pytest.raises(Conflict) as refused:
        generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    assert refused.value.error_code == "index_generation_incomplete"
    assert by_words("応答時間")  # PostgreSQL answers as long as no generation is switched to
    send(first)
    library.add("追補.md", ["電子署名は長期署名とする。"])
    with pytest.raises(Conflict):
        generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    send(first)
    generations.switch_to_generation(principal=local_operator(), generation_id=first.pk)
    with pytest.raises(Conflict) as refused:
        generations.drop_generation(principal=local_operator(), generation_id=first.pk)
    assert refused.value.error_code == "index_generation_active"
    second = filled()
    assert active_embedding_set().generation_id == second.pk
    generations.drop_generation(principal=local_operator(), generation_id=first.pk)
    send(first)
    assert list(facade.collections) == [second.collection]
    assert not IndexGeneration.objects.filter(pk=first.pk).exists()
    generations.switch_to_postgresql(principal=local_operator())
    asked = len(facade.requests)
    assert by_words("電子署名")
    assert len(facade.requests) == asked


def test_a_worker_that_is_killed_between_two_requests_leaves_nothing_undone(
    engine_set: None, library: Library, facade: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "PASSAGES_AT_ONCE", 3)
    made = generations.create_generation(principal=local_operator(), shards=3, copies=1)

    def kill_before_third(generation: IndexGeneration, numbers: Sequence[int], asked: list[int] = []) -> Any:  # noqa: B006
        asked.append(len(numbers))
        if len(asked) == 3:
            raise SystemExit
        return passages_of(generation, numbers)

    with monkeypatch.context() as patched:
        patched.setattr(sending, "passages_of", kill_before_third)
        with pytest.raises(SystemExit):
            sending.work_on(made.pk)
    made.refresh_from_db()
    assert made.lease_token
    assert made.filled_to
    assert not sending.work_on(made.pk)  # the dead worker's lease holds for a while
    send(made)
    generations.switch_to_generation(principal=local_operator(), generation_id=made.pk)
    assert in_engine(made) == len(DESIGN) + len(MEETING)


@pytest.mark.django_db(transaction=True)
def test_filling_waits_for_those_who_write_without_knowing_of_the_generation(
    engine_set: None, library: Library
) -> None:
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        other.execute("SELECT pg_current_xact_id()")
        made = generations.create_generation(principal=local_operator(), shards=3, copies=1)
        send(made)
        made.refresh_from_db()
        assert (made.status, made.filled_to) == (GenerationStatus.BUILDING, 0)
        assert sending.take_waiting() == [made.pk]
        other.rollback()
    send(made)
    made.refresh_from_db()
    assert made.status == GenerationStatus.READY
    assert sending.take_waiting() == []


def test_operators_see_how_far_the_engine_is_behind(
    generation: IndexGeneration, library: Library, facade: Facade, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed() -> dict[str, Any]:
        call_command("search_index", "list", "--json")
        (facts,) = json.loads(capsys.readouterr().out)["generations"]
        return facts

    facts = listed()
    assert (facts["status"], facts["active"], facts["passages"], facts["changes_waiting"]) == ("ready", True, 8, 0)
    assert [line["status"] for line in doctor._search_engine()] == ["ok"]
    assert "search_engine" not in alerts._search_engine()
    library.add("追補.md", ["電子署名は長期署名とする。"])
    IndexChange.objects.filter(sent_at__isnull=True).update(created_at="2026-01-01T00:00:00Z")
    behind = {family.name: family.samples[0].value for family in health._engine_lag()}
    assert behind["hub_search_engine_changes"] == listed()["changes_waiting"] > 0
    assert behind["hub_search_engine_lag_seconds"] > generations.LATE_S
    assert [line["status"] for line in doctor._search_engine()] == ["error"]
    assert "search_engine" in alerts._search_engine()
    facade.is_down = True
    assert listed()["engine"] == "no answer"
    assert [line["status"] for line in doctor._search_engine()] == ["error"]


def test_a_generation_is_made_switched_to_and_left_from_the_command_line(
    engine_set: None, library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("search_index", "create", "--shards", "3")
    made = IndexGeneration.objects.get()
    with pytest.raises(CommandError):
        call_command("search_index", "switch", str(made.pk))
    send(made)
    call_command("search_index", "switch", str(made.pk))
    assert active_embedding_set().generation_id == made.pk
    call_command("search_index", "reconcile")
    assert "missing=0 stray=0 retagged=0" in capsys.readouterr().out
    call_command("search_index", "send-again")
    call_command("search_index", "switch", "postgresql")
    call_command("search_index", "drop", str(made.pk))
    send(made)
    assert not IndexGeneration.objects.exists()
    with pytest.raises(CommandError, match="number"):
        call_command("search_index", "drop", "first")


def test_what_was_sent_stays_an_hour(generation: IndexGeneration, library: Library) -> None:
    library.add("追補.md", ["電子署名は長期署名とする。"])
    send(generation)
    sending.prune_changes()
    assert IndexChange.objects.exists()
    IndexChange.objects.update(sent_at="2026-01-01T00:00:00Z")
    sending.prune_changes()
    assert not IndexChange.objects.exists()
