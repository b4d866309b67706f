"""Questions to collections that live elsewhere, with the caller's principal."""

from __future__ import annotations

from django.conf import settings

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from knowledge.remote.bedrock_kb import DEFAULT_RESULTS, KbAnswer, KbConfig, ask


def knowledge_base_config() -> KbConfig:
    """The knowledge base of the hub's settings; its id is empty where none is configured."""
    config = settings.CONFIG
    return KbConfig(
        aws_region=config.aws_region,
        aws_profile=config.aws_profile,
        kb_id=config.bedrock_kb_id,
        model_arn=config.bedrock_model_arn,
    )


def ask_knowledge_base(
    *, principal: Principal, query: str, max_results: int = DEFAULT_RESULTS, generate: bool | None = None
) -> KbAnswer:
    """Ask the configured Amazon Bedrock knowledge base.

    :raises KnowledgeBaseError: with the kind of problem and what to do about it.
    """
    principal.require(Scope.SEARCH)
    answer = ask(knowledge_base_config(), query=query, max_results=max_results, generate=generate)
    record_event(
        principal=principal, action="SEARCH", resource="bedrock", mode="bedrock", results=len(answer.citations)
    )
    return answer
