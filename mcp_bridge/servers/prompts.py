"""Prompts: texts that hosts offer to people. Here is what their arguments come to; the texts are curated."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop
from mcp.server.mcpserver import UserMessage
from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field

from hub.core.errors import InvalidInput, not_one_of
from knowledge.models import DocumentType
from knowledge.ontology.answers import CheckType
from knowledge.ontology.reasoning import InferenceType
from mcp_bridge.icons import icon
from mcp_bridge.prompts.services import write_prompt
from mcp_bridge.prompts.templates import LANGUAGES, Filling, Template
from mcp_bridge.server import HubServer, threaded

MAX_TOKENS = 1_000_000
SEVERITIES = ("critical", "major", "minor", "info")
_WORDS = {
    "ja": {
        "unknown_document": "（未指定。list_documents で探すか、upload_document で登録してください）",
        "all_areas": "- すべての領域",
        "no_guideline": "（指定なし）",
        "no_graph_results": "（なし）",
    },
    "en": {
        "unknown_document": "(not given: find it with list_documents, or upload it with upload_document)",
        "all_areas": "- all areas",
        "no_guideline": "(none given)",
        "no_graph_results": "(none)",
    },
}
Language = Annotated[str, Field(description=gettext_noop("ja or en: the language of the text"))]


def review_document_template(
    document_type: Annotated[
        str, Field(description=gettext_noop("文書種別: a code such as basic_design, or its name (基本設計書)"))
    ],
    focus_areas: Annotated[str, Field(description=gettext_noop("重点チェック領域, separated by commas"))] = "",
    severity_threshold: Annotated[
        str, Field(description=gettext_noop("報告する最低重要度: critical, major, minor or info"))
    ] = "info",
    document_id: Annotated[str, Field(description=gettext_noop("文書 ID, when the document is uploaded already"))] = "",
    language: Language = "ja",
) -> Filling:
    """Instructions for reviewing a document with this server's tools (文書レビュー実行用)."""
    areas = [area.strip() for area in focus_areas.replace("、", ",").split(",") if area.strip()]
    words = _words(language)
    values = {
        "document_type": _document_type(document_type, language),
        "document_id": document_id or words["unknown_document"],
        "focus_areas": "\n".join(f"- {area}" for area in areas) or words["all_areas"],
        "severity": one_of("severity_threshold", severity_threshold, SEVERITIES),
    }
    return Filling(template=Template.REVIEW, language=language, values=values)


def suggestion_generation(
    finding: Annotated[str, Field(description=gettext_noop("指摘事項の詳細: the finding as text or JSON"))],
    context: Annotated[str, Field(description=gettext_noop("関連コンテキスト: the passage that it is about"))],
    guideline_ref: Annotated[str, Field(description=gettext_noop("参照ガイドライン: an article or a title"))] = "",
    language: Language = "ja",
) -> Filling:
    """Instructions for writing a suggestion that repairs a finding (是正提案生成用)."""
    words = _words(language)
    values = {
        "finding": quoted(finding),
        "context": quoted(context),
        "guideline": guideline_ref or words["no_guideline"],
    }
    return Filling(template=Template.SUGGESTION, language=language, values=values)


def rag_query_template(
    check_item: Annotated[
        str, Field(description=gettext_noop("チェック項目: a code such as BD-B02, or what is to be checked"))
    ],
    document_context: Annotated[
        str, Field(description=gettext_noop("文書コンテキスト: title and section that are looked at"))
    ],
    language: Language = "ja",
) -> Filling:
    """Instructions for turning a check item into search queries (RAG 検索クエリ生成用)."""
    values = {"check_item": quoted(check_item), "document_context": quoted(document_context)}
    return Filling(template=Template.QUERY, language=one_of("language", language, LANGUAGES), values=values)


def context_synthesis(
    vector_results: Annotated[
        str, Field(description=gettext_noop("Vector 検索結果: passages of (vector_)search, as JSON"))
    ],
    graph_results: Annotated[
        str, Field(description=gettext_noop("Graph 検索結果: what graph_search gave, as JSON"))
    ] = "",
    max_context_length: Annotated[
        str, Field(description=gettext_noop("最大コンテキスト長: the most tokens of the result"))
    ] = "2000",
    language: Language = "ja",
) -> Filling:
    """Instructions for joining what several searches found into one context (コンテキスト統合用)."""
    words = _words(language)
    values = {
        "vector_results": quoted(vector_results),
        "graph_results": quoted(graph_results) if graph_results.strip() else words["no_graph_results"],
        "max_context_length": str(_count("max_context_length", max_context_length)),
    }
    return Filling(template=Template.SYNTHESIS, language=language, values=values)


def quoted(text: str) -> str:
    """Text of a document as a JSON string: whatever stands in it, it can't leave its quotes and give instructions."""
    return json.dumps(text, ensure_ascii=False)


def _words(language: str) -> dict[str, str]:
    return _WORDS[one_of("language", language, LANGUAGES)]


def _document_type(value: str, language: str) -> str:
    for known in DocumentType.objects.all():
        if value.strip() in (known.code, known.name_ja, known.name_en):
            return f"{known.name_en if language == 'en' else known.name_ja} ({known.code})"
    codes = DocumentType.objects.order_by("code").values_list("code", flat=True)
    return one_of("document_type", value, tuple(codes))


def _count(name: str, value: str) -> int:
    """Read a number from 1 to 1,000,000: arguments of prompts are texts. Raises InvalidInput."""
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:10]) <= MAX_TOKENS):
        raise InvalidInput(
            _("{field}: {value!r} is not a number from 1 to {most}."), field=name, value=value[:80], most=MAX_TOKENS
        )
    return int(value)


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Give a value back that is allowed. Raises InvalidInput naming those that are."""
    if value not in allowed:
        raise not_one_of(name, value[:80], allowed)
    return value


def add_core_prompts(server: HubServer) -> None:
    """Register the prompts of smartreviewer-core."""
    add_prompt(server, review_document_template, title="Review a document (文書レビュー)", picture="check")
    add_prompt(server, suggestion_generation, title="Write a suggestion (是正提案)", picture="document")


def add_rag_prompts(server: HubServer) -> None:
    """Register the prompts of smartreviewer-rag."""
    add_prompt(server, rag_query_template, title="Search queries (検索クエリ)", picture="search")
    add_prompt(server, context_synthesis, title="Join what was found (コンテキスト統合)", picture="graph")


def add_prompt(server: HubServer, function: Callable[..., Filling], *, title: str, picture: str) -> None:
    """Register a prompt: its arguments and description are those of the function, its text the one in force."""

    @functools.wraps(function)
    def write(*args: object, **kwargs: object) -> list[UserMessage]:
        return [UserMessage(write_prompt(function(*args, **kwargs)))]

    server.add_prompt(
        Prompt.from_function(threaded(write), title=title, description=inspect.getdoc(function), icons=[icon(picture)])
    )


MAX_NAME = 500
DEPTHS = ("shallow", "deep")
BOOLEANS = ("true", "false")
_DEPTHS = {
    "ja": {"shallow": "見出しだけを見る", "deep": "見出しの下の記載まで、search で本文を読んで確かめる"},
    "en": {"shallow": "headings only", "deep": "also what stands under the headings: read it with search"},
}
_EXPLAIN = {
    "ja": {
        "true": "推論の過程（chain）を、一歩ずつ、どの公理によるかとともに示す。",
        "false": "推論の過程は省き、結論だけを示す。",
    },
    "en": {
        "true": "Show the chain of reasoning step by step, with the axiom that each step rests on.",
        "false": "Leave the chain of reasoning out and give the conclusions only.",
    },
}
Domain = Annotated[
    str, Field(description=gettext_noop("オントロジーの領域: system_design, test_plan, guideline or another"))
]


def coverage_check_template(
    document_structure: Annotated[
        str, Field(description=gettext_noop("文書構造情報: the headings, as text or JSON"))
    ] = "",
    required_categories: Annotated[
        str, Field(description=gettext_noop("必須カテゴリ一覧: what the document must treat"))
    ] = "",
    check_depth: Annotated[str, Field(description=gettext_noop("チェック深度: shallow or deep"))] = "shallow",
    document_id: Annotated[
        str, Field(description=gettext_noop("文書 ID, instead of the structure and the categories"))
    ] = "",
    domain: Domain = "",
    check_type: Annotated[
        str, Field(description=gettext_noop("検証の種類: coverage, hierarchy or required"))
    ] = "coverage",
    language: Language = "ja",
) -> Filling:
    """Instructions for checking what a document covers (網羅性チェック用).

    Give document_structure and required_categories, or document_id and domain of a document in this hub.
    """
    language = one_of("language", language, LANGUAGES)
    depth, kind = one_of("check_depth", check_depth, DEPTHS), one_of("check_type", check_type, tuple(CheckType))
    if document_structure and required_categories:
        structure = {
            "document_structure": quoted(document_structure),
            "required_categories": quoted(required_categories),
            "depth": _DEPTHS[language][depth],
        }
        return Filling(template=Template.COVERAGE_OF_STRUCTURE, language=language, values=structure)
    if not (document_id and domain):
        raise _either("document_structure, required_categories", "document_id, domain")
    values = {"document_id": _name("document_id", document_id), "domain": _name("domain", domain), "check_type": kind}
    return Filling(template=Template.COVERAGE_OF_DOCUMENT, language=language, values=values)


def reasoning_template(
    inference_result: Annotated[
        str, Field(description=gettext_noop("推論結果: what reason_ontology answered, as JSON"))
    ] = "",
    context: Annotated[str, Field(description=gettext_noop("検証コンテキスト: what is being verified"))] = "",
    explain_reasoning: Annotated[str, Field(description=gettext_noop("推論過程を説明するか: true or false"))] = "true",
    ontology_domain: Domain = "",
    inference_type: Annotated[
        str, Field(description=gettext_noop("推論の種類: subclass, property or consistency"))
    ] = "subclass",
    target_class: Annotated[
        str, Field(description=gettext_noop("対象クラス: an IRI or a prefixed name such as hub:Performance"))
    ] = "",
    question: Annotated[str, Field(description=gettext_noop("問い: what is to be answered"))] = "",
    language: Language = "ja",
) -> Filling:
    """Instructions for explaining or asking for what follows from an ontology (オントロジー推論用).

    Give inference_result and context to have a result explained, or ontology_domain to have it inferred first.
    """
    language = one_of("language", language, LANGUAGES)
    explain = one_of("explain_reasoning", explain_reasoning, BOOLEANS)
    kind = one_of("inference_type", inference_type, tuple(InferenceType))
    if inference_result and context:
        result = {
            "inference_result": quoted(inference_result),
            "context": quoted(context),
            "explain": _EXPLAIN[language][explain],
        }
        return Filling(template=Template.REASONING_RESULT, language=language, values=result)
    if not ontology_domain:
        raise _either("inference_result, context", "ontology_domain")
    values = {
        "domain": _name("ontology_domain", ontology_domain),
        "inference_type": kind,
        "target_class": _name("target_class", target_class) if target_class else "-",
        "question": quoted(question) if question else "-",
    }
    return Filling(template=Template.REASONING_QUESTION, language=language, values=values)


def _either(first: str, second: str) -> InvalidInput:
    return InvalidInput(
        _("These arguments can't be used. Give {first}, or {second}."),
        code="invalid_arguments",
        first=first,
        second=second,
    )


def _name(field: str, value: str) -> str:
    """A name as it is, when it can be nothing else: it stands among instructions."""
    if len(value) > MAX_NAME or not value.isprintable():
        raise InvalidInput(_("{field}: {value!r} can't be used."), field=field, value=value[:80])
    return value
