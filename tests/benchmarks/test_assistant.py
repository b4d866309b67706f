"""The bench that a model drives over MCP: a model behind a command, and how its turns are counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.assistant import run_by, solve
from tests.mcp_bridge.test_servers import client_of

pytestmark = pytest.mark.anyio
TASK = {"id": "1", "ask": "稼働率は何%ですか", "all": ["99.5"], "any": []}
MODEL = """
import json, sys
messages = json.load(sys.stdin)
turns = json.loads(sys.argv[1])
print(turns[len(messages) // 2 - 1])
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def model(tmp_path: Path):
    script = tmp_path / "model.py"
    script.write_text(MODEL, encoding="utf-8")

    def saying(*turns: str):
        return run_by([sys.executable, str(script), json.dumps(turns)])

    return saying


async def test_a_command_is_asked_each_turn_and_its_refused_calls_and_idle_turns_are_counted(model):
    refused = json.dumps({"tool": "get_check_items", "arguments": {"nonsense": 1}})
    said = model("考えます", refused, json.dumps({"answer": "稼働率は ９９．５ % です"}))
    async with client_of("hub") as client:
        outcome = await solve(client, said, "system", TASK)
    assert outcome.is_right is True
    assert (outcome.calls, outcome.wrong_turns) == (1, 2)
    assert outcome.characters > 0


async def test_a_command_that_fails_ends_the_bench_and_answers_nothing(tmp_path):
    with pytest.raises(SystemExit, match="3"):
        await run_by([sys.executable, "-c", "raise SystemExit(3)"])([])
