"""The tool of smartreviewer-core that judges a text without storing it."""

from __future__ import annotations

from typing import Annotated, Literal

from django.conf import settings
from pydantic import Field

from hub.access.principals import Scope
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from review.lint import MAX_CHARACTERS, LintOut, lint_out, lint_text


def check_text(
    text: Annotated[
        str,
        Field(
            max_length=MAX_CHARACTERS,
            description="the text itself, in Japanese or English",
            examples=["利用者が画面から履歴を見れるように、適切に対応すること。"],
        ),
    ],
    rules: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(
            max_length=200,
            description="rule ids (style.sentence_length), prefixes (style.*) or aliases (textlint:no-doubled-joshi); "
            "default: the usual ones",
        ),
    ] = [],  # noqa: B006 (never changed; pydantic shows it as the default)
    format: Annotated[
        Literal["markdown", "text"], Field(description="markdown leaves code, URLs and quotations out")
    ] = "markdown",
) -> LintOut:
    """Judge a text by the rules of style and wording (文章校正、推敲): findings with places, some with a fix.

    Use it on a passage or a draft that stands in the conversation (誤字、表記ゆれ、曖昧な表現、長い文、文体の混在),
    and on what you wrote yourself. Nothing is stored. For checks that need a whole document (numbering, traceability,
    coverage) use review_document.
    """
    result = lint_text(principal=current_caller().principal, text=text, rules=rules, text_format=format)
    return _within_budget(lint_out(result))


def _within_budget(checked: LintOut) -> LintOut:
    """Keep the findings whose JSON fits into HUB_OUTPUT_BUDGET_CHARS, and at least one; say so when some are left."""
    shown, budget = 0, settings.CONFIG.hub_output_budget_chars
    for finding in checked.findings:
        budget -= len(finding.model_dump_json())
        if budget < 0 and shown:
            break
        shown += 1
    if shown == len(checked.findings):
        return checked
    notice = {
        "code": "findings_left_out",
        "ja": f"指摘 {checked.total_findings} 件のうち最初の {shown} 件です。残りは本文を分けて確認してください。",
        "en": f"The first {shown} of {checked.total_findings} findings. Check the text in parts for the rest.",
    }
    return checked.model_copy(update={"findings": checked.findings[:shown], "notices": [*checked.notices, notice]})


TOOL: HubTool = hub_tool(check_text, title="Check a text (文章校正)", scope=Scope.READ, picture="check")
