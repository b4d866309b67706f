"""The table of sizes: what the document says is what the constants give, and these give what was measured."""

from __future__ import annotations

import pytest

from benchmarks import sizing


def test_the_document_has_the_table_that_the_constants_give():
    assert sizing.in_document() == sizing.table()


@pytest.mark.parametrize(("passages", "waits"), [(10**5, 30.1), (10**6, 102.8)])
def test_what_was_measured_is_not_computed(passages, waits):
    assert sizing.one_machine(passages).p95_ms == waits


def test_replicas_bring_searches_and_no_room():
    alone, three = sizing.one_machine(10**7), sizing.with_replicas(10**7)
    assert three.searches_s > 1.5 * alone.searches_s
    assert three.machines[0][1] == alone.machines[0][1]
    assert three.dollars == pytest.approx(3 * alone.dollars)


def test_where_no_machine_is_large_enough_there_is_no_price():
    shape = sizing.one_machine(10**9)
    assert shape.machines == ((1, None),)
    assert shape.dollars is None
    assert shape.searches_s is None
