"""Why a language model gave no answer that can be used."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, LimitExceeded, Unavailable

# A stream ended before the answer did; what came of it may have been shown already.
STREAM_CUT = "llm_stream_cut"

# Codes of requests that the hub itself does not send: no provider has seen anything.
NEVER_SENT = frozenset({"llm_classification_too_high", "llm_no_training_not_confirmed"})


class LlmUnavailable(Unavailable):
    """The model's server is away, overloaded, or broke off; or no model is configured (code ``llm_not_configured``)."""

    code = "llm_unavailable"
    title = _("Language model unavailable")


class LlmTimeout(LlmUnavailable):
    """The answer took longer than LLM_TIMEOUT_S; a shorter request may succeed."""

    code = "llm_timeout"


class AnswerPending(LlmUnavailable):
    """The provider passes the request on and has no answer yet; nothing was spent, the request is made again."""

    code = "llm_answer_pending"


class LlmRefused(HubError):
    """The provider understood the request and refused it, or the hub must not send it; repeating does not help."""

    code = "llm_refused"
    status = 502
    title = _("Language model refused")


class LlmInvalidAnswer(HubError):
    """The answer is no JSON, misses the schema, is cut off or too long. ``text`` is what came."""

    code = "llm_invalid_answer"
    status = 502
    title = _("Unusable answer of the language model")

    def __init__(self, message: str | Promise, *, text: str = "", code: str | None = None, **data: object) -> None:
        super().__init__(message, code=code, **data)
        self.text = text


class BudgetExceeded(LimitExceeded):
    """The next request would pass the budget; nothing was sent."""

    code = "llm_budget_exceeded"
    title = _("Language model budget exceeded")


class ReplayMiss(LlmUnavailable):
    """A replay asks for an answer that was never recorded; nothing was sent."""

    code = "llm_replay_miss"
    retryable = False
