"""Extension points: what apps contribute to a service below them."""

from __future__ import annotations

import pytest

from hub.core.extensions import ExtensionPoint


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
