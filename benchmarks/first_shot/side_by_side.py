"""A provider that sends requests without waiting for them, for models that answer within minutes.

A review asks for one answer after another. Here each request goes out at once and fails for the moment, so that the
review goes on to its next one; once all answers are there the review is made again, until nothing is left to ask.
The last one has met answers only, as one undisturbed review would have.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_all
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from hub.llm.errors import LlmInvalidAnswer
from hub.llm.providers import registry
from hub.llm.providers.openai_compatible import OpenAICompatibleProvider
from hub.llm.types import Completion, Limits, LlmRequest, Provider, StructuredOutput
from review.judging.plan import REPAIRS

AT_ONCE = 256
# What is asked only once all of the others are answered, by the names of the schemas: it is made of their answers.
COMES_AFTER = {"refuting": ("reading",), "judgement": ("summaries", "sections", "relevant"), "sections": ("summaries",)}


@dataclass(slots=True, kw_only=True)
class Sent:
    """What one thread has asked: each request once, by its digest, in the order in which it was sent."""

    answers: dict[str, Future[Completion]] = field(default_factory=dict)
    open_kinds: set[str] = field(default_factory=set)
    was_open: bool = False

    @property
    def is_open(self) -> bool:
        """Whether something that was asked since ``begin`` is not answered yet."""
        return bool(self.open_kinds)

    def begin(self) -> None:
        """Begin to ask anew."""
        self.open_kinds.clear()

    def wait(self) -> None:
        """Wait until everything that was sent is answered, or has failed."""
        wait_for_all(self.answers.values())

    @property
    def completions(self) -> list[Completion]:
        """The answers that came."""
        done = [one for one in self.answers.values() if one.done() and one.exception() is None]
        return [one.result() for one in done]


class SideBySide:
    """Asks ``provider`` in the background; each thread has its own ``sent``."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._pool = ThreadPoolExecutor(max_workers=AT_ONCE)
        self._own = threading.local()

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def is_private(self) -> bool:
        return self._provider.is_private

    @property
    def sent(self) -> Sent:
        """What this thread has asked so far."""
        if not hasattr(self._own, "sent"):
            self._own.sent = Sent()
        sent: Sent = self._own.sent
        return sent

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Give the answer if it is there. :raises LlmInvalidAnswer: it is under way; HubError: as the provider does."""
        sent = self.sent
        kind = _kind_of(request)
        repairs = any(text in request.messages[-1].text for text in REPAIRS.values())
        key = f"{request.digest}.{request.vote}"
        if key not in sent.answers:
            is_early = sent.open_kinds & {kind if kind.startswith("reading") else "", *_before(kind, sent.open_kinds)}
            if is_early or (repairs and sent.was_open):  # of an answer that is not there yet
                raise _not_yet()
            sent.answers[key] = self._pool.submit(
                self._provider.complete, request, model=model, max_output_tokens=max_output_tokens
            )
        answer = sent.answers[key]
        sent.was_open = not answer.done()
        if sent.was_open:
            sent.open_kinds.add(kind)
            raise _not_yet()
        return answer.result()

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Give the whole answer in one piece if it is there. Raises what `complete` raises."""
        completion = self.complete(request, model=model, max_output_tokens=max_output_tokens)
        yield completion.text
        yield completion

    def check(self) -> None:
        self._provider.check()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._provider.close()


@contextmanager
def asked_side_by_side(url: str, *, limits: Limits) -> Iterator[SideBySide]:
    """Have everything that this process asks a model go to an endpoint, side by side."""
    plain = OpenAICompatibleProvider(
        base_url=url, api_key="", structured_output=StructuredOutput.JSON_SCHEMA, limits=limits
    )
    provider = SideBySide(plain)
    try:
        with patch.object(registry, "_openai", lambda *_settings: provider):
            yield provider
    finally:
        provider.close()


def _kind_of(request: LlmRequest) -> str:
    """The schema's name; readings for different categories are different kinds, each part of one made of the last."""
    if request.schema is None:
        return ""
    found = request.schema.schema["properties"].get("findings", {}).get("items", {}).get("properties", {})
    categories = found.get("category", {}).get("enum", ())
    return " ".join([request.schema.name, *categories])


def _before(kind: str, others: set[str]) -> set[str]:
    return {other for other in others if other.split(" ")[0] in COMES_AFTER.get(kind, ())}


def _not_yet() -> LlmInvalidAnswer:
    return LlmInvalidAnswer("The answer is under way.")
