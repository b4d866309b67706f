"""A real small model with grammar-bound answers: the whole path, not the quality of what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.llm.client import ask
from hub.llm.models import TokenRate
from hub.llm.preparation import Purpose, estimate
from hub.llm.providers.registry import close_provider
from hub.llm.types import AnswerSchema
from tests.hub.llm.conftest import VERDICT, asking
from tests.local_model import local_model as serve

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.timeout(600)]
JUDGING = Purpose(name="test")
PIECE = 4000
PIECES = 8


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve() as running:
        yield running


@pytest.fixture
def local_model(url: str, configure: Any) -> Iterator[None]:
    configure(
        llm_provider="openai",
        llm_base_url=url,
        llm_model="gemma3-270m",
        llm_structured_output="grammar",
        llm_max_output_tokens=160,
    )
    yield
    close_provider()


def test_a_grammar_makes_even_a_tiny_model_answer_in_the_schema(local_model: None) -> None:
    answer = ask(local_operator(), asking("応答時間の要件は定められているか。"), purpose=JUDGING)
    assert answer.data["verdict"] in VERDICT.schema["properties"]["verdict"]["enum"]
    assert answer.tokens_in > 0
    assert not answer.usage_is_estimated


def test_estimates_for_sample_documents_come_within_a_fifth_of_the_models_own_tokenizer(
    local_model: None, test_data
) -> None:
    """After one answer: before it the hub has not met the model's vocabulary."""
    files = [*sorted(test_data.glob("documents/*.md")), *sorted(test_data.glob("review/documents/*.md"))]
    pieces = [piece for file in files if len(piece := file.read_text(encoding="utf-8")[:PIECE]) == PIECE]
    assert len(pieces) > PIECES
    far: list[float] = []
    ask(local_operator(), _brief(pieces[0]), purpose=JUDGING)
    for piece in pieces[1 :: len(pieces) // PIECES]:
        expected = estimate(_brief(piece)).tokens_in
        far.append(abs(expected / ask(local_operator(), _brief(piece), purpose=JUDGING).tokens_in - 1))
    assert TokenRate.objects.get().counted > 0
    assert max(far) <= 0.2, far


def _brief(material: str) -> Any:
    """A request whose answer is a word: what is measured is its input."""
    return asking(material, schema=AnswerSchema(name="seen", schema={"enum": ["seen"]}))
