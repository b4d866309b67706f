"""What kb_answer takes and gives, the same on the light server and on the hub's."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from knowledge.remote.bedrock_kb import MAX_RESULTS, KbAnswer

NAME = "kb_answer"
TITLE = "Ask the Amazon Bedrock knowledge base (ナレッジベース検索)"
DESCRIPTION = """Ask the Amazon Bedrock knowledge base that this hub is connected to (Bedrock ナレッジベース), and get
passages with their locations.

Use it for questions about documents that are kept in Amazon Bedrock; use search for documents in the hub itself.
citations come best first. answer is a text that a model wrote from them, and null where none is configured or asked
for. A failed call says error_type (ValidationError, AuthenticationError, NotFoundError, ServiceError) and a remedy."""

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
