"""Many people at once on one running hub: searches and reviews while documents come in, minute by minute.

``make load LOAD_ARGS="--url http://127.0.0.1:8000 --token TOKEN"`` lets 50 clients search and 5 review, each waiting a
moment between its calls, while 1,000 texts are uploaded one after the other, for 30 minutes or as ``--minutes`` says.
A token of a superuser, or of somebody who may read, search, upload and review. ``--person TOKEN`` is of somebody else,
who has one document at a time taken in meanwhile, waits until it is found, and searches: what they see of the others.

Printed for each minute: searches, their p50 and p95 in milliseconds, reviews that were finished, documents that were
taken in and that wait, calls that failed, and the resident memory of the hub's processes, by what they are, where
``--pid`` names `manage.py up` on this machine. Then p50, p95 and the longest by kind of call, and the most memory of
each process. ``--plot FILE`` draws p95 of each kind, waiting documents and memory over time as an SVG. A call that
fails is a status of 400 or more, or no answer; 429 is counted apart: it is the hub's own limit of one caller, which
HUB_RATE_LIMIT_PER_MINUTE raises for clients that share a token. Of waiting documents 200 are counted at most.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import httpx2

SUBJECTS = ("旅費", "休暇", "調達", "文書管理", "予約", "貸出", "督促", "会議室", "備品", "研修")
ACTS = ("申請", "承認", "取消し", "変更", "照会", "通知", "記録", "確認")
SECTION = "## {n}. {subject}の{act}\n\n担当者は{subject}の{act}を{days}日以内に行い、台帳 {number}-{n} に記入する。"
PAUSE_S = (0.5, 2.0)
FINISHED = {"completed", "failed", "cancelled"}
READ = {"ready", "failed", "needs_ocr"}
SEARCH, UPLOAD, REVIEW = "search", "upload", "review, to its end"
PERSON_SEARCH, PERSON_UPLOAD, PERSON_READY = "person's search", "person's upload", "person's document, until ready"
PERSON_PAUSE_S = 5


@dataclass(slots=True)
class Minute:
    """What was seen in one minute; ``waits_ms`` by kind of call, ``resident_mib`` by process."""

    waits_ms: dict[str, list[float]] = field(default_factory=dict)
    reviews: int = 0
    uploads: int = 0
    waiting: int = 0
    refused: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    resident_mib: dict[str, int] = field(default_factory=dict)

    def quantile(self, kind: str, share: float) -> float:
        """A quantile of the times of a kind of call."""
        return quantile(self.waits_ms.get(kind, ()), share)

    def facts(self) -> dict[str, Any]:
        """What was seen, by name, as JSON has it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def memory(self) -> dict[str, int]:
        """The memory of all processes of a kind together."""
        return {
            kind: sum(size for name, size in self.resident_mib.items() if name.partition(" ")[0] == kind)
            for kind in sorted({name.partition(" ")[0] for name in self.resident_mib})
        }


def quantile(waits: Sequence[float], share: float) -> float:
    """A quantile; not a number where there is nothing."""
    ordered = sorted(waits)
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
        if response.status_code < 400:
            return dict(response.json())
        if response.status_code == 429:
            self.minute.refused += 1
        else:
            self.minute.failed[f"{what}: {response.status_code}"] += 1
        return None

    def note(self, kind: str, began: float) -> None:
        """Keep how long a call took that succeeded."""
        self.minute.waits_ms.setdefault(kind, []).append(1_000 * (time.monotonic() - began))

    async def search(self, chance: random.Random, *, kind: str = SEARCH) -> None:
        while not self.is_over:
            await self.search_once(chance, kind)
            await asyncio.sleep(chance.uniform(*PAUSE_S))

    async def search_once(self, chance: random.Random, kind: str, **more: Any) -> None:
        asked = f"{chance.choice(SUBJECTS)}の{chance.choice(ACTS)}は何日以内か"
        began = time.monotonic()
        if await self.call(kind, "POST", "/search", json={"query": asked}, **more) is not None:
            self.note(kind, began)

    async def person(self, chance: random.Random, token: str) -> None:
        """Take one document in, wait until it is read, search, and again."""
        more = {"headers": {"Authorization": f"Bearer {token}"}}
        number = 0
        while not self.is_over:
            number += 1
            text = f"# 覚書 {number}\n\n{chance.choice(SUBJECTS)}の{chance.choice(ACTS)}について記す。\n"
            file = {"file": (f"load/覚書{number:05}.md", text.encode(), "text/markdown")}
            began = time.monotonic()
            made = await self.call(PERSON_UPLOAD, "POST", "/documents", files=file, **more)
            if made is not None:
                self.note(PERSON_UPLOAD, began)
            while made is not None and not self.is_over and made["status"] not in READ:
                await asyncio.sleep(0.5)
                made = await self.call(PERSON_READY, "GET", f"/documents/{made['document_id']}", **more)
            if made is not None and made["status"] in READ:
                self.note(PERSON_READY, began)
            await self.search_once(chance, PERSON_SEARCH, **more)
            await asyncio.sleep(PERSON_PAUSE_S)

    async def review(self, chance: random.Random, checklist: str) -> None:
        while not self.is_over:
            if self.documents:
                asked = {"document_id": chance.choice(self.documents), "checklist": checklist}
                began = time.monotonic()
                made = await self.call("review", "POST", "/reviews", json=asked)
                if await self._is_finished(made):
                    self.minute.reviews += 1
                    self.note(REVIEW, began)
            await asyncio.sleep(chance.uniform(*PAUSE_S))

    async def _is_finished(self, review: dict[str, Any] | None) -> bool:
        """Wait for a review's end; False when the time is over before."""
        while review is not None and not self.is_over:
            if review["status"] in FINISHED:
                return True
            await asyncio.sleep(1)
            review = await self.call("review shown", "GET", f"/reviews/{review['review_id']}")
        return False

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
            began = time.monotonic()
            made = await self.call(UPLOAD, "POST", "/documents", files=file)
            if made is not None:
                self.note(UPLOAD, began)
                self.minute.uploads += 1
                self.documents.append(str(made["document_id"]))

    async def watch(self, resident: Callable[[], dict[str, int]]) -> None:
        """Note every few seconds how much waits and how large the processes are."""
        while not self.is_over:
            jobs = await self.call("jobs", "GET", "/jobs", params={"limit": 200})
            self.minute.waiting = max(self.minute.waiting, len(jobs["items"]) if jobs else 0)
            sizes, before = resident(), self.minute.resident_mib
            self.minute.resident_mib = before | {one: max(size, before.get(one, 0)) for one, size in sizes.items()}
            await asyncio.sleep(5)


def resident_mib(pid: int) -> dict[str, int]:
    """The resident memory in MiB of all processes below one, named by what they are and their ids; empty for 0."""
    parents, sizes, words = {}, {}, {}
    for status in Path("/proc").glob("[0-9]*/status") if pid else ():
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            words[int(facts["Pid"])] = (status.parent / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it ended meanwhile
        parents[int(facts["Pid"])] = int(facts["PPid"])
        sizes[int(facts["Pid"])] = int(facts.get("VmRSS", "0 kB").split()[0]) // 1024
    return {f"{_kind(words[one])} {one}": size for one, size in sizes.items() if _is_below(one, pid, parents)}


def _is_below(process: int, above: int, parents: dict[int, int]) -> bool:
    while (parent := parents.get(process)) is not None:
        if parent == above:
            return True
        process = parent
    return False


def _kind(words: Sequence[str]) -> str:
    if any(word.startswith("knowledge.parsers") for word in words):
        return "parsers"
    return next((word for word in ("web", "worker", "beat") if word in words), "other")


def report(minutes: Sequence[Minute]) -> str:
    """A line for each minute, then each kind of call and each kind of process, then all of them."""
    lines = [f"{'minute':>6} {'searches':>8} {'p50 ms':>7} {'p95 ms':>7} {'reviews':>7} {'taken in':>8} {'waiting':>7}"]
    lines[0] += f" {'refused':>7} {'failed':>6}  memory MiB"
    for number, one in enumerate(minutes):
        memory = " ".join(f"{kind} {size}" for kind, size in one.memory().items())
        lines.append(
            f"{number:>6} {len(one.waits_ms.get(SEARCH, ())):>8} {one.quantile(SEARCH, 0.5):>7.0f}"
            f" {one.quantile(SEARCH, 0.95):>7.0f} {one.reviews:>7} {one.uploads:>8} {one.waiting:>7}"
            f" {one.refused:>7} {sum(one.failed.values()):>6}  {memory}"
        )
    waits = {kind: [ms for one in minutes for ms in one.waits_ms.get(kind, ())] for kind in kinds(minutes)}
    lines.append(f"\n{'kind':32} {'calls':>7} {'p50 ms':>8} {'p95 ms':>8} {'longest':>8}")
    lines += [
        f"{kind:32} {len(ms):>7} {quantile(ms, 0.5):>8.0f} {quantile(ms, 0.95):>8.0f} {max(ms):>8.0f}"
        for kind, ms in waits.items()
    ]
    most: dict[str, int] = {}
    for one in minutes:
        most |= {name: max(size, most.get(name, 0)) for name, size in one.resident_mib.items()}
    lines += [f"process {name:24} {size:>5} MiB at most" for name, size in sorted(most.items())]
    failed = sum((one.failed for one in minutes), Counter())
    calls = sum(map(len, waits.values())) + failed.total()
    share = failed.total() / calls if calls else 0.0
    lines.append(f"all: {calls} calls, failed {failed.total()} ({share:.2%}) {dict(failed) or ''}")
    return "\n".join(lines)


def kinds(minutes: Sequence[Minute]) -> list[str]:
    """The kinds of call that there were."""
    return sorted({kind for one in minutes for kind in one.waits_ms})


def plot(minutes: Sequence[Minute]) -> str:
    """Curves below each other, each from 0 to its own largest value, as an SVG."""
    curves = {f"{kind}: p95, ms": [one.quantile(kind, 0.95) for one in minutes] for kind in kinds(minutes)}
    curves["documents waiting"] = [float(one.waiting) for one in minutes]
    for kind in sorted({kind for one in minutes for kind in one.memory()}):
        curves[f"memory of {kind}, MiB"] = [float(one.memory().get(kind, 0)) for one in minutes]
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
    limits = httpx2.Limits(max_connections=given.clients + given.reviewers + 6)
    headers = {"Authorization": f"Bearer {given.token}"}
    async with httpx2.AsyncClient(base_url=given.url, headers=headers, timeout=60, limits=limits) as http:
        load = Load(http, seconds=60 * given.minutes)
        await asyncio.gather(
            *(load.search(random.Random(number)) for number in range(given.clients)),
            *(load.review(random.Random(-1 - number), given.checklist) for number in range(given.reviewers)),
            load.upload(random.Random("documents"), given.documents),
            load.watch(lambda: resident_mib(given.pid)),
            *([load.person(random.Random("person"), given.person)] if given.person else []),
        )
        return load.minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token", required=True)
    parser.add_argument("--person", default="", help="the token of somebody else, who takes in documents one by one")
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
        given.save.write_text("".join(json.dumps(one.facts()) + "\n" for one in minutes), encoding="utf-8")
    if given.plot:
        given.plot.write_text(plot(minutes), encoding="utf-8")


if __name__ == "__main__":
    main()
