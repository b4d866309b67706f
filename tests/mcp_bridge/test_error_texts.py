"""What tools and resources say when something is wrong: in words for whoever calls, whatever the door."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from mcp import MCPError

from hub.access.principals import local_operator
from hub.core.errors import LimitExceeded
from mcp_bridge.errors import in_words
from mcp_bridge.servers import uploads
from tests.conftest import REPOSITORY
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
OF_REST = re.compile(r"/api/|\b(GET|POST|PUT|PATCH|DELETE) /")
# Said by one door to those who came through it.
DOORS = re.compile(r"/(api|admin|rest|migrations|management)(/|\.py)|hub/(api|urls)|schemas")
# The specification wants the way for files that are too large for a message to be named.
WAY_OUT = "content is larger than"


def messages(path: Path) -> list[str]:
    """The texts that a module gives to gettext; none where nothing in it is like what is looked for."""
    source = path.read_text(encoding="utf-8")
    if not OF_REST.search(source):
        return []
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "_" and isinstance(call.args[0], ast.Constant)
    ]


def test_no_message_of_a_service_names_a_call_of_one_door():
    folders = (REPOSITORY / name for name in ("hub", "knowledge", "review", "mcp_bridge"))
    modules = [path for folder in folders for path in folder.rglob("*.py") if not DOORS.search(str(path))]
    found = [text for path in modules for text in messages(path) if OF_REST.search(text)]
    assert len(modules) > 300
    assert [text for text in found if not text.startswith(WAY_OUT)] == []
    assert not any("/api/" in text for text in found)


async def test_no_description_of_a_tool_sends_a_model_to_another_door():
    async with client_of("hub") as client:
        tools = [tool.model_dump_json() for tool in (await client.list_tools()).tools]
    assert not any("/api/" in tool for tool in tools)
    assert [tool for tool in tools if OF_REST.search(tool)] == [tool for tool in tools if "HUB_MCP_MAX_BYTES" in tool]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("check_text", {"text": "本文。", "rules": ["zzz"]}, "Those that there are: "),
        ("check_text", {"text": "本文。", "rules": ["style.sentense_length"]}, "Did you mean style.sentence_length"),
        ("check_text", {"text": "本文。", "rules": ["traceability.dangling_reference"]}, "judge a text: style.*"),
        ("get_guideline_mapping", {"guideline_article": "PG-9.99"}, "Some that there are: PG-"),
        ("graph_search", {"entity": "REQ-001", "collection": "nowhere"}, 'no collection "nowhere"'),
        ("run_evaluation", {"dataset_id": "gold", "evaluation_id": "evr_nope"}, 'no evaluation run "evr_nope"'),
        ("kb_answer", {"query": "休暇", "max_results": 1000}, '"error_type": "ValidationError"'),
        ("upload_document", {"content": "# 短い\n", "filename": "短.md", "options": {"chunk_size": 80}}, ""),
    ],
)
async def test_a_refused_call_says_what_to_write_instead(site, tool, arguments, words):
    async with site.client("hub", language="en") as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error == bool(words), result.content
    assert words in result.content[0].text
    assert "/api/" not in result.content[0].text


def test_content_that_is_too_large_is_told_with_the_way_to_upload_it(settings):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_mcp_max_bytes": 10})
    content = "あ" * 11
    with pytest.raises(LimitExceeded) as caught:
        uploads.store(local_operator(), content=content, encoding="auto", filename="大.md", metadata={}, chunking=None)
    told = in_words(caught.value, "en")
    assert "POST /documents" in told
    assert "/api/" not in told


async def test_an_article_that_is_not_there_is_told_with_some_that_are(site):
    async with site.client("knowledge", language="ja") as client:
        with pytest.raises(MCPError, match=r"PG-1") as caught:
            await client.read_resource("smartreviewer-knowledge://guidelines/PG-1.999")
    assert not OF_REST.search(caught.value.error.message)
