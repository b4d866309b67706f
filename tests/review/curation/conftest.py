"""Two curators, and a version of a check list that is in force."""

from __future__ import annotations

import pytest

from hub.access.principals import Principal
from review.masters.listing import get_checklist, version_in_force
from review.models import CheckListVersion
from tests.factories import hub_curator


@pytest.fixture
def curator() -> Principal:
    return hub_curator()


@pytest.fixture
def second() -> Principal:
    """Somebody else, who publishes what the curator wrote."""
    return hub_curator()


@pytest.fixture
def current() -> CheckListVersion:
    version = version_in_force(get_checklist("test-plan"))
    assert version is not None
    return version
