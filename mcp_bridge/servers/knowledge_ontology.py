"""Tools, resource and prompts of smartreviewer-knowledge on ontologies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from hub.access.principals import Scope
from knowledge import document_checks
from knowledge.ontology import ontologies
from knowledge.ontology.answers import CheckType
from knowledge.ontology.coverage_schemas import CoverageOut, coverage_out
from knowledge.ontology.reasoning import InferenceType
from knowledge.ontology.schemas import ReasonOut, reason_out
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.icons import icon
from mcp_bridge.server import HubServer, HubTool, hub_tool
from mcp_bridge.servers.ontology_prompts import coverage_check_template, reasoning_template
from mcp_bridge.servers.prompts import add_prompt
from mcp_bridge.servers.schemas import DocumentId
from mcp_bridge.threads import in_thread

RDF_XML = "application/rdf+xml"

Domain = Annotated[
    str,
    Field(
        min_length=1,
        max_length=60,
        description="the ontology's domain; curators may add others",
        examples=["system_design", "test_plan", "guideline"],
    ),
]


def check_ontology_coverage(
    document_id: DocumentId,
    domain: Domain,
    check_type: Annotated[
        CheckType,
        Field(
            description="coverage: every topic that such a document is expected to treat; required: only the required "
            "ones; hierarchy: how its headings nest"
        ),
    ] = CheckType.COVERAGE,
) -> CoverageOut:
    """Check what a document leaves out (網羅性検証): which expected topics it treats, where, and which are missing.

    Use it to find gaps (記載漏れ、抜け、不足している章や項目) in a 基本設計書 (domain system_design), a テスト計画書
    (test_plan) or a guideline. Each status carries the heading or passage that decided. treated: stated with content;
    mentioned: only named; empty: a heading with nothing under it; missing: not there. The judgement is by rules over
    the whole text, the same each time.
    """
    principal = current_caller().principal
    return coverage_out(document_checks.check_coverage(principal, document_id, domain, check_type))


def check_ontology(
    document_id: DocumentId,
    domain: Domain,
    check_type: Annotated[CheckType, Field(description="coverage, required or hierarchy")] = CheckType.COVERAGE,
) -> CoverageOut:
    """Check what a document leaves out (オントロジーに基づく網羅性検証): the same as check_ontology_coverage.

    Use it to find expected topics that a document does not treat, with the heading or passage that decided each.
    """
    return check_ontology_coverage(document_id, domain, check_type)


def reason_ontology(
    ontology_domain: Domain,
    inference_type: Annotated[
        InferenceType,
        Field(
            description="subclass: hierarchies and what instances belong to; property: domain, range, inverse, "
            "transitive and sub-properties; consistency: contradictions and unmet cardinalities"
        ),
    ],
    target_class: Annotated[
        str,
        Field(
            max_length=500,
            description="only what is about this class: an IRI, a prefixed name or a code; empty: everything",
            examples=["hub:NonFunctionalRequirement", "nfr_performance"],
        ),
    ] = "",
    depth: Annotated[int, Field(ge=1, le=20, description="the most inferences in a row")] = 3,
) -> ReasonOut:
    """Infer from an ontology (オントロジー推論): what follows from what curators stated, each fact with its proof.

    Use it to learn how concepts relate (用語・概念の上位と下位、分類: is 性能要件 a 非機能要件?) or whether an
    ontology contradicts itself (定義の矛盾、整合性). Facts are deduced, not guessed: confidence is always 1. chain
    names the rule (OWL 2 RL) and premises of each step.
    """
    return reason_out(
        document_checks.reason_ontology(
            current_caller().principal, ontology_domain, inference_type, target_class=target_class, depth=depth
        )
    )


def _add_resources(server: HubServer) -> None:
    @server.resource(
        uris.ONTOLOGIES + "{domain}",
        name="ontology",
        title="Ontology (オントロジー定義)",
        mime_type=RDF_XML,
        icons=[icon("tree")],
    )
    async def read_ontology(domain: str) -> str:
        """The published ontology of a domain as RDF/XML: classes with labels and synonyms, properties, axioms."""
        return await in_thread(_export, domain)


def _export(domain: str) -> str:
    return ontologies.export_ontology(current_caller().principal, domain, rdf_format="rdfxml").decode()


def _add_prompts(server: HubServer) -> None:
    add_prompt(server, coverage_check_template, title="Check coverage (網羅性検証)", picture="tree")
    add_prompt(server, reasoning_template, title="Reason over an ontology (オントロジー推論)", picture="tree")


TOOLS: tuple[HubTool, ...] = (
    hub_tool(check_ontology_coverage, title="Check coverage (網羅性検証)", scope=Scope.READ, picture="check"),
    hub_tool(reason_ontology, title="Reason over an ontology (推論)", scope=Scope.READ, picture="tree"),
)

PARTS: tuple[Callable[[HubServer], None], ...] = (_add_resources, _add_prompts)
