"""Extension points: what apps contribute to a service below them."""

from __future__ import annotations

import pytest

from hub.core.extensions import ExtensionPoint
from tests.lanes import group_of


def test_contributions_come_once_each_in_the_order_of_registration():
    checks = ExtensionPoint[str]()
    for name in ("items", "reviews", "items"):
        checks.register(name)
    assert list(checks) == ["items", "reviews"]


def test_a_contribution_that_was_taken_back_is_not_called_any_more():
    checks = ExtensionPoint[str]()
    checks.register("items")
    checks.remove("items")
    assert list(checks) == []
    with pytest.raises(ValueError, match="not in list"):
        checks.remove("items")


def test_a_contribution_that_is_named_is_imported_by_who_goes_through_them():
    groups = ExtensionPoint[object]()
    for _time in range(2):
        groups.register_named("tests.lanes.group_of")
    assert list(groups) == [group_of]
    groups.register_named("tests.nowhere.nothing")  # as little is said as of a module that nobody imports
    with pytest.raises(ImportError, match="nowhere"):
        list(groups)
