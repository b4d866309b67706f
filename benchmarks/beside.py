"""Two checkouts side by side: the same calls over REST and MCP to two running hubs, in turn, on one machine.

``python -m benchmarks.beside OTHER`` (a checkout with its own or the same ``.venv``) starts the hub of this checkout
and that of OTHER, each with data of its own, gives both the documents of ``HUB_TEST_DATA/documents`` and prints, for
each kind of call, the lower quartile, the median and 95 % of both and the median of their ratios: on the clock, and
(Linux) in processor time of the web process and of PostgreSQL, which load stretches less. Calls alternate between the
hubs, so that what else the machine does meets both alike. Ingest and review are timed one hub after the other, on the
clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

HERE = Path(__file__).resolve().parents[1]
DOCUMENTS = (".docx", ".xlsx", ".md", ".pptx", ".html")
QUESTIONS = (
    "予約の取消はいつまでできるか", "性能の目標値", "監視と通報の手順", "バックアップの取得間隔", "障害時の切替え",
    "利用者の権限", "帳票の出力条件", "外部接続の方式", "テストの完了条件", "データの保存期間",
)  # fmt: skip
HUB_OF = """
import django, json
django.setup()
from django.contrib.auth.models import User
from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from knowledge.models import Collection, CollectionGrant
def token(name, **rights):
    user, _ = User.objects.get_or_create(username=name, defaults=rights)
    return user, create_token(principal=local_operator(), user=user, name="beside", scopes=ALL_SCOPES)[1]
_admin, admin = token("beside-admin", is_superuser=True)
reader, restricted = token("beside-reader")
CollectionGrant.objects.get_or_create(collection=Collection.objects.get(slug="default"), user=reader, role="reviewer")
print(json.dumps({"admin": admin, "reader": restricted}))
"""
MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "get_document_count",
}
MCP_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "get_document_count",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "beside", "version": "1"},
        },
    },
}


@dataclass(slots=True, kw_only=True)
class Site:
    """A running hub, and a client with the rights of each person."""

    name: str
    url: str
    clients: dict[str, httpx2.Client]
    processes: Callable[[], list[int]] = list
    documents: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)

    def call(self, person: str, method: str, path: str, **more: Any) -> httpx2.Response:
        """Send a call. Raises for an answer that is an error."""
        return self.clients[person].request(method, self.url + path, **more).raise_for_status()


Call = Callable[[Site, int], object]


def search(person: str, mode: str) -> Call:
    """A search of one of the questions, made different each time so that no answer or vector is kept."""
    return lambda site, turn: site.call(
        person,
        "POST",
        "/api/v1/search",
        json={"query": f"{QUESTIONS[turn % len(QUESTIONS)]} {turn}", "mode": mode, "limit": 10},
    )


def answer(person: str) -> Call:
    """An answer to one of the questions, made different each time, without a language model."""
    return lambda site, turn: site.call(
        person, "POST", "/api/v1/answer", json={"query": f"{QUESTIONS[turn % len(QUESTIONS)]}は？ {turn}"}
    )


def get(person: str, path: Callable[[Site, int], str]) -> Call:
    return lambda site, turn: site.call(person, "GET", path(site, turn))


def one(ids: list[str], turn: int) -> str:
    return ids[turn % len(ids)]


CALLS: dict[str, Call] = {
    "search, lexical, all": search("admin", "lexical"),
    "search, lexical, reader": search("reader", "lexical"),
    "search, hybrid, all": search("admin", "hybrid"),
    "search, hybrid, reader": search("reader", "hybrid"),
    "answer, reader": answer("reader"),
    "list of collections": get("admin", lambda _site, _turn: "/api/v1/collections"),
    "list of documents, reader": get("reader", lambda _site, _turn: "/api/v1/documents?limit=50"),
    "document, reader": get("reader", lambda site, turn: f"/api/v1/documents/{one(site.documents, turn)}"),
    "list of reviews, all": get("admin", lambda _site, _turn: "/api/v1/reviews?limit=50"),
    "list of reviews, reader": get("reader", lambda _site, _turn: "/api/v1/reviews?limit=50"),
    "review, reader": get("reader", lambda site, turn: f"/api/v1/reviews/{one(site.reviews, turn)}"),
    "report, reader": get(
        "reader", lambda site, turn: f"/api/v1/reviews/{one(site.reviews, turn)}/report?format=markdown"
    ),
    "lint, 300 characters": lambda site, turn: site.call(
        "reader", "POST", "/api/v1/lint", json={"text": f"{turn} 適切に対応する。応答は5秒以内とする。" * 10}
    ),
    "MCP, trivial tool": lambda site, _turn: (
        site.clients["admin"].post(site.url + "/mcp/rag/", headers=MCP_HEADERS, json=MCP_CALL).raise_for_status()
    ),
}


@contextmanager
def running(name: str, root: Path) -> Iterator[Site]:
    """Start a checkout's hub, web, worker and all, on data of its own; stopped at the end."""
    with tempfile.TemporaryDirectory(prefix=f"beside-{name}-") as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        settings = {"HUB_DATA_DIR": home, "HUB_PORT": str(port), "HUB_RATE_LIMIT_PER_MINUTE": "100000000"}
        environment = {**os.environ, **settings, "PYTHONPATH": str(root), "DJANGO_SETTINGS_MODULE": "hub.settings"}
        python = root / ".venv" / "bin" / "python"
        hub = subprocess.Popen(
            [python, "manage.py", "up", "--port", str(port), "--no-sample"],
            cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: is_ready(url), "the hub", within_s=600)
            made = subprocess.run([python, "-c", HUB_OF], cwd=root, env=environment, check=True, stdout=-1, text=True)
            tokens = json.loads(made.stdout.splitlines()[-1])
            clients = {
                who: httpx2.Client(headers={"Authorization": f"Bearer {token}"}, timeout=300)
                for who, token in tokens.items()
            }
            yield Site(name=name, url=url, clients=clients, processes=lambda: answering(hub.pid, Path(home)))
        finally:
            hub.terminate()
            hub.wait(timeout=60)


def answering(supervisor: int, home: Path) -> list[int]:
    """The processes that answer a call: web, and PostgreSQL with one for each connection."""
    started = {one: Path(f"/proc/{one}/cmdline").read_bytes() for one in children(supervisor)}
    web = [one for one, line in started.items() if b"\0web\0" in line or b"\0uvicorn\0" in line]  # older ones
    (postmaster,) = (int(file.read_text().split()[0]) for file in home.rglob("postmaster.pid"))
    return [*web, postmaster, *children(postmaster)]


def children(process: int) -> list[int]:
    return [int(one) for file in Path(f"/proc/{process}/task").glob("*/children") for one in file.read_text().split()]


def processor_ms(site: Site) -> float:
    """Processor time that a hub's answering processes have had so far, in milliseconds."""
    spent = 0
    for process in site.processes():
        with suppress(OSError):  # a thread, or a connection, that has just ended
            for task in Path(f"/proc/{process}/task").iterdir():
                spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e6


def is_ready(url: str) -> bool:
    try:
        return bool(httpx2.get(url + "/readyz").status_code == 200)
    except httpx2.TransportError:
        return False


def wait_for(is_done: Callable[[], bool], what: str, within_s: float = 120) -> None:
    """Ask until it is done. Raises TimeoutError."""
    deadline = time.monotonic() + within_s
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.01)


def ingest(site: Site, paths: list[Path]) -> float:
    """Give the hub the files; gives the milliseconds until the last one can be searched."""
    begun = time.perf_counter()
    new = []
    for path in paths:
        with path.open("rb") as file:
            fields = {"document_type": "basic_design"}
            answer = site.call("admin", "POST", "/api/v1/documents", files={"file": (path.name, file)}, data=fields)
        new.append(answer.json()["document_id"])
    done = ("ready", "needs_ocr", "failed")
    wait_for(
        lambda: all(site.call("admin", "GET", f"/api/v1/documents/{each}").json()["status"] in done for each in new),
        "ingest",
    )
    states = [site.call("admin", "GET", f"/api/v1/documents/{each}").json()["status"] for each in new]
    site.documents += [document for document, state in zip(new, states, strict=True) if state == "ready"]
    return 1000 * (time.perf_counter() - begun)


def review(site: Site, document: str) -> float:
    """Review a document by rules; gives the milliseconds until it is done."""
    begun = time.perf_counter()
    asked = {"document_id": document, "options": {"judge": "rules"}}
    number = site.call("admin", "POST", "/api/v1/reviews", json=asked).json()["review_id"]
    wait_for(
        lambda: site.call("admin", "GET", f"/api/v1/reviews/{number}").json()["status"] in ("completed", "failed"),
        "a review",
    )
    site.reviews.append(number)
    return 1000 * (time.perf_counter() - begun)


def in_turn(sites: list[Site], timed: Callable[[Site, int], Sequence[float]], rounds: int) -> None:
    """Print what both took, on the clock and of processors: lower quartile, median, 95 %, and the ratios of both."""
    taken: dict[str, list[Sequence[float]]] = {site.name: [] for site in sites}
    for turn in range(rounds):
        for site in random.sample(sites, len(sites)):
            taken[site.name].append(timed(site, turn))
    for before, now in zip(zip(*taken["before"], strict=True), zip(*taken["now"], strict=True), strict=True):
        ratio = statistics.median(after / earlier for earlier, after in zip(before, now, strict=True))
        parts = [statistics.quantiles(one, n=20) for one in (before, now)]
        of_before, of_now = ([one[place] for place in (4, 9, 18)] for one in parts)
        columns = " ".join(f"{value:8.2f}" for value in [*of_before, *of_now])
        print(f"{columns}  {of_now[0] / of_before[0]:5.2f} {ratio:5.2f}", end="  |", flush=True)
    print()


def timed(call: Call) -> Callable[[Site, int], Sequence[float]]:
    def time_it(site: Site, turn: int) -> Sequence[float]:
        spent, begun = processor_ms(site), time.perf_counter()
        call(site, turn)
        wall = time.perf_counter() - begun
        return 1000 * wall, processor_ms(site) - spent

    return time_it


def main() -> None:
    """Start both, fill both, call both in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--documents", type=int, default=12)
    parser.add_argument("--only", default="", help="calls whose kind begins so, with commas between, and no reviews")
    asked = parser.parse_args()
    folder = Path(os.environ["HUB_TEST_DATA"]) / "documents"
    files = sorted(path for path in folder.rglob("*") if path.suffix in DOCUMENTS)
    random.Random(7).shuffle(files)
    with ExitStack() as stack:
        roots = {"before": asked.other.resolve(), "now": HERE}
        sites = [stack.enter_context(running(name, root)) for name, root in roots.items()]
        columns = f"{'  before: lower, median, 95 %':26} {'now':24} of lower, median |"
        print(f"{'ms, on the clock | of processors':28}{columns}{columns}")
        report("one document, ingested", sites, lambda site, turn: [ingest(site, [files[turn]])], asked.documents)
        if not asked.only:
            report("one document, reviewed", sites, lambda site, turn: [review(site, one(site.documents, turn))], 30)
        for name, call in CALLS.items():
            if not name.startswith(tuple(asked.only.split(","))):
                continue
            for turn in range(1000, 1020):
                for site in sites:
                    call(site, turn)
            report(name, sites, timed(call), asked.rounds)


def report(name: str, sites: list[Site], call: Callable[[Site, int], Sequence[float]], rounds: int) -> None:
    print(f"{name:28}", end="", flush=True)
    in_turn(sites, call, rounds)


if __name__ == "__main__":
    main()
