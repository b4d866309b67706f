"""Amazon Bedrock Knowledge Bases: Retrieve, and RetrieveAndGenerate where a model is configured.

The shapes are those of the Bedrock Agent Runtime API, version 2023-07-26. boto3 is imported with the first question,
so that a server that only lists its tools starts without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hub.core.masking import Masking

DEFAULT_REGION = "ap-northeast-1"
DEFAULT_RESULTS = 4
MAX_RESULTS = 100  # the API's own limit of numberOfResults
CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 25  # an MCP tool answers within 30 s

_AUTHENTICATION_CODES = frozenset(
    [
        *("AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature"),
        *("InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken", "NotAuthorized"),
        *("MissingAuthenticationTokenException", "OptInRequired", "SignatureDoesNotMatch", "UnauthorizedException"),
        "UnrecognizedClientException",
    ]
)
_NOT_FOUND_CODES = frozenset({"ResourceNotFoundException", "ResourceNotFound"})


class ErrorType(StrEnum):
    VALIDATION = "ValidationError"
    AUTHENTICATION = "AuthenticationError"
    NOT_FOUND = "NotFoundError"
    SERVICE = "ServiceError"


class KnowledgeBaseError(Exception):
    """A question that got no answer. ``original`` is the text of the error below, if there was one."""

    def __init__(self, error_type: ErrorType, message: str, *, original: str = "") -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.original = original

    def as_dict(self) -> dict[str, object]:
        """Return what callers read: {error, error_type, message, original}."""
        return {
            "error": True,
            "error_type": str(self.error_type),
            "message": self.message,
            "original": self.original or None,
        }


class MissingSetting(KnowledgeBaseError, ValueError):
    def __init__(self, name: str, why: str) -> None:
        super().__init__(ErrorType.VALIDATION, f"{name} is not set: {why}")
        self.name = name


@dataclass(frozen=True, slots=True, kw_only=True)
class KbConfig:
    """Which knowledge base is asked, and as whom. An empty ``model_arn`` means: Retrieve only."""

    aws_region: str
    kb_id: str
    model_arn: str = ""
    aws_profile: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage of the knowledge base. ``location`` is the API's own; ``score`` is null where the API gives none."""

    content: str
    location: dict[str, Any]
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KbAnswer:
    answer: str | None
    citations: tuple[Citation, ...]


def load_config(environ: Mapping[str, str], *, generate: bool = False) -> KbConfig:
    """Read AWS_REGION (default ap-northeast-1), AWS_PROFILE, BEDROCK_KB_ID and BEDROCK_MODEL_ARN.

    :raises MissingSetting: no BEDROCK_KB_ID; or ``generate`` and no BEDROCK_MODEL_ARN.
    """
    config = KbConfig(
        aws_region=environ.get("AWS_REGION") or DEFAULT_REGION,
        aws_profile=environ.get("AWS_PROFILE", ""),
        kb_id=environ.get("BEDROCK_KB_ID", ""),
        model_arn=environ.get("BEDROCK_MODEL_ARN", ""),
    )
    check_config(config, generate=generate)
    return config


def check_config(config: KbConfig, *, generate: bool = False) -> None:
    """Raise MissingSetting when the knowledge base, or the model that ``generate`` needs, is not configured."""
    if not config.kb_id.strip():
        raise MissingSetting("BEDROCK_KB_ID", "set it to the id of the Amazon Bedrock knowledge base.")
    if generate and not config.model_arn.strip():
        raise MissingSetting("BEDROCK_MODEL_ARN", "set it to the ARN of the model that writes answers.")


def check_question(query: str, max_results: int) -> None:
    """Raise KnowledgeBaseError (ValidationError) for a blank question or a count outside 1 to 100."""
    if not query.strip():
        raise KnowledgeBaseError(ErrorType.VALIDATION, "query is empty. Ask a question in words.")
    if not 1 <= max_results <= MAX_RESULTS:
        raise KnowledgeBaseError(
            ErrorType.VALIDATION, f"max_results is {max_results}; it has to be from 1 to {MAX_RESULTS}."
        )


def ask(
    config: KbConfig,
    *,
    query: str,
    max_results: int = DEFAULT_RESULTS,
    generate: bool | None = None,
    client: Any = None,  # noqa: ANN401 (boto3 makes its classes at run time)
    masks: bool = True,
) -> KbAnswer:
    """Ask the knowledge base. ``generate`` None means: where a model is configured.

    With ``masks`` personal data in the question is masked before it leaves.

    :raises KnowledgeBaseError: with the kind of problem and what to do about it.
    """
    check_question(query, max_results)
    query = Masking().mask(query) if masks else query
    wanted = bool(config.model_arn.strip()) if generate is None else generate
    check_config(config, generate=wanted)
    try:
        runtime = client or open_client(config)
        if wanted:
            return parse_generation(runtime.retrieve_and_generate(**generation_request(config, query, max_results)))
        return parse_retrieval(runtime.retrieve(**retrieval_request(config, query, max_results)))
    except KnowledgeBaseError:
        raise
    except Exception as error:
        raise explain(error, config) from error


def open_client(config: KbConfig) -> Any:  # noqa: ANN401 (boto3 makes its classes at run time)
    import boto3
    from botocore.config import Config

    session = boto3.Session(profile_name=config.aws_profile or None, region_name=config.aws_region)
    limits = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": 2},
    )
    return session.client("bedrock-agent-runtime", config=limits)


def retrieval_request(config: KbConfig, query: str, max_results: int) -> dict[str, Any]:
    return {
        "knowledgeBaseId": config.kb_id,
        "retrievalQuery": {"text": query},
        "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": max_results}},
    }


def generation_request(config: KbConfig, query: str, max_results: int) -> dict[str, Any]:
    return {
        "input": {"text": query},
        "retrieveAndGenerateConfiguration": {
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": config.kb_id,
                "modelArn": config.model_arn,
                "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": max_results}},
            },
        },
    }


def parse_retrieval(response: Mapping[str, Any]) -> KbAnswer:
    """Read the answer to Retrieve: its results in their order, best first."""
    return KbAnswer(answer=None, citations=_citations(response.get("retrievalResults", [])))


def parse_generation(response: Mapping[str, Any]) -> KbAnswer:
    """Read the answer to RetrieveAndGenerate: its text, and all references in the order of the text."""
    references = [
        reference for citation in response.get("citations", []) for reference in citation.get("retrievedReferences", [])
    ]
    return KbAnswer(answer=response["output"]["text"], citations=_citations(references))


def _citations(items: Sequence[Mapping[str, Any]]) -> tuple[Citation, ...]:
    return tuple(
        Citation(
            content=item.get("content", {}).get("text", ""),
            location=dict(item.get("location", {})),
            score=item.get("score"),
        )
        for item in items
    )


def explain(error: Exception, config: KbConfig) -> KnowledgeBaseError:
    """Say what kind of problem an error of boto3 is, what to do, and what it said itself."""
    original = f"{type(error).__name__}: {error}"
    if _is_about_credentials(error):
        return KnowledgeBaseError(
            ErrorType.AUTHENTICATION,
            "AWS refused the credentials. Check AWS_PROFILE, the access keys or the role, and that it may call "
            f"bedrock:Retrieve in {config.aws_region}. {original}",
            original=original,
        )
    if _code(error) in _NOT_FOUND_CODES:
        return KnowledgeBaseError(
            ErrorType.NOT_FOUND,
            f'There is no knowledge base "{config.kb_id}" in {config.aws_region}. Check BEDROCK_KB_ID and AWS_REGION. '
            f"{original}",
            original=original,
        )
    return KnowledgeBaseError(
        ErrorType.SERVICE,
        f"Amazon Bedrock could not answer; try again later, or see what it said: {original}",
        original=original,
    )


def _is_about_credentials(error: Exception) -> bool:
    from botocore import exceptions

    kinds = (
        exceptions.NoCredentialsError,
        exceptions.PartialCredentialsError,
        exceptions.CredentialRetrievalError,
        exceptions.ProfileNotFound,
        exceptions.TokenRetrievalError,
        exceptions.SSOError,
    )
    return isinstance(error, kinds) or _code(error) in _AUTHENTICATION_CODES


def _code(error: Exception) -> str:
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
