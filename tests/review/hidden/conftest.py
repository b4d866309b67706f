"""A design that all here may read, requirements that some may not, and people."""

from __future__ import annotations

import pytest

from hub.access.principals import Classification, Role
from hub.evaluation.models import EvaluationDataset
from tests.factories import new_collection, upload_text, work_through
from tests.review.hidden.support import DESIGN, OPERATOR, REQUIREMENTS, Person


@pytest.fixture
def open_shelf():
    return new_collection()


@pytest.fixture
def closed_shelf():
    return new_collection()


@pytest.fixture
def heidi(open_shelf):
    return Person("heidi", Role.READER, open_shelf)


@pytest.fixture
def bob(open_shelf):
    return Person("bob", Role.REVIEWER, open_shelf)


@pytest.fixture
def alice(open_shelf, closed_shelf):
    return Person("alice", Role.CURATOR, open_shelf, closed_shelf, ceiling=Classification.C3)


@pytest.fixture
def design(tmp_path, open_shelf):
    more = {"document_type": "basic_design", "collection": open_shelf.slug}
    return work_through(upload_text(OPERATOR, tmp_path, DESIGN, **more).document)


@pytest.fixture
def requirements(tmp_path, closed_shelf):
    """Hidden by its collection."""
    more = {"document_type": "requirements", "collection": closed_shelf.slug, "name": "要件定義書.md"}
    return work_through(upload_text(OPERATOR, tmp_path, REQUIREMENTS, **more).document)


@pytest.fixture
def secret(tmp_path, open_shelf):
    """Hidden by its classification."""
    more = {"document_type": "requirements", "collection": open_shelf.slug, "name": "要件定義書.md"}
    more["classification"] = Classification.C3
    return work_through(upload_text(OPERATOR, tmp_path, REQUIREMENTS, **more).document)


@pytest.fixture
def dataset(bob, alice):
    made = EvaluationDataset.objects.create(code="gold", name="正解")
    made.readers.set([bob.user, alice.user])
    return made
