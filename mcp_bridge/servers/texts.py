"""The tool of smartreviewer-core that judges a text without storing it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hub.access.principals import Scope
from mcp_bridge.caller import current_caller
from mcp_bridge.server import HubTool, hub_tool
from review import services
from review.schemas.lint import LintOut, lint_out


def check_text(
    text: Annotated[
        str,
        Field(
            max_length=services.MAX_CHARACTERS,
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
    result = services.lint_text(principal=current_caller().principal, text=text, rules=rules, text_format=format)
    return lint_out(result)


TOOL: HubTool = hub_tool(check_text, title="Check a text (文章校正)", scope=Scope.READ, picture="check")
