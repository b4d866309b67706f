"""The bench: a version of a prompt, written with arguments that somebody gives, as a client would get it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_type_hints

from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.core.errors import InvalidInput
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import fill_text, problems_of, refuse_problems
from mcp_bridge.prompts.templates import Filling, Template
from mcp_bridge.servers import prompts

FUNCTIONS: dict[str, Callable[..., Filling]] = {
    function.__name__: function
    for function in (
        prompts.review_document_template,
        prompts.suggestion_generation,
        prompts.rag_query_template,
        prompts.context_synthesis,
        prompts.coverage_check_template,
        prompts.reasoning_template,
    )
}
SAMPLES: dict[Template, dict[str, str]] = {
    Template.REVIEW: {
        "document_type": "basic_design",
        "focus_areas": "性能、セキュリティ",
        "severity_threshold": "major",
    },
    Template.SUGGESTION: {
        "finding": "応答時間の目標値が定められていない。",
        "context": "2.3 性能：利用者検索は速やかに応答すること。",
        "guideline_ref": "標準ガイドライン 第3条",
    },
    Template.QUERY: {"check_item": "BD-B02", "document_context": "図書館システム基本設計書、2 性能"},
    Template.SYNTHESIS: {
        "vector_results": '[{"content": "応答時間は3秒以内とする。", "score": 0.91, "document_path": "設計書.md"}]',
        "max_context_length": "500",
    },
    Template.COVERAGE_OF_STRUCTURE: {
        "document_structure": "1 目的\n2 性能\n3 運用",
        "required_categories": "性能、セキュリティ、運用",
        "check_depth": "deep",
    },
    Template.COVERAGE_OF_DOCUMENT: {"document_id": "doc_0123456789abcdef0123", "domain": "system_design"},
    Template.REASONING_RESULT: {
        "inference_result": '{"inferred_facts": [], "consistency_result": true}',
        "context": "性能要件は非機能要件の一種か",
    },
    Template.REASONING_QUESTION: {"ontology_domain": "system_design", "question": "性能要件は非機能要件の一種か"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchArgument:
    """An argument of a prompt, as the bench asks for it."""

    name: str
    description: str
    is_required: bool
    sample: str


def arguments_of(template: Template) -> list[BenchArgument]:
    """The arguments of a text's prompt, in the prompt's order, with samples that lead to this text."""
    function = FUNCTIONS[template.prompt]
    hints = get_type_hints(function, include_extras=True)
    return [
        BenchArgument(
            name=name,
            description=hints[name].__metadata__[0].description,
            is_required=parameter.default is inspect.Parameter.empty,
            sample=SAMPLES[template].get(name, ""),
        )
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def try_version(*, principal: Principal, version: PromptVersion, arguments: Mapping[str, str]) -> str:
    """Write a version, draft or not, with arguments; empty ones count as not given. Nothing is stored.

    :raises InvalidInput: the version could not be published, or the arguments can't be used, or lead to the prompt's
        other text. Also Forbidden.
    """
    principal.require_hub(HubRight.PROMPTS)
    refuse_problems(problems_of(version))
    template = Template(version.template)
    filling = FUNCTIONS[template.prompt](**{name: value for name, value in arguments.items() if value})
    if filling.template != template:
        raise InvalidInput(
            _("With these arguments {prompt} writes its other text, {other}."),
            prompt=template.prompt,
            other=filling.template.value,
        )
    return fill_text(version.texts, filling)
