"""What kb_answer takes and gives, its errors too, the same on the light server and on the hub's."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from knowledge.remote.bedrock_kb import MAX_RESULTS, ErrorType, KbAnswer, KnowledgeBaseError


def failed_question(error: KnowledgeBaseError) -> CallToolResult:
    """Say it in words and as facts: {error, error_type, message, original}.

    The facts stand in the text, and in ``_meta``: structured content would have to follow the tool's output schema.
    """
    facts = error.as_dict()
    text = json.dumps(facts, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta={"hub/error": facts})


def invalid_argument(message: str) -> CallToolResult:
    """Say which argument can't be used."""
    return failed_question(KnowledgeBaseError(ErrorType.VALIDATION, message))


NAME = "kb_answer"
TITLE = "Ask the Amazon Bedrock knowledge base (ナレッジベース検索)"
DESCRIPTION = """Ask the Amazon Bedrock knowledge base of this hub (Bedrock ナレッジベース): passages with locations.

Use it for questions about documents that are kept in Amazon Bedrock; use search for documents in the hub.
citations come best first. answer is a text that a model wrote from them, and null where none is configured or asked
for. A failed call says error_type (ValidationError, AuthenticationError, NotFoundError, ServiceError)."""

Query = Annotated[
    str,
    Field(
        max_length=10_000,
        description="the question, in Japanese or English",
        examples=["非機能要求グレードの6つの大項目は？"],
    ),
]
MaxResults = Annotated[
    int, Field(ge=1, le=MAX_RESULTS, description="how many passages to get (1 to 100)", examples=[4])
]
Generate = Annotated[
    bool | None,
    Field(description="true: have a model write an answer; false: passages only; left out: as configured"),
]


class KbCitationOut(BaseModel):
    content: str = Field(description="the passage")
    location: dict[str, Any] = Field(description="where it is: {type: S3, s3Location: {uri}} and the like")
    score: float | None = Field(description="relevance as Bedrock gives it; null with a generated answer")


class KbAnswerOut(BaseModel):
    answer: str | None = Field(description="null without generation")
    citations: list[KbCitationOut]


def kb_answer_out(answer: KbAnswer) -> KbAnswerOut:
    """Show an answer to callers."""
    citations = [
        KbCitationOut(content=item.content, location=item.location, score=item.score) for item in answer.citations
    ]
    return KbAnswerOut(answer=answer.answer, citations=citations)
