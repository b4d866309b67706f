"""Coverage and inference through REST and MCP on a running hub: the same facts; the resource and the prompts."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator

import pytest
from mcp import Client
from mcp.types import PromptReference, ResourceTemplateReference, TextResourceContents
from rdflib import Graph
from rdflib.compare import isomorphic

from tests.flows.hub_process import HubProcess
from tests.flows.test_four_doors import call_tool, http_client

pytestmark = pytest.mark.timeout(600)
REASON = {"inference_type": "subclass", "target_class": "hub:NonFunctionalRequirement", "depth": 4}


@pytest.fixture(scope="module")
def document(hub: HubProcess) -> str:
    documents = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    found = next(item for item in documents if item["document_type"] == "basic_design")["document_id"]
    hub.wait_until_finished(found)
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("check_type", ["coverage", "hierarchy", "required"])
def test_coverage_is_the_same_by_rest_and_by_both_names_of_the_tool(hub, document, check_type, mode):
    asked = {"document_id": document, "check_type": check_type}
    by_rest = hub.call("POST", "/ontologies/system_design/coverage", json=asked).json()
    for name in ("check_ontology_coverage", "check_ontology"):
        assert call_tool(hub, "http", mode, name, {**asked, "domain": "system_design"}) == by_rest
    assert 0 <= by_rest["coverage_rate"] <= 100


def test_inference_is_the_same_by_rest_and_by_the_tool(hub):
    by_rest = hub.call("POST", "/ontologies/system_design/reason", json=REASON).json()
    by_tool = call_tool(hub, "http", "auto", "reason_ontology", {**REASON, "ontology_domain": "system_design"})
    assert by_tool == by_rest
    assert by_rest["inferred_facts"]


async def all_pages(client: Client, address: str) -> AsyncIterator[TextResourceContents]:
    """Read a resource of RDF page by page: the comment at the end of each has the address of the next."""
    following: str | None = address
    while following:
        (page,) = (await client.read_resource(following)).contents
        assert isinstance(page, TextResourceContents)
        yield page
        named = re.search(r"more: (\S+) -->", page.text)
        following = html.unescape(named[1]) if named else None


def test_the_resource_is_the_published_ontology_and_prompts_are_completed(hub):
    async def run():
        async with http_client(hub, "auto") as client:
            pages = [page async for page in all_pages(client, "smartreviewer-knowledge://ontology/guideline")]
            prompt = await client.get_prompt(
                "coverage_check_template", {"document_id": "doc_1", "domain": "test_plan", "check_type": "required"}
            )
            reasoning = await client.get_prompt(
                "reasoning_template", {"ontology_domain": "guideline", "language": "en"}
            )
            template = ResourceTemplateReference(uri="smartreviewer-knowledge://ontology/{domain}")
            domains = await client.complete(template, {"name": "domain", "value": "sy"})
            kinds = await client.complete(
                PromptReference(name="reasoning_template"), {"name": "inference_type", "value": ""}
            )
        return pages, prompt, reasoning, domains.completion.values, kinds.completion.values

    pages, prompt, reasoning, domains, kinds = asyncio.run(run())
    assert {page.mime_type for page in pages} == {"application/rdf+xml"}
    assert len(pages) > 1
    assert max(len(page.text) for page in pages) <= 20_000
    turtle = hub.call("GET", "/ontologies/guideline", headers={"Accept": "text/turtle"}).text
    read = Graph()
    for page in pages:
        read.parse(data=page.text, format="xml")
    assert isomorphic(read, Graph().parse(data=turtle, format="turtle"))
    assert "check_ontology_coverage" in prompt.messages[0].content.text
    assert "reason_ontology" in reasoning.messages[0].content.text
    assert domains == ["system_design"]
    assert kinds == ["subclass", "property", "consistency"]
