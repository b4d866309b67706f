"""Many people at once on one running hub: searches and reviews while documents come in, minute by minute.

``make load LOAD_ARGS="--url http://127.0.0.1:8000 --token TOKEN"`` lets 50 clients search and 5 review, each waiting a
moment between its calls, while 1,000 texts are uploaded one after the other, for 30 minutes or as ``--minutes`` says.
A token of a superuser, or of somebody who may read, search, upload and review.

Printed for each minute: searches, their p50 and p95 in milliseconds, reviews that were finished, documents that were
taken in and that wait, calls that failed, and the resident memory of the hub's processes where ``--pid`` names
`manage.py up` on this machine. ``--plot FILE`` draws p95, waiting documents and memory over time as an SVG. A call that
fails is a status of 500 or more, or no answer; 429 is counted apart: it is the hub's own limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import httpx2

SUBJECTS = ("旅費", "休暇", "調達", "文書管理", "予約", "貸出", "督促", "会議室", "備品", "研修")
ACTS = ("申請", "承認", "取消し", "変更", "照会", "通知", "記録", "確認")
SECTION = "## {n}. {subject}の{act}\n\n担当者は{subject}の{act}を{days}日以内に行い、台帳 {number}-{n} に記入する。"
PAUSE_S = (0.5, 2.0)
FINISHED = {"completed", "failed", "cancelled"}


@dataclass(slots=True)
class Minute:
    """What was seen in one minute; ``waits_ms`` are of searches."""

    waits_ms: list[float] = field(default_factory=list)
    reviews: int = 0
    uploads: int = 0
    waiting: int = 0
    refused: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    resident_mib: dict[str, int] = field(default_factory=dict)

    def quantile(self, share: float) -> float:
        """A quantile of the searches' times; not a number where there were none."""
        ordered = sorted(self.waits_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Load:
    """The clients, and what they see."""

    def __init__(self, http: httpx2.AsyncClient, *, seconds: float) -> None:
        self._http = http
        self._began = time.monotonic()
        self._until = self._began + seconds
        self.minutes: list[Minute] = [Minute()]
        self.documents: list[str] = []

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    @property
    def minute(self) -> Minute:
        """The present one."""
        while len(self.minutes) <= (time.monotonic() - self._began) // 60:
            self.minutes.append(Minute())
        return self.minutes[-1]

    async def call(self, what: str, method: str, path: str, **more: Any) -> dict[str, Any] | None:
        """The answer's JSON; None where the call failed or was refused, which is counted."""
        try:
            response = await self._http.request(method, f"/api/v1{path}", **more)
        except httpx2.HTTPError as error:
            self.minute.failed[f"{what}: {type(error).__name__}"] += 1
            return None
        if response.status_code >= 500:
            self.minute.failed[f"{what}: {response.status_code}"] += 1
        elif response.status_code == 429:
            self.minute.refused += 1
        elif response.status_code < 400:
            return dict(response.json())
        return None

    async def search(self, chance: random.Random) -> None:
        while not self.is_over:
            asked = f"{chance.choice(SUBJECTS)}の{chance.choice(ACTS)}は何日以内か"
            began = time.monotonic()
            if await self.call("search", "POST", "/search", json={"query": asked}) is not None:
                self.minute.waits_ms.append(1_000 * (time.monotonic() - began))
            await asyncio.sleep(chance.uniform(*PAUSE_S))

    async def review(self, chance: random.Random, checklist: str) -> None:
        while not self.is_over:
            if self.documents:
                asked = {"document_id": chance.choice(self.documents), "checklist": checklist}
                made = await self.call("review", "POST", "/reviews", json=asked)
                await self._wait_for(made)
            await asyncio.sleep(chance.uniform(*PAUSE_S))

    async def _wait_for(self, review: dict[str, Any] | None) -> None:
        while review is not None and not self.is_over:
            if review["status"] in FINISHED:
                self.minute.reviews += 1
                return
            await asyncio.sleep(1)
            review = await self.call("review shown", "GET", f"/reviews/{review['review_id']}")

    async def upload(self, chance: random.Random, count: int) -> None:
        for number in range(count):
            if self.is_over:
                return
            sections = (
                SECTION.format(
                    n=n,
                    subject=chance.choice(SUBJECTS),
                    act=chance.choice(ACTS),
                    days=chance.randint(1, 60),
                    number=number,
                )
                for n in range(1, 13)
            )
            text = f"# 要領 {number}\n\n" + "\n\n".join(sections)
            file = {"file": (f"load/要領{number:05}.md", text.encode(), "text/markdown")}
            made = await self.call("upload", "POST", "/documents", files=file)
            if made is not None:
                self.minute.uploads += 1
                self.documents.append(str(made["document_id"]))

    async def watch(self, resident: Callable[[], dict[str, int]]) -> None:
        """Note every few seconds how much waits and how large the processes are."""
        while not self.is_over:
            jobs = await self.call("jobs", "GET", "/jobs", params={"limit": 200})
            self.minute.waiting = max(self.minute.waiting, len(jobs["items"]) if jobs else 0)
            self.minute.resident_mib = resident()
            await asyncio.sleep(5)


def resident_mib(pid: int) -> dict[str, int]:
    """The resident memory of a process's children in MiB, by what they are; empty for 0."""
    found: dict[str, int] = {}
    for status in Path("/proc").glob("[0-9]*/status") if pid else ():
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            words = (status.parent / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it ended meanwhile
        if int(facts["PPid"]) == pid:
            kind = next((word for word in ("web", "worker", "beat") if word in words), "other")
            found[kind] = found.get(kind, 0) + int(facts.get("VmRSS", "0 kB").split()[0]) // 1024
    return found


def report(minutes: Sequence[Minute]) -> str:
    """A line for each minute, then all of them."""
    lines = [f"{'minute':>6} {'searches':>8} {'p50 ms':>7} {'p95 ms':>7} {'reviews':>7} {'taken in':>8} {'waiting':>7}"]
    lines[0] += f" {'refused':>7} {'failed':>6}  memory MiB"
    for number, one in enumerate(minutes):
        memory = " ".join(f"{kind} {size}" for kind, size in sorted(one.resident_mib.items()))
        lines.append(
            f"{number:>6} {len(one.waits_ms):>8} {one.quantile(0.5):>7.0f} {one.quantile(0.95):>7.0f} {one.reviews:>7}"
            f" {one.uploads:>8} {one.waiting:>7} {one.refused:>7} {sum(one.failed.values()):>6}  {memory}"
        )
    waits = [wait for one in minutes for wait in one.waits_ms]
    failed = sum((one.failed for one in minutes), Counter())
    calls = len(waits) + sum(one.reviews + one.uploads for one in minutes) + failed.total()
    median = statistics.median(waits) if waits else float("nan")
    lines.append(f"all: {calls} calls, median search {median:.0f} ms, failed {failed.total()} {dict(failed) or ''}")
    return "\n".join(lines)


def plot(minutes: Sequence[Minute]) -> str:
    """Three curves below each other, each from 0 to its own largest value, as an SVG."""
    curves = {
        "search p95, ms": [one.quantile(0.95) for one in minutes],
        "documents waiting": [float(one.waiting) for one in minutes],
        "memory of all processes, MiB": [float(sum(one.resident_mib.values())) for one in minutes],
    }
    width, height, parts = 640, 120, []
    for row, (name, values) in enumerate(curves.items()):
        most = max((value for value in values if value == value), default=0.0) or 1.0
        step, floor = width / max(len(values) - 1, 1), (row + 1) * (height + 30) - 10
        points = " ".join(
            f"{at * step:.1f},{floor - height * value / most:.1f}" for at, value in enumerate(values) if value == value
        )
        parts.append(f'<text x="0" y="{floor - height - 6}">{escape(name)}: at most {most:.0f}</text>')
        parts.append(f'<polyline points="{points}" fill="none" stroke="black"/>')
    size = f'width="{width}" height="{len(curves) * (height + 30)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="12">{"".join(parts)}</svg>\n'


async def run(given: argparse.Namespace) -> list[Minute]:
    """Let all clients work until the time is over."""
    limits = httpx2.Limits(max_connections=given.clients + given.reviewers + 5)
    headers = {"Authorization": f"Bearer {given.token}"}
    async with httpx2.AsyncClient(base_url=given.url, headers=headers, timeout=60, limits=limits) as http:
        load = Load(http, seconds=60 * given.minutes)
        await asyncio.gather(
            *(load.search(random.Random(number)) for number in range(given.clients)),
            *(load.review(random.Random(-1 - number), given.checklist) for number in range(given.reviewers)),
            load.upload(random.Random("documents"), given.documents),
            load.watch(lambda: resident_mib(given.pid)),
        )
        return load.minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--reviewers", type=int, default=5)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--checklist", default="basic-design")
    parser.add_argument("--pid", type=int, default=0, help="of `manage.py up`, when it runs on this machine")
    parser.add_argument("--save", type=Path, help="write each minute as a line of JSON")
    parser.add_argument("--plot", type=Path, help="draw an SVG")
    given = parser.parse_args()
    minutes = asyncio.run(run(given))
    print(report(minutes))
    if given.save:
        given.save.write_text("".join(json.dumps(asdict(one)) + "\n" for one in minutes), encoding="utf-8")
    if given.plot:
        given.plot.write_text(plot(minutes), encoding="utf-8")


if __name__ == "__main__":
    main()
