"""The provider that the settings name."""

from __future__ import annotations

import threading
from functools import lru_cache

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.config import Configuration
from hub.llm.errors import LlmUnavailable
from hub.llm.providers.bedrock import BedrockProvider
from hub.llm.providers.openai_compatible import OpenAICompatibleProvider
from hub.llm.types import Limits, Provider, StructuredOutput

# An answer's tokens are at most this many characters each, in any script.
CHARACTERS_PER_TOKEN = 16
_making = threading.Lock()
_made: list[Provider] = []


def is_configured() -> bool:
    """Return whether there is a language model to ask."""
    return bool(settings.CONFIG.llm_provider != "none")


def get_provider(name: str = "") -> Provider:
    """This process's provider, or the one of a name with the other settings as they are.

    :raises LlmUnavailable: LLM_PROVIDER is none, or what the named one needs is not set (``llm_not_configured``).
    """
    config = settings.CONFIG
    if name and name != config.llm_provider:
        config = _with_provider(config, name)
    limits = Limits(
        timeout_s=config.llm_timeout_s, max_answer_chars=config.llm_max_output_tokens * CHARACTERS_PER_TOKEN
    )
    with _making:  # threads that meet at the first request must not make one each
        provider = _provider_of(config, limits)
        if provider not in _made:
            _made.append(provider)
        return provider


def _with_provider(config: Configuration, name: str) -> Configuration:
    needed = {"LLM_MODEL": config.llm_model} | ({"LLM_BASE_URL": config.llm_base_url} if name == "openai" else {})
    if missing := [setting for setting, value in needed.items() if not value]:
        raise LlmUnavailable(
            _("The provider {name} needs {missing} to be set."),
            code="llm_not_configured",
            name=name,
            missing=", ".join(missing),
        )
    return config.model_copy(update={"llm_provider": name})


def _provider_of(config: Configuration, limits: Limits) -> Provider:
    if config.llm_provider == "openai":
        return _openai(config.llm_base_url, config.llm_api_key, config.llm_structured_output, limits)
    if config.llm_provider == "bedrock":
        return _bedrock(config.aws_region, config.aws_profile, config.llm_base_url, limits)
    raise LlmUnavailable(
        _("No language model is configured. Set LLM_PROVIDER, and what it needs."), code="llm_not_configured"
    )


@lru_cache(maxsize=1)  # one set of connections for all threads
def _openai(base_url: str, api_key: str, structured_output: str, limits: Limits) -> Provider:
    return OpenAICompatibleProvider(
        base_url=base_url, api_key=api_key, structured_output=StructuredOutput(structured_output), limits=limits
    )


@lru_cache(maxsize=1)
def _bedrock(region: str, profile: str, endpoint_url: str, limits: Limits) -> Provider:
    return BedrockProvider(region=region, profile=profile, endpoint_url=endpoint_url, limits=limits)


def close_provider() -> None:
    """Close the connections of this process's providers; their next use makes them anew."""
    while _made:
        _made.pop().close()
    _openai.cache_clear()
    _bedrock.cache_clear()


def check_llm() -> None:
    """Raise when the configured provider can't be reached; without one there is nothing to check."""
    if is_configured():
        get_provider().check()
