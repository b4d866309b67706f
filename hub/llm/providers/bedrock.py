"""Models of Amazon Bedrock through the Converse API, without tools."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from django.utils.translation import gettext_lazy as _

from hub.core.retries import TryAgain, with_retries
from hub.llm.errors import LlmInvalidAnswer, LlmRefused, LlmTimeout, LlmUnavailable
from hub.llm.json_answers import describe_schema
from hub.llm.types import Completion, FinishReason, Limits, LlmRequest, Message, Role

CONNECT_TIMEOUT_S = 5.0
# Source: Amazon Bedrock API reference, Converse, "Errors".
PASSING = frozenset(
    {"ThrottlingException", "ServiceUnavailableException", "InternalServerException", "ModelNotReadyException"}
)
_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "content_filtered": FinishReason.FILTERED,
    "guardrail_intervened": FinishReason.FILTERED,
}
IMAGE_FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_making = threading.Lock()


class BedrockProvider:
    """See `Provider` for what the methods promise. Converse is asked for a schema in words: it has no other way.

    ``stream`` gives the answer in one piece.
    """

    name = "bedrock"
    is_private = False

    def __init__(
        self,
        *,
        region: str,
        profile: str = "",
        endpoint_url: str = "",
        limits: Limits,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``endpoint_url`` is for a VPC endpoint; empty means the region's own. Nothing is opened before first use."""
        self._region = region
        self._profile = profile
        self._endpoint_url = endpoint_url
        self._timeout_s = limits.timeout_s
        self._max_answer_chars = limits.max_answer_chars
        self._sleep = sleep

    @cached_property
    def client(self) -> Any:  # noqa: ANN401 - boto3's clients are made at run time
        """The bedrock-runtime client."""
        with _making:  # boto3's sessions must not be made by two threads at once
            config = Config(
                connect_timeout=CONNECT_TIMEOUT_S,
                read_timeout=self._timeout_s,
                retries={"total_max_attempts": 1},  # with_retries knows the deadline
            )
            return self._session().client("bedrock-runtime", endpoint_url=self._endpoint_url or None, config=config)

    def complete(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Completion:
        """Ask and wait for the whole answer; see `Provider`."""
        body = _body(request, max_output_tokens)

        def attempt() -> Completion:
            return self._read(self._converse(model, body), model)

        return with_retries(attempt, deadline=time.monotonic() + self._timeout_s, sleep=self._sleep)

    def stream(self, request: LlmRequest, *, model: str, max_output_tokens: int) -> Iterator[str | Completion]:
        """Yield the whole text, then the Completion."""
        completion = self.complete(request, model=model, max_output_tokens=max_output_tokens)
        yield completion.text
        yield completion

    def check(self) -> None:
        """Look for credentials; Bedrock has no request that is both free and allowed to everybody."""
        try:
            credentials = self._session().get_credentials()
        except BotoCoreError as error:
            raise _unavailable(error) from error
        if credentials is None:
            raise LlmRefused(
                _("There are no AWS credentials for Amazon Bedrock. Set AWS_PROFILE, or give the machine a role."),
                code="llm_key_refused",
            )

    def close(self) -> None:
        """Close the client's connections, if it was ever used."""
        if "client" in self.__dict__:
            self.client.close()

    def _session(self) -> Any:  # noqa: ANN401
        import boto3  # takes a third of a second, which who does not use it need not wait

        return boto3.Session(profile_name=self._profile or None, region_name=self._region)

    def _converse(self, model: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = self.client.converse(modelId=model, **body)
        except ReadTimeoutError as error:
            raise LlmTimeout(
                _("The language model took longer than {seconds} seconds (LLM_TIMEOUT_S)."), seconds=self._timeout_s
            ) from error
        except ClientError as error:
            raise _translated(error, self._timeout_s) from error
        except BotoCoreError as error:
            raise TryAgain(_unavailable(error)) from error
        return answer

    def _read(self, answer: dict[str, Any], model: str) -> Completion:
        blocks = answer.get("output", {}).get("message", {}).get("content", ())
        text = "".join(block.get("text", "") for block in blocks)
        if len(text) > self._max_answer_chars:
            raise LlmInvalidAnswer(
                _("The language model's answer is longer than {limit} characters; it was given up."),
                code="llm_answer_too_long",
                limit=self._max_answer_chars,
            )
        usage = answer.get("usage", {})
        return Completion(
            text=text.replace("\0", ""),
            finish_reason=_REASONS.get(answer.get("stopReason", ""), FinishReason.OTHER),
            model=model,
            tokens_in=usage.get("inputTokens"),
            tokens_out=usage.get("outputTokens"),
        )


def _body(request: LlmRequest, max_output_tokens: int) -> dict[str, Any]:
    system = [message.text for message in request.messages if message.role is Role.SYSTEM]
    if request.schema is not None:
        system.append(describe_schema(request.schema))
    body: dict[str, Any] = {
        "messages": [_message(message) for message in request.messages if message.role is not Role.SYSTEM],
        "inferenceConfig": {"maxTokens": max_output_tokens, "temperature": request.temperature},
    }
    return body | ({"system": [{"text": text} for text in system]} if system else {})


def _message(message: Message) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": message.text}]
    for image in message.images:
        if image.media_type not in IMAGE_FORMATS:
            raise LlmRefused(_("Amazon Bedrock does not read pictures of the type {given}."), given=image.media_type)
        content.append({"image": {"format": IMAGE_FORMATS[image.media_type], "source": {"bytes": image.data}}})
    return {"role": message.role.value, "content": content}


def _translated(error: ClientError, timeout_s: float) -> Exception:
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code in PASSING:
        return TryAgain(_unavailable(error))
    if code == "ModelTimeoutException":
        return LlmTimeout(
            _("The language model took longer than {seconds} seconds (LLM_TIMEOUT_S)."), seconds=timeout_s
        )
    return LlmRefused(
        _("Amazon Bedrock refused the request ({error}): {reason}"),
        error=code,
        code="llm_key_refused" if code in {"AccessDeniedException", "UnrecognizedClientException"} else None,
        reason=str(error.response.get("Error", {}).get("Message", "-"))[:200],
    )


def _unavailable(error: Exception) -> LlmUnavailable:
    return LlmUnavailable(
        _("Amazon Bedrock does not answer ({failure}). See AWS_REGION, AWS_PROFILE and the network."),
        failure=type(error).__name__ if not isinstance(error, ClientError) else error.response["Error"]["Code"],
    )
