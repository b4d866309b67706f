"""The prompts on ontologies: which of their texts, and what their arguments put into it."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from hub.core.errors import InvalidInput
from knowledge.ontology.answers import CheckType
from knowledge.ontology.reasoning import InferenceType
from mcp_bridge.prompts.templates import LANGUAGES, Filling, Template
from mcp_bridge.servers.prompts import Language, one_of, quoted

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
Domain = Annotated[str, Field(description="オントロジーのドメイン: system_design, test_plan, guideline or another")]


def coverage_check_template(
    document_structure: Annotated[str, Field(description="文書構造情報: the headings, as text or JSON")] = "",
    required_categories: Annotated[str, Field(description="必須カテゴリ一覧: what the document must treat")] = "",
    check_depth: Annotated[str, Field(description="チェック深度: shallow or deep")] = "shallow",
    document_id: Annotated[str, Field(description="文書 ID, instead of the structure and the categories")] = "",
    domain: Domain = "",
    check_type: Annotated[str, Field(description="検証の種類: coverage, hierarchy or required")] = "coverage",
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
    inference_result: Annotated[str, Field(description="推論結果: what reason_ontology answered, as JSON")] = "",
    context: Annotated[str, Field(description="検証コンテキスト: what is being verified")] = "",
    explain_reasoning: Annotated[str, Field(description="推論過程を説明するか: true or false")] = "true",
    ontology_domain: Domain = "",
    inference_type: Annotated[str, Field(description="推論の種類: subclass, property or consistency")] = "subclass",
    target_class: Annotated[
        str, Field(description="対象クラス: an IRI or a prefixed name such as hub:Performance")
    ] = "",
    question: Annotated[str, Field(description="問い: what is to be answered")] = "",
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
