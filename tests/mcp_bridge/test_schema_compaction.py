"""Schemas that say each thing once, and allow what they allowed before."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, TypeAdapter

from mcp_bridge.schema_compaction import shortened, slim_input, slim_output
from mcp_bridge.servers import SERVERS
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
HUB_TOOLS_CHARACTERS = 50_000  # with blanks; test_costs counts without


class Place(BaseModel):
    title: str = Field(description="a field that is called like a keyword")
    page: int | None = Field(None, ge=1, description="from 1")
    side: Literal["left", "right"] | None = None


class Branch(BaseModel):
    place: Place
    below: list[Branch] = []
    more: dict[str, object] = {}


class Tree(BaseModel):
    root: Branch
    other: Place | None = None
    size: Annotated[int, Field(ge=0)] = 0


GOOD = {"title": "節", "page": None, "side": None}
VALUES = [
    {"root": {"place": GOOD}},
    {"root": {"place": {"title": "節", "page": 2, "side": "left"}, "below": [{"place": GOOD, "more": {"x": 1}}]}},
    {"root": {"place": GOOD}, "other": None, "size": 3},
    {"root": {"place": GOOD}, "other": {"title": "章"}},
    {"root": {"place": {"title": "節", "page": 0}}},
    {"root": {"place": {"page": 1}}},
    {"root": {"place": {"title": "節", "side": "top"}}},
    {"root": {"place": GOOD, "below": [{"place": {}}]}},
    {"root": {"place": GOOD}, "size": -1},
    {"root": {"place": GOOD}, "other": {"title": 7}},
]


@pytest.mark.parametrize("slim", [slim_input, slim_output])
def test_a_slim_schema_allows_what_the_whole_one_allows_and_no_more(slim):
    whole = TypeAdapter(Tree).json_schema()
    short = slim(whole)
    Draft202012Validator.check_schema(short)
    allowed = [Draft202012Validator(whole).is_valid(value) for value in VALUES]
    assert [Draft202012Validator(short).is_valid(value) for value in VALUES] == allowed == [True] * 4 + [False] * 6
    assert len(json.dumps(short)) < 0.85 * len(json.dumps(whole))


def test_a_field_called_title_is_kept_and_generated_titles_are_not():
    short = slim_output(TypeAdapter(Place).json_schema())
    assert "title" in short["properties"]
    assert all("title" not in field for field in [short, *short["properties"].values()])
    assert short["properties"]["page"] == {"type": ["integer", "null"], "minimum": 1, "description": "from 1"}


def test_a_shortened_field_keeps_its_type_and_says_who_describes_it():
    short = shortened(slim_output(TypeAdapter(Tree).json_schema()), {"root": "grow_tree", "other": "grow_tree"})
    words = {"description": "as grow_tree describes it"}
    assert short["properties"]["root"] == short["properties"]["other"] == {"type": ["object", "null"], **words}
    assert all(Draft202012Validator(short).is_valid(value) for value in VALUES[:4])
    assert "$defs" not in short


async def test_the_list_of_all_tools_stays_short_and_repeats_no_names():
    async with client_of("hub") as client:
        tools = [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools
        ]
    assert len(json.dumps(tools, ensure_ascii=False)) < HUB_TOOLS_CHARACTERS
    for tool in tools:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert "title" not in schema


def test_what_another_tool_describes_is_described_by_a_tool_of_the_same_server():
    for name, blueprint in SERVERS.items():
        tools = {item.tool.name: item.tool for item in blueprint.tools}
        for tool in tools.values():
            for field, schema in tool.parameters["properties"].items():
                words = schema.get("description", "")
                if words.startswith("as ") and words.endswith(" describes it"):
                    assert field in tools[words.split()[1]].parameters["properties"], f"{name}: {tool.name}.{field}"
