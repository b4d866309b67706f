"""Candidates, evidence and rankings keep their columns together."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.search.candidates import NO_CANDIDATES, Candidates
from knowledge.search.fusion import Columnar, Evidence, Ranking

INTEGERS, SHARES, MARKS = np.arange(4), np.array([0.1, np.nan, 0.3, 0.4]), np.array([True, False, False, True])
CANDIDATES = Candidates(
    chunk_ids=INTEGERS + 10,
    version_ids=INTEGERS + 20,
    ordinals=INTEGERS + 30,
    fingerprints=-INTEGERS,
    are_contents=MARKS,
    cosines=SHARES,
)
EVIDENCE = Evidence(
    chunk_ids=INTEGERS, cosines=SHARES, words=SHARES / 2, bigrams=SHARES / 3, codes=SHARES / 4, are_contents=MARKS
)
RANKING = Ranking(places=INTEGERS, scores=SHARES)


def columns(value: Columnar) -> dict[str, list[object]]:
    return {name: [repr(one) for one in getattr(value, name).tolist()] for name in value.__slots__}


@pytest.mark.parametrize("value", [CANDIDATES, EVIDENCE, RANKING])
@pytest.mark.parametrize("which", [np.array([3, 0, 0]), np.array([], np.int64), slice(1, 3), slice(3, 99)])
def test_rows_are_kept_in_every_column_and_in_the_order_given(value: Columnar, which: np.ndarray | slice) -> None:
    kept = value.at(which)
    assert type(kept) is type(value)
    assert columns(kept) == {
        name: [repr(one) for one in np.array(getattr(value, name))[which].tolist()] for name in value.__slots__
    }


def test_other_rows_come_behind() -> None:
    both = CANDIDATES.at(np.array([2])).followed_by(CANDIDATES.at(np.array([1, 0])))
    assert both.chunk_ids.tolist() == [12, 11, 10]
    assert columns(both) == columns(CANDIDATES.at(np.array([2, 1, 0])))
    assert columns(NO_CANDIDATES.followed_by(both)) == columns(both)
    assert both.cosines.dtype == float
    assert both.are_contents.dtype == bool
