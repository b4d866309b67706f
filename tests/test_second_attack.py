"""What a second attack found beside the audit's list."""

from __future__ import annotations

from datetime import datetime

import pytest

from hub.core.errors import InvalidInput
from hub.core.moments import in_utc
from knowledge.guidelines.files import MAX_HEADINGS, read_markdown
from knowledge.search.query import FilterIn
from tests.knowledge.graph.cypher.asking import ask


@pytest.mark.django_db
@pytest.mark.parametrize("value", [2**63, [2**63], {"a": 2**63}])
def test_a_parameter_that_the_engine_can_not_hold_is_refused_at_once(value):
    with pytest.raises(InvalidInput) as caught:
        ask("RETURN $a AS x", parameters={"a": value})
    assert caught.value.error_code == "invalid_cypher"


def test_a_guideline_of_very_many_headings_is_refused_before_it_is_parsed():
    (problem,) = read_markdown("# a\n" * (MAX_HEADINGS + 1)).problems
    assert str(MAX_HEADINGS) in problem.message
    assert read_markdown("# 1. 目的\n\n本文\n").articles


@pytest.mark.parametrize("given", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:30:00+23:59"])
def test_a_time_beyond_the_calendar_is_no_time(given):
    with pytest.raises(ValueError, match="9999"):
        FilterIn(created_from=given)


@pytest.mark.parametrize(
    "moment", ["9999-12-31T23:59:59+00:00", "9999-12-31T15:00:00+00:00", "0001-01-01T00:00:00+14:00"]
)
def test_a_time_that_can_not_be_shown_in_the_hubs_zone_is_refused(moment):
    with pytest.raises(ValueError, match="years"):
        in_utc(datetime.fromisoformat(moment))


def test_a_time_is_kept_in_utc():
    assert in_utc(datetime.fromisoformat("2026-04-01T09:00:00+09:00")).isoformat() == "2026-04-01T00:00:00+00:00"
