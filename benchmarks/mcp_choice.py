"""Measure which tool of the `hub` server a model picks for everyday requests, from names and descriptions alone.

``python -m benchmarks.mcp_choice`` connects a real MCP client, reads tools/list, and asks for each request of
``benchmarks/data/mcp_choice.json``: the twenty of docs/mcp.md, and twenty that were held out when the descriptions were
written. It prints right and wrong, and for each miss what was picked instead.

``--by embedding`` (the default) takes the tool whose title and description lie nearest to the request, as hosts with
many tools choose which to show their model; it needs nothing but the bundled embedding model. ``--by model`` asks the
language model that LLM_PROVIDER, LLM_BASE_URL and LLM_MODEL name, held to the tools' names; with the small one of
``tools/local_model.py`` set LLM_STRUCTURED_OUTPUT=grammar.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

REQUESTS = Path(__file__).resolve().parent / "data" / "mcp_choice.json"
TOP = 3
INSTRUCTIONS = """You choose the tool that serves a person's request. These are the tools:

{tools}

Answer with the name of one tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A tool as a model sees it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, and the tools that serve it."""

    request: str
    tools: tuple[str, ...]


# Gives the tools' names, best first; one name where the chooser has no second choice.
Chooser = Callable[[str], Sequence[str]]


def main() -> None:
    """Read the command line, ask everything, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp_choice", description=__doc__)
    parser.add_argument("--by", choices=("embedding", "model"), default="embedding")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hub-benchmark-") as scratch:
        os.environ |= {"HUB_DATA_DIR": scratch, "DJANGO_SETTINGS_MODULE": "hub.settings"}
        import django

        django.setup()
        tools = asyncio.run(offered())
        choose = by_embedding(tools, Path(scratch)) if arguments.by == "embedding" else by_model(tools)
        for name, requests in load_requests().items():
            _report(name, requests, choose)


def load_requests() -> dict[str, list[Asked]]:
    """Read the requests, by the name of their list."""
    stored = json.loads(REQUESTS.read_text(encoding="utf-8"))
    return {
        name: [Asked(request=row["request"], tools=tuple(row["tools"])) for row in rows]
        for name, rows in stored.items()
    }


async def offered() -> list[Offered]:
    """List the tools of the server `hub` through a client, for a caller who may do everything. Needs no database."""
    from mcp import Client

    from hub.access.principals import local_operator
    from mcp_bridge.calls import Door
    from mcp_bridge.events import EventBridge
    from mcp_bridge.servers import build_server

    async def principal():
        return local_operator()

    door = Door(principal=principal, events=EventBridge(), is_local=True, toolsets=("all",))
    async with Client(build_server("hub", door)) as client:
        listed = (await client.list_tools()).tools
    return [Offered(name=tool.name, text=f"{tool.title}\n{tool.description}") for tool in listed]


def by_embedding(tools: Sequence[Offered], cache_dir: Path) -> Chooser:
    """Order the tools by how near their texts are to the request."""
    from knowledge.embedders import create_embedder

    embedder = create_embedder("bundled", model=None, cache_dir=cache_dir)
    vectors = embedder.embed_passages([tool.text for tool in tools])

    def choose(request: str) -> list[str]:
        scores = vectors @ embedder.embed_query(request)
        return [tools[i].name for i in (-scores).argsort()]

    return choose


def by_model(tools: Sequence[Offered]) -> Chooser:
    """Let the configured language model choose, held to the names."""
    from django.conf import settings

    from hub.llm.providers.registry import get_provider
    from hub.llm.types import AnswerSchema, LlmRequest, Message, Role

    provider = get_provider()
    listed = "\n\n".join(f"## {tool.name}\n{tool.text}" for tool in tools)
    system = Message(role=Role.SYSTEM, text=INSTRUCTIONS.format(tools=listed))
    schema = AnswerSchema(name="tool", schema={"enum": [tool.name for tool in tools]})

    def choose(request: str) -> list[str]:
        messages = (system, Message(role=Role.USER, text=f"Request: {request}"))
        asked = LlmRequest(messages=messages, schema=schema)
        answer = provider.complete(asked, model=settings.CONFIG.llm_model, max_output_tokens=30)
        return [json.loads(answer.text)]

    return choose


def _report(name: str, requests: Sequence[Asked], choose: Chooser) -> None:
    first = among = 0
    for asked in requests:
        names = choose(asked.request)
        is_right = names[0] in asked.tools
        first += is_right
        among += bool({*names[:TOP]} & {*asked.tools})
        print(
            f"{'right' if is_right else 'WRONG':6}{', '.join(names[:TOP]):70}{asked.tools[0]:26}{asked.request}",
            flush=True,
        )
    print(f"{name}: {first} of {len(requests)} right, {among} among the first {TOP}\n")


if __name__ == "__main__":
    main()
