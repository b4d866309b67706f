"""`manage.py mcp` as assistants run it: a process of its own, spoken to over its stdin and stdout."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hub.core.embedded import postgres_settings
from tests.conftest import REPOSITORY
from tests.mcp_bridge.conftest import stdio_session
from tests.mcp_bridge.test_http import INITIALIZE, upload

pytestmark = pytest.mark.anyio
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
COUNT = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_document_count", "arguments": {}}}
UNKNOWN = {"jsonrpc": "2.0", "id": 8, "method": "reviews/dance"}
PATIENCE_S = 30


def talk(process: subprocess.Popen[bytes], *lines: object) -> tuple[list[dict], str]:
    """Send the lines, close stdin, and read what comes until the end."""
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    out, err = process.communicate("".join(f"{text}\n" for text in texts).encode(), timeout=PATIENCE_S)
    return [json.loads(line) for line in out.decode().splitlines()], err.decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_local_operator_uploads_searches_and_reviews_without_a_worker(hub, mode):
    async with stdio_session(hub.stdio("hub"), mode=mode) as client:
        document = await upload(client, f"ローカル-{mode}.md", wait_seconds=0)
        asked = {"query": "バックアップの時刻", "filter": {"document_id": document["document_id"]}}
        found = await client.call_tool("search", asked)
        review = await client.call_tool("review_document", {"document_id": document["document_id"]})
    assert document["processing_status"] == "completed"
    assert any("午前2時" in hit["content"] for hit in found.structured_content["results"])
    assert review.structured_content["status"] == "completed"


async def test_a_review_that_nobody_waits_for_is_finished_all_the_same(hub):
    async with stdio_session(hub.stdio("core")) as client:
        document = await upload(client, "待たない.md")
        asked = {"document_id": document["document_id"], "options": {"wait_seconds": 0}}
        review = (await client.call_tool("review_document", asked)).structured_content
        for _attempt in range(200):
            if review["status"] == "completed":
                break
            review = (await client.call_tool("get_review", {"review_id": review["review_id"]})).structured_content
    assert review["status"] == "completed"


async def test_a_token_limits_what_is_offered(hub):
    async with stdio_session(hub.stdio("core", HUB_TOKEN=hub.tokens["searcher"])) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {"get_check_items", "create_report", "get_review", "list_documents", "check_text"}


def test_garbage_is_answered_and_the_server_goes_on_until_stdin_is_closed(hub):
    process = hub.start_stdio("rag")
    lines = ["これは JSON ではない", INITIALIZE, "", [1], INITIALIZED, {"jsonrpc": "2.0", "id": 9}, UNKNOWN, COUNT]
    answers, err = talk(process, *lines)
    assert " DEBUG " not in err
    errors = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    assert sorted(errors, key=str) == [(8, -32601), (9, -32600), (None, -32600), (None, -32700)]
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 2}  # the last one was under way at the end
    assert process.returncode == 0


def test_debug_goes_to_stderr_and_only_the_protocol_to_stdout(hub):
    process = hub.start_stdio("rag", LOG_LEVEL="DEBUG")
    answers, err = talk(process, INITIALIZE, INITIALIZED, COUNT)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert " DEBUG " in err
    assert " connected: " in err
    assert " disconnected: the client has closed stdin" in err  # which may be read before the call is answered


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_zero(hub, number):
    process = hub.start_stdio("core")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(number)
    out, _err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--token", "hub_wrong"], {}, "token"),
        ([], {"MCP_TRANSPORTS": "http"}, "MCP_TRANSPORTS"),
    ],
)
def test_a_start_that_is_refused_says_why_on_stderr(hub, arguments, environment, words):
    process = hub.start_stdio("core", *arguments, **environment)
    answers, err = talk(process, INITIALIZE)
    assert (process.returncode, answers) == (1, [])
    assert words in err
    assert "Traceback" not in err


def test_a_shared_database_needs_a_token(hub):
    user, socket_dir = _shared_database(hub)
    url = f"postgresql://{user}@/hub?host={socket_dir}"
    process = hub.start_stdio("core", DATABASE_URL=url)
    answers, err = talk(process, INITIALIZE)
    assert (process.returncode, answers) == (1, [])
    assert "--token" in err


def _shared_database(hub) -> tuple[str, str]:
    values = postgres_settings(hub.home / "postgres")
    return values["USER"], values["HOST"]


def test_a_database_without_tables_is_named(hub):
    # its database may still be ending when the process that started it has ended
    with tempfile.TemporaryDirectory(prefix="hub-mcp-empty-", ignore_cleanup_errors=True) as home:
        process = hub.start_stdio("core", HUB_DATA_DIR=home)
        answers, err = talk(process, INITIALIZE)
    assert (process.returncode, answers) == (1, [])
    assert "migrate" in err
    assert "Traceback" not in err


def test_print_config_is_ready_to_paste(hub):
    process = hub.start_stdio("core", "--print-config", HUB_TOKEN="hub_mine")
    out, _err = process.communicate(timeout=PATIENCE_S)
    hosts = json.loads(out)
    assert set(hosts) == {"claude_desktop", "vscode", "cursor", "kiro"}
    stdio = hosts["claude_desktop"]["stdio"]["mcpServers"]["smartreviewer-core"]
    assert [stdio["command"], *stdio["args"]] == [sys.executable, str(REPOSITORY / "manage.py"), "mcp", "core"]
    assert stdio["env"] == {"HUB_DATA_DIR": str(hub.home), "HUB_TOKEN": "hub_mine"}
    assert hosts["vscode"]["http"]["servers"]["smartreviewer-core"]["headers"] == {"Authorization": "Bearer hub_mine"}
    assert Path(stdio["command"]).is_file()
