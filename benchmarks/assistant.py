"""Measure how a model does everyday tasks over MCP with nothing but the hub's tools, and what it pays in characters.

``python -m benchmarks.assistant --url http://127.0.0.1:8000/mcp/hub/ --token TOKEN`` uploads the documents of
``benchmarks/data/assistant.json`` and goes through its 56 tasks: sixteen everyday ones about one system, and forty
about five other documents. ``--paths`` calls a sensible way through each task, written beforehand, and needs no model;
``--before`` takes the way through servers that lack this version's tools. ``--model NAME --model-url URL`` lets a model
behind an OpenAI-compatible endpoint (OPENAI_API_KEY is sent where it is set) find its own way, one tool call a turn;
``--command COMMAND`` any other: COMMAND gets the messages so far as a JSON list on its standard input each turn, and
prints what the model says. The first sixteen build on one another and go in order; ``--at-once N`` does so many of the
others at the same time. ``--toolsets all`` offers all tools, else the server's default.

For each task: right or not (the answer has what it has to; a task of reviewing is judged by the verdict alone), calls,
wrong turns (calls that were refused, and turns that were no call and no answer), characters of the results' text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from knowledge.text.folding import fold_compact

DATA = Path(__file__).resolve().parent / "data" / "assistant.json"
MOST_TURNS = 12
EVERYDAY = 16
INSTRUCTIONS = """You help a person with the tools of a server, and know nothing else about its documents.

{instructions}

The tools, each with its description and the JSON schema of its arguments:

{tools}

Answer each turn with one JSON object and nothing else: {{"tool": NAME, "arguments": {{...}}}} to call a tool, or
{{"answer": TEXT}} to answer the person in the person's language. Say so where the documents do not say it."""


Messages = list[dict[str, str]]
Model = Callable[[Messages], Awaitable[str]]  # what a model says after these messages


@dataclass(slots=True)
class Outcome:
    """How a task went. ``is_right`` is None where only a path was followed: nobody answered."""

    task: str
    is_right: bool | None
    calls: int = 0
    wrong_turns: int = 0
    characters: int = 0
    answer: str = ""


@asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Client]:
    """A client of the server, in Japanese."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "ja"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=400) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def upload(client: Client, documents: list[dict[str, str]]) -> dict[str, str]:
    """Take the documents in; gives their ids by file name."""
    ids = {}
    for document in documents:
        result = await client.call_tool("upload_document", {**document, "wait_seconds": 120})
        assert not result.is_error, result.content
        ids[document["filename"]] = str((result.structured_content or {})["document_id"])
    return ids


def text_of(result: CallToolResult) -> str:
    """The text that most clients show their model."""
    return "\n".join(item.text for item in result.content if item.type == "text")


async def follow(client: Client, task: dict[str, Any], path: str, names: dict[str, str]) -> Outcome:
    """Call what the task's path says; ``$doc:NAME`` and ``$review`` stand for ids."""
    outcome, review = Outcome(task["id"], None), ""
    for tool, arguments in task[path]:
        text = json.dumps(arguments, ensure_ascii=False).replace("$review", review)
        for name, document_id in names.items():
            text = text.replace(f"$doc:{name}", document_id)
        result = await client.call_tool(tool, json.loads(text))
        outcome.calls += 1
        outcome.characters += len(text_of(result))
        outcome.wrong_turns += bool(result.is_error) and not task.get("is_refused", False)
        review = str((result.structured_content or {}).get("review_id", review))
    return outcome


@asynccontextmanager
async def served(url: str, name: str) -> AsyncIterator[Model]:
    """A model behind an OpenAI-compatible endpoint."""
    key = os.environ.get("OPENAI_API_KEY", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=1_000) as http:

        async def ask(messages: Messages) -> str:
            body = {"model": name, "messages": messages, "temperature": 0}
            response = await http.post("/chat/completions", json=body)
            response.raise_for_status()
            return str(response.json()["choices"][0]["message"]["content"])

        yield ask


def run_by(command: Sequence[str]) -> Model:
    """A model that a command asks; raises SystemExit where that fails."""

    async def ask(messages: Messages) -> str:
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        said, _errors = await process.communicate(json.dumps(messages, ensure_ascii=False).encode())
        if process.returncode:
            raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}")
        return said.decode()

    return ask


async def solve(client: Client, model: Model, system: str, task: dict[str, Any]) -> Outcome:
    """Let the model find its way through a task."""
    outcome = Outcome(task["id"], False)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": task["ask"]}]
    for _turn in range(MOST_TURNS):
        said = await model(messages)
        messages.append({"role": "assistant", "content": said})
        try:
            turn = json.loads(said[said.index("{") : said.rindex("}") + 1])
        except ValueError:
            turn = {}
        if isinstance(turn.get("answer"), str):
            outcome.answer = turn["answer"]
            outcome.is_right = is_right(task, outcome.answer)
            return outcome
        if not isinstance(turn.get("tool"), str):
            outcome.wrong_turns += 1
            messages.append({"role": "user", "content": "That was no JSON object with tool or answer."})
            continue
        outcome.calls += 1
        try:
            result = await client.call_tool(turn["tool"], turn.get("arguments") or {})
        except MCPError as error:  # no such tool, or arguments of another form
            text, is_refused = str(error), True
        else:
            text, is_refused = text_of(result), bool(result.is_error)
        outcome.wrong_turns += is_refused and not task.get("is_refused", False)
        outcome.characters += len(text)
        messages.append({"role": "user", "content": f"Result of {turn['tool']}:\n{text}"})
    return outcome


def is_right(task: dict[str, Any], answer: str) -> bool:
    """Whether an answer has all that it has to, and one of what it may say."""
    said = fold_compact(answer)
    return all(fold_compact(one) in said for one in task["all"]) and (
        not task["any"] or any(fold_compact(one) in said for one in task["any"])
    )


def report(outcomes: list[Outcome]) -> str:
    """A line for each task, then the sums of the first sixteen, of the others and of all."""
    signs = {True: "right", False: "wrong", None: "-"}
    lines = [f"{'task':<8}{'':<7}{'calls':>6}{'wrong turns':>13}{'characters':>12}"]
    lines += [
        f"{one.task:<8}{signs[one.is_right]:<7}{one.calls:>6}{one.wrong_turns:>13}{one.characters:>12,}"
        for one in outcomes
    ]
    parts = {"first": outcomes[:EVERYDAY], "others": outcomes[EVERYDAY:], "all": outcomes}
    for name, part in parts.items():
        right = sum(one.is_right is True for one in part)
        sums = [sum(getattr(one, field) for one in part) for field in ("calls", "wrong_turns", "characters")]
        lines.append(f"{name:<8}{f'{right}/{len(part)}':<7}{sums[0]:>6}{sums[1]:>13}{sums[2]:>12,}")
    return "\n".join(lines)


async def measure(given: argparse.Namespace) -> list[Outcome]:
    """Go through the tasks one after the other."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    url = f"{given.url}?toolsets={given.toolsets}" if given.toolsets else given.url
    async with connected(url, given.token) as client:
        names = await upload(client, data["documents"])
        tools = [
            {"name": tool.name, "description": tool.description, "arguments": tool.input_schema}
            for tool in (await client.list_tools()).tools
        ]
        shown = "\n".join(json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools)
        print(f"{len(tools)} tools, {len(shown):,} characters")
        system = INSTRUCTIONS.format(instructions=client.instructions or "", tools=shown)
        tasks = [task for task in data["tasks"] if not given.only or task["id"] in given.only.split(",")]
        async with AsyncExitStack() as stack:
            if given.command:
                model = run_by(shlex.split(given.command))
            elif given.model:
                model = await stack.enter_async_context(served(given.model_url, given.model))
            else:
                path = "before" if given.before else "path"
                return [await follow(client, task, path, names) for task in tasks]
            places = asyncio.Semaphore(given.at_once)

            async def solve_in_turn(task: dict[str, Any]) -> Outcome:
                async with places:
                    return await solve(client, model, system, task)

            everyday = {task["id"] for task in data["tasks"][:EVERYDAY]}
            outcomes = [await solve(client, model, system, task) for task in tasks if task["id"] in everyday]
            others = [solve_in_turn(task) for task in tasks if task["id"] not in everyday]
            return outcomes + list(await asyncio.gather(*others))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000/mcp/hub/")
    parser.add_argument("--token", required=True, help="a token of the hub with read, search, upload and review")
    parser.add_argument("--toolsets", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--model-url", default="", help="up to /v1")
    parser.add_argument("--command", default="", help="asks a model: JSON messages in, its words out")
    parser.add_argument("--at-once", type=int, default=1, help="how many of the tasks after the sixteenth")
    parser.add_argument("--paths", action="store_true", help="follow the written paths (what happens without a model)")
    parser.add_argument("--before", action="store_true", help="the paths through older servers")
    parser.add_argument("--only", default="", help="ids of tasks, with commas between them")
    parser.add_argument("--save", type=Path, help="write each task's outcome as a line of JSON")
    given = parser.parse_args()
    outcomes = asyncio.run(measure(given))
    print(report(outcomes))
    if given.save:
        given.save.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in outcomes))


if __name__ == "__main__":
    main()
