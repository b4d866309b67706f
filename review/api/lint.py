"""REST calls of the text-rule service."""

from __future__ import annotations

from typing import Literal

from ninja import Field, Router, Schema

from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.schemas import ShortText
from review.lint import MAX_CHARACTERS, MAX_RULES, LintOut, RulesOut, describe_rules, lint_out, lint_text

router = Router()


class LintIn(Schema):
    # the service refuses what is longer, with a code of its own
    text: str = Field(json_schema_extra={"maxLength": MAX_CHARACTERS})
    rules: list[ShortText] = Field(
        [],
        json_schema_extra={"maxItems": MAX_RULES},
        description="ids, prefixes (style.*) or aliases (textlint:…); default: the usual ones",
    )
    format: Literal["markdown", "text"] = Field("markdown", description="markdown leaves code, URLs and quotations out")


@router.post("/lint", response=LintOut)
@reads
def lint(request: HubRequest, asked: LintIn) -> LintOut:
    """Judge a text by the text rules. Nothing is stored."""
    result = lint_text(principal=request.principal, text=asked.text, rules=asked.rules, text_format=asked.format)
    return lint_out(result)


@router.get("/rules", response=RulesOut)
def list_rules(request: HubRequest) -> RulesOut:
    """All rules: id, title, what each looks at, defaults, aliases, and whether it judges texts or whole documents."""
    return describe_rules(request.principal)
