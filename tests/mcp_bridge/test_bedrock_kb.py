"""kb_answer on its own light server and on the hub's, asked by real clients over real transports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from mcp import MCPError
from mcp.types import INVALID_PARAMS

from tests.conftest import REPOSITORY
from tests.knowledge.remote.bedrock_server import ANSWER, PASSAGE, bedrock_server
from tests.mcp_bridge.conftest import stdio_session
from tests.mcp_bridge.test_http import INITIALIZE
from tests.mcp_bridge.test_stdio import INITIALIZED, talk

pytestmark = pytest.mark.anyio
MODEL = "arn:aws:bedrock:ap-northeast-1::foundation-model/example"
QUESTION = {"query": "非機能要求の大項目はいくつですか。", "max_results": 2}
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "kb_answer", "arguments": {"query": " "}}}


def settings_for(url: str, **more: str) -> dict[str, str]:
    return {
        "BEDROCK_KB_ID": "KB12345678",
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": url,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        **more,
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_light_server_gives_passages_without_a_database(hub, mode):
    with bedrock_server() as bedrock:
        async with stdio_session(hub.stdio("bedrock-kb", **settings_for(bedrock.url)), mode=mode) as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("kb_answer", QUESTION)
        assert [tool.name for tool in tools] == ["kb_answer"]
        assert set(tools[0].input_schema["properties"]) == {"query", "max_results", "generate"}
        assert answer.structured_content["answer"] is None
        assert [item["score"] for item in answer.structured_content["citations"]] == [0.82, 0.41]
        assert answer.structured_content["citations"][0]["location"] == PASSAGE["location"]
        wanted = bedrock.requests[0]["retrievalConfiguration"]["vectorSearchConfiguration"]
        assert wanted == {"numberOfResults": 2}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_there_is_no_prompt_by_any_name(hub, mode):
    async with stdio_session(hub.stdio("bedrock-kb", **settings_for("http://127.0.0.1:9")), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("no_such_prompt")
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.message.startswith("Unknown prompt: no_such_prompt")
    assert caught.value.error.data == {"prompt": "no_such_prompt", "known": []}


async def test_a_configured_model_writes_an_answer_unless_passages_are_asked_for(hub):
    with bedrock_server() as bedrock:
        server = hub.stdio("bedrock-kb", **settings_for(bedrock.url, BEDROCK_MODEL_ARN=MODEL))
        async with stdio_session(server) as client:
            written = await client.call_tool("kb_answer", QUESTION)
            passages = await client.call_tool("kb_answer", {**QUESTION, "generate": False})
    assert written.structured_content["answer"] == ANSWER
    assert [item["score"] for item in written.structured_content["citations"]] == [None]
    assert passages.structured_content["answer"] is None


FAILURES = [
    ({"query": " \t\n"}, None, "ValidationError", "query"),
    ({"query": "問い", "max_results": 101}, None, "ValidationError", "max_results"),
    ({"query": "問い", "max_result": 3}, None, "ValidationError", "max_result"),
    ({"query": "問い", "generate": True}, None, "ValidationError", "BEDROCK_MODEL_ARN"),
    ({"query": "問い"}, (403, "AccessDeniedException"), "AuthenticationError", "AWS_PROFILE"),
    ({"query": "問い"}, (404, "ResourceNotFoundException"), "NotFoundError", "BEDROCK_KB_ID"),
    ({"query": "問い"}, (400, "ServiceQuotaExceededException"), "ServiceError", "said by AWS"),
]


async def test_a_failed_question_says_its_kind_and_what_to_do(hub):
    with bedrock_server() as bedrock:
        async with stdio_session(hub.stdio("bedrock-kb", **settings_for(bedrock.url))) as client:
            for arguments, failure, error_type, words in FAILURES:
                bedrock.requests.clear()
                bedrock.failure = failure
                result = await client.call_tool("kb_answer", arguments)
                assert result.is_error
                facts = json.loads(result.content[0].text)
                assert (facts["error"], facts["error_type"]) == (True, error_type)
                assert words in facts["message"]
                assert bool(bedrock.requests) is (failure is not None)


def test_without_a_knowledge_base_it_does_not_start_and_names_the_setting(hub):
    process = hub.start_stdio("bedrock-kb")
    _answers, said = talk(process)
    assert process.returncode == 1
    assert "BEDROCK_KB_ID" in said


def test_garbage_is_answered_and_stdin_that_closes_ends_it(hub):
    process = hub.start_stdio("bedrock-kb", BEDROCK_KB_ID="KB12345678")
    unknown = {**CALL, "id": 8, "params": {"name": "kb_dance", "arguments": {}}}
    answers, _said = talk(process, "これは JSON ではない", INITIALIZE, INITIALIZED, CALL, unknown)
    assert {answer["error"]["code"] for answer in answers if "error" in answer} == {-32700, -32602}
    assert next(answer for answer in answers if answer["id"] == 7)["result"]["isError"] is True
    assert process.returncode == 0


def test_it_imports_neither_django_nor_boto3_before_the_first_question():
    script = (
        "import sys; from mcp_bridge.bedrock_kb.light import LightServer; LightServer({}); "
        "print([name for name in ('django', 'boto3', 'celery') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("server", ["bedrock-kb", "hub"])
async def test_the_hub_serves_it_with_a_token_and_names_the_missing_setting(site, server):
    async with site.client(server) as client:
        result = await client.call_tool("kb_answer", {"query": "問い"})
    assert result.is_error
    assert "BEDROCK_KB_ID" in result.content[0].text
