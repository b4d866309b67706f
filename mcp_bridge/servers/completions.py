"""What may be typed next: document types, check items, areas, ids that the caller may read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcp.server.mcpserver import MCPServer
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from hub.access.principals import Principal
from knowledge.documents import reading
from knowledge.guidelines.editions import article_codes
from knowledge.models import DocumentType
from knowledge.ontology.answers import CheckType
from knowledge.ontology.ontologies import published_domains
from knowledge.ontology.reasoning import InferenceType
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.prompts.templates import LANGUAGES
from mcp_bridge.servers.prompts import BOOLEANS, DEPTHS, SEVERITIES
from mcp_bridge.threads import in_thread
from review.masters.listing import list_check_items
from review.runs.reviews import list_reviews
from review.scenarios import published_scenarios

MAX_VALUES = 100  # the protocol's limit
Values = Callable[[Principal, str], Iterable[str]]


def _document_ids(principal: Principal, typed: str) -> Iterable[str]:
    found = reading.list_documents(principal).filter(public_id__startswith=typed)
    return found.values_list("public_id", flat=True)[: MAX_VALUES + 1]


def _review_ids(principal: Principal, typed: str) -> Iterable[str]:
    found = list_reviews(principal).filter(public_id__startswith=typed)
    return found.values_list("public_id", flat=True)[: MAX_VALUES + 1]


def _articles(principal: Principal, typed: str) -> Iterable[str]:
    return article_codes(principal, prefix=typed, limit=MAX_VALUES + 1)


def _domains(principal: Principal, _typed: str) -> Iterable[str]:
    return published_domains(principal)


OF_ARGUMENTS: dict[str, Values] = {
    "document_type": lambda _principal, _typed: DocumentType.objects.order_by("code").values_list("code", flat=True),
    "document_id": _document_ids,
    "check_item": lambda principal, _typed: [one.item.code for _checklist, one in list_check_items(principal)],
    "focus_areas": lambda principal, _typed: {one.item.category: None for _list, one in list_check_items(principal)},
    "guideline_ref": _articles,
    "severity_threshold": lambda _principal, _typed: SEVERITIES,
    "domain": _domains,
    "ontology_domain": _domains,
    "check_type": lambda _principal, _typed: tuple(CheckType),
    "inference_type": lambda _principal, _typed: tuple(InferenceType),
    "check_depth": lambda _principal, _typed: DEPTHS,
    "explain_reasoning": lambda _principal, _typed: BOOLEANS,
    "language": lambda _principal, _typed: LANGUAGES,
}
OF_TEMPLATES: dict[str, Values] = {
    uris.DOCUMENTS: _document_ids,
    uris.RESULTS: _review_ids,
    uris.SCENARIOS: lambda principal, _typed: published_scenarios(principal).values_list("code", flat=True),
    uris.CHUNKS: _document_ids,
    uris.EMBEDDINGS: _document_ids,
    uris.GUIDELINES: _articles,
    uris.ONTOLOGIES: _domains,
}


def add_completions(server: MCPServer) -> None:
    """Offer completions for the arguments of prompts and the ids of resource templates."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # by the SDK
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        values = _values_for(ref, argument.name)
        if values is None:
            return None
        return await in_thread(_complete, values, current_caller().principal, argument.value)


def _values_for(ref: PromptReference | ResourceTemplateReference, argument: str) -> Values | None:
    if isinstance(ref, ResourceTemplateReference):
        return OF_TEMPLATES.get(ref.uri.partition("{")[0])
    return OF_ARGUMENTS.get(argument)


def _complete(values: Values, principal: Principal, typed: str) -> Completion:
    *before, last = typed.replace("、", ",").split(",")  # focus_areas is a list
    fitting = [value for value in values(principal, last.strip()) if value.startswith(last.strip())]
    shown = [",".join([*before, value]) for value in fitting[:MAX_VALUES]]
    return Completion(
        values=shown, total=len(fitting) if len(fitting) <= MAX_VALUES else None, has_more=len(fitting) > MAX_VALUES
    )
