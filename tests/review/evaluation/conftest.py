from __future__ import annotations

from typing import Any

import pytest

from hub.access.principals import local_operator
from tests.factories import upload_file, work_through
from tests.review.evaluation.sample_cases import SAMPLE


@pytest.fixture
def document():
    return work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)


@pytest.fixture
def gate_mode(settings):
    def choose(mode: str, **more: Any) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update={"hub_evaluation_gate": mode, **more})

    return choose
