"""What models and people read of the servers: tools and arguments, prompts and resources, and the list of requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from mcp.types import PromptReference

from benchmarks.mcp_choice import load_requests
from hub.access.principals import Scope
from mcp_bridge.servers import SERVERS
from mcp_bridge.servers.completions import OF_ARGUMENTS, OF_TEMPLATES
from tests.conftest import REPOSITORY
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")
LONGEST_DESCRIPTION = 1200
BOUNDED_BY_THE_REQUEST = {"upload_document.content"}  # HUB_MCP_MAX_BYTES, which a schema can't say
CLOSED = {
    "severity_threshold": {"critical", "major", "minor", "info"},
    "check_depth": {"shallow", "deep"},
    "explain_reasoning": {"true", "false"},
    "check_type": {"coverage", "hierarchy", "required"},
    "inference_type": {"subclass", "property", "consistency"},
    "language": {"ja", "en"},
}
FREE_TEXT = {
    "finding",
    "context",
    "document_context",
    "vector_results",
    "graph_results",
    "max_context_length",
    "document_structure",
    "required_categories",
    "inference_result",
    "target_class",
    "question",
}
ROW = re.compile(r"^\| (?P<request>.+?) \| `(?P<tool>\w+)`", re.MULTILINE)


def test_the_requests_that_choosers_are_tried_with_are_those_of_the_documentation():
    page = (REPOSITORY / "docs" / "mcp.md").read_text(encoding="utf-8")
    table = page.partition("### Which tool for which request")[2].partition("#### ")[0]
    listed = [(asked.request, asked.tools[0]) for asked in load_requests()["listed"]]
    assert ROW.findall(table) == listed
    assert len(listed) == 20


def test_held_out_requests_are_twenty_others_and_name_tools_that_exist():
    requests = load_requests()
    known = {item.tool.name for item in SERVERS["hub"].tools}
    assert {tool for asked in requests["listed"] + requests["held_out"] for tool in asked.tools} <= known
    counted = Counter(asked.request for asked in requests["listed"] + requests["held_out"])
    assert len(counted) == 40


def unfold(path: str, schema: dict, defs: dict) -> Iterator[tuple[str, dict]]:
    """Every value that a schema lets a caller write, with its path: alternatives, items and properties among them."""
    if "$ref" in schema:
        schema = {**defs[schema["$ref"].rpartition("/")[2]], **{k: v for k, v in schema.items() if k != "$ref"}}
    for other in schema.get("anyOf", ()):
        yield from unfold(path, {**{k: v for k, v in schema.items() if k != "anyOf"}, **other}, defs)
    if "anyOf" in schema:
        return
    yield path, schema
    if schema.get("type") == "array":
        yield from unfold(f"{path}[]", schema["items"], defs)
    for name, field in schema.get("properties", {}).items():
        yield from unfold(f"{path}.{name}", field, defs)


def is_bounded(schema: dict) -> bool:
    """Whether a schema says how long or great a value may be."""
    kind = schema.get("type")
    if kind == "string":
        return bool({"enum", "const", "maxLength", "pattern", "format"} & set(schema))
    if kind in ("integer", "number"):
        return {"minimum", "maximum"} <= set(schema)
    return kind != "array" or "maxItems" in schema


def test_every_tool_tells_in_english_and_japanese_what_it_does_and_when_to_use_it():
    for item in SERVERS["hub"].tools:
        what, _gap, when = (item.tool.description or "").partition("\n\n")
        assert JAPANESE.search(what), item.tool.name
        assert JAPANESE.search(item.tool.title or ""), item.tool.name
        assert "Use it " in when, item.tool.name
        assert len(item.tool.description or "") < LONGEST_DESCRIPTION, item.tool.name


@pytest.mark.parametrize("item", SERVERS["hub"].tools, ids=lambda item: item.tool.name)
def test_every_argument_is_described_and_bounded_and_required_ones_have_examples(item):
    schema = item.tool.parameters
    for name, field in schema["properties"].items():
        values = list(unfold(f"{item.tool.name}.{name}", field, schema.get("$defs", {})))
        for path, value in values:
            assert value.get("description") or path.endswith("[]"), path
            assert is_bounded(value) or path in BOUNDED_BY_THE_REQUEST, path
        if name in schema.get("required", ()):
            assert any({"examples", "enum"} & set(value) for _path, value in values), f"{item.tool.name}.{name}"


async def test_every_prompt_and_its_arguments_are_described_in_both_languages_and_have_icons():
    async with client_of("hub") as client:
        prompts = (await client.list_prompts()).prompts
    assert len(prompts) == 6
    for prompt in prompts:
        assert JAPANESE.search(prompt.title or ""), prompt.name
        assert JAPANESE.search(prompt.description or ""), prompt.name
        assert prompt.icons, prompt.name
        for argument in prompt.arguments or []:
            assert argument.description, f"{prompt.name}.{argument.name}"


async def test_every_resource_is_described_in_both_languages_and_has_an_icon():
    async with client_of("hub", scopes=frozenset({Scope.SEARCH})) as client:  # documents are for scope read
        listed = [
            *(await client.list_resources()).resources,
            *(await client.list_resource_templates()).resource_templates,
        ]
    assert len(listed) == 10
    for item in listed:
        assert item.description, item.name
        assert JAPANESE.search(item.title or ""), item.name
        assert item.mime_type, item.name
        assert item.icons, item.name


async def test_what_has_a_closed_set_of_values_or_ids_can_be_completed():
    async with client_of("hub", scopes=frozenset({Scope.SEARCH})) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        templates = (await client.list_resource_templates()).resource_templates
        for name, expected in CLOSED.items():
            prompt = next(p for p in prompts.values() if name in {a.name for a in p.arguments or []})
            done = await client.complete(PromptReference(name=prompt.name), {"name": name, "value": ""})
            assert set(done.completion.values) == expected, name
    arguments = {a.name for prompt in prompts.values() for a in prompt.arguments or []}
    assert arguments - set(OF_ARGUMENTS) == FREE_TEXT
    assert {template.uri_template.partition("{")[0] for template in templates} == set(OF_TEMPLATES)
