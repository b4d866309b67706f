"""A hub with a language model: the misbehaving server, and settings that point to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hub.llm.providers.registry import close_provider
from hub.llm.types import AnswerSchema, LlmRequest, Message, Role
from tests.llm_server import LlmServer, llm_server

VERDICT = AnswerSchema(
    name="verdict",
    schema={
        "type": "object",
        "properties": {
            "verdict": {"enum": ["pass", "fail"]},
            "reason": {"type": "string", "maxLength": 200},
        },
        "required": ["verdict", "reason"],
        "additionalProperties": False,
    },
)
PASS = '{"verdict": "pass", "reason": "応答時間が3秒以内と定められている。"}'


def asking(text: str = "応答時間の要件は定められているか。", **options: Any) -> LlmRequest:
    return LlmRequest(messages=(Message(role=Role.USER, text=text),), **{"schema": VERDICT, **options})


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(PASS) as running:
        yield running


@pytest.fixture
def configure(settings: Any) -> Callable[..., None]:
    def change(**values: Any) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update=values)

    return change


@pytest.fixture
def configured(server: LlmServer, configure: Callable[..., None]) -> Iterator[LlmServer]:
    """The server, as the hub's language model. Reviews ask it about checks only, unless they say more."""
    configure(llm_provider="openai", llm_base_url=server.url, llm_model="strong", llm_timeout_s=20.0)
    configure(llm_second_opinion=False, llm_sweep=False)
    yield server
    close_provider()
