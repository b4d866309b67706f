"""smartreviewer-knowledge: ontologies, guidelines and the knowledge graph, which curators keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field

from hub.access.principals import Scope
from knowledge import document_checks
from knowledge.graph.cypher.query import MAX_ROWS, MAX_TIMEOUT_MS, CypherQuery
from knowledge.graph.cypher.query import query_knowledge_graph as run_query
from knowledge.graph.schemas import CypherOut, cypher_out, graph_schema
from knowledge.guidelines import editions
from knowledge.guidelines.schemas import article_out
from knowledge.ontology import ontologies
from knowledge.ontology.answers import CheckType
from knowledge.ontology.coverage_schemas import CoverageOut, coverage_out
from knowledge.ontology.reasoning import InferenceType
from knowledge.ontology.schemas import ReasonOut, reason_out
from mcp_bridge import uris
from mcp_bridge.caller import current_caller
from mcp_bridge.icons import icon
from mcp_bridge.server import HubServer, HubTool, hub_tool
from mcp_bridge.servers import emptiness
from mcp_bridge.servers.prompts import add_prompt, coverage_check_template, reasoning_template
from mcp_bridge.servers.resources import add_resource
from mcp_bridge.servers.schemas import DocumentId
from mcp_bridge.threads import in_thread
from review import mappings
from review.mappings import MappingOut

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
    mentioned: only named; empty: a heading with nothing under it; missing: not there.
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
            "transitive and sub-properties, and what target_class has; consistency: contradictions and unmet "
            "cardinalities"
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
    ontology contradicts itself (定義の矛盾、整合性). Facts are deduced, not guessed; chain names the rule (OWL 2 RL)
    and premises of each step.
    """
    return reason_out(
        document_checks.reason_ontology(
            current_caller().principal, ontology_domain, inference_type, target_class=target_class, depth=depth
        )
    )


class MappingResult(BaseModel):
    mappings: list[MappingOut]
    notices: list[dict[str, str]] = []


class CypherResult(CypherOut):
    notices: list[dict[str, str]] = []


def get_guideline_mapping(
    guideline_article: Annotated[
        str, Field(max_length=60, description="code of an article (条項), for instance PG-1.3; empty: all")
    ] = "",
    check_item_id: Annotated[
        str, Field(max_length=20, description="code of a check item (チェック項目), for instance BD-B01; empty: all")
    ] = "",
    include_rationale: Annotated[bool, Field(description="also say why the check item rests on the article")] = True,
) -> MappingResult:
    """See which check items (チェック項目) rest on which guideline articles (ガイドライン条項), and why.

    Use it to explain a check by its guideline (チェックの根拠となる条項・規程), or to find what is checked of an
    article (条項から見たチェック項目). relation is direct, indirect or derived; suspect: the article changed and
    no curator has looked at the item since.
    """
    principal = current_caller().principal
    found = mappings.list_mappings(
        principal, article=guideline_article, check_item=check_item_id, with_rationale=include_rationale
    )
    return MappingResult(mappings=found, notices=emptiness.first_of(found, emptiness.no_mapping()))


def read_guideline(id: str) -> dict[str, Any]:
    """A guideline article (ガイドライン条項): text, required elements, source, check items that rest on it."""
    article = editions.get_article(current_caller().principal, id)
    related = editions.check_items_of([article.code]).get(article.code, [])
    return article_out(article, related_check_items=related).model_dump(mode="json")


def query_knowledge_graph(
    cypher_query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="read-only openCypher; node labels are codes (Requirement) or Japanese type names (要件)",
            examples=[
                "MATCH (r:Requirement) WHERE NOT ()-[:TRACES_TO]->(r) RETURN r.code, r.label",
            ],
        ),
    ],
    parameters: Annotated[dict[str, Any] | None, Field(description="values for $names in the query")] = None,
    timeout_ms: Annotated[int, Field(ge=10, le=MAX_TIMEOUT_MS, description="the query is stopped after it")] = 30_000,
    row_limit: Annotated[int, Field(ge=1, le=MAX_ROWS, description="the most records in the answer")] = 1_000,
) -> CypherResult:
    """Query the knowledge graph (ナレッジグラフの照会・集計) in openCypher: patterns, counts, gaps, paths.

    Use it for questions over many nodes (全体の集計、件数、対応のない要件・試験の一覧、条件に合うものすべて). Read
    smartreviewer-knowledge://graph/schema first: every node has id, name and code. Only reading works (MATCH, WITH,
    UNWIND, RETURN, subqueries, db.labels() and a few graph algorithms); you see what you may search.
    """
    query = CypherQuery(text=cypher_query, parameters=parameters or {}, timeout_ms=timeout_ms, row_limit=row_limit)
    found = cypher_out(run_query(current_caller().principal, query))
    return CypherResult(**dict(found), notices=emptiness.first_of(found.records, emptiness.no_record()))


def read_graph_schema() -> dict[str, Any]:
    """The knowledge graph's node types, edge types with what they join, properties, indexes and constraints."""
    return graph_schema(current_caller().principal)


def _export(domain: str) -> str:
    return ontologies.export_ontology(current_caller().principal, domain, rdf_format="rdfxml").decode()


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

    add_resource(
        server, uris.GUIDELINES + "{id}", read_guideline, title="Guideline article (ガイドライン条項)", picture="list"
    )
    add_resource(
        server, uris.GRAPH_SCHEMA, read_graph_schema, title="Knowledge graph schema (グラフスキーマ)", picture="graph"
    )


def _add_prompts(server: HubServer) -> None:
    add_prompt(server, coverage_check_template, title="Check coverage (網羅性検証)", picture="tree")
    add_prompt(server, reasoning_template, title="Reason over an ontology (オントロジー推論)", picture="tree")


TOOLS: tuple[HubTool, ...] = (
    hub_tool(check_ontology_coverage, title="Check coverage (網羅性検証)", scope=Scope.READ, picture="check"),
    hub_tool(reason_ontology, title="Reason over an ontology (推論)", scope=Scope.READ, picture="tree"),
    hub_tool(get_guideline_mapping, title="Guideline mapping (ガイドライン対応)", scope=Scope.READ, picture="check"),
    hub_tool(query_knowledge_graph, title="Query the graph (グラフ照会)", scope=Scope.SEARCH, picture="graph"),
)
# Each registers resources or prompts.
PARTS: tuple[Callable[[HubServer], None], ...] = (_add_resources, _add_prompts)
