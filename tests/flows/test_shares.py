"""One person's many costly calls at a running hub: they are refused or wait among themselves, and others go on."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.flows.hub_process import HubProcess

MANY = 24
# Graph queries of one person that are at work or wait for each other.
AT_WORK_OR_WAITING = 4
WITHIN_S = 60
LONG = {"text": ("あいう a.3.3.1-（「" * 20_000)[:200_000]}
QUERY = {"cypher_query": "MATCH (n) RETURN count(n) AS n"}

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def heidi(hub: HubProcess) -> str:
    """The token of a person who may read and search the sample."""
    script = (
        "from django.contrib.auth.models import User; from hub.access.services import create_token; "
        "from hub.access.models import *; from hub.access.principals import *; from knowledge.models import *; "
        "user = User.objects.create_user('heidi-of-shares'); "
        "CollectionGrant.objects.create(collection=Collection.objects.get(slug='sample'), user=user, role='reader'); "
        "scopes = frozenset({Scope.READ, Scope.SEARCH}); "
        "print(create_token(principal=local_operator(), user=user, name='t', scopes=scopes)[1])"
    )
    return hub.manage("shell", "--no-imports", "-c", script).stdout.strip().splitlines()[-1]


def descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


@contextmanager
def standing_still(hub: HubProcess, module: str) -> Iterator[None]:
    """Stop the processes of the hub that run a module, so that what they are asked takes as long as the block."""
    pids = [pid for pid in descendants(hub.process.pid) if module in Path(f"/proc/{pid}/cmdline").read_text()]
    assert pids
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def answered(calls: Sequence[Future[Any]], number: int) -> Counter[tuple[int, str]]:
    """Wait until so many of the calls are answered, and count them by status and code."""
    done: set[Future[Any]] = set()
    while len(done) < number:
        more = wait(set(calls) - done, timeout=WITHIN_S, return_when=FIRST_COMPLETED).done
        assert more
        done |= more
    answers = [call.result() for call in done]
    return Counter((answer.status_code, answer.json().get("code", "")) for answer in answers)


def test_long_texts_of_one_person_keep_nobody_else_waiting(hub: HubProcess, heidi: str) -> None:
    def lint(_number: int) -> Any:
        return hub.call("POST", "/lint", token=heidi, json=LONG)

    assert lint(0).status_code == 200
    with ThreadPoolExecutor(MANY) as threads:
        with standing_still(hub, "knowledge.parsers.process.host"):
            flood = [threads.submit(lint, number) for number in range(MANY)]
            assert hub.call("GET", "/collections").status_code == 200
            assert answered(flood, MANY - 1) == {(429, "too_many_at_once"): MANY - 1}
            assert hub.call("GET", "/collections").status_code == 200
            assert not all(call.done() for call in flood)  # the one that is being read
        assert answered(flood, MANY)[(200, "")] == 1


def test_graph_queries_of_one_person_keep_nobody_else_waiting(hub: HubProcess, heidi: str) -> None:
    def ask(_number: int) -> Any:
        return hub.call("POST", "/graph/query", token=heidi, json=QUERY)

    assert ask(0).status_code == 200
    with ThreadPoolExecutor(MANY) as threads:
        with standing_still(hub, "knowledge.graph.cypher.child"):
            flood = [threads.submit(ask, number) for number in range(MANY)]
            refused = answered(flood, MANY - AT_WORK_OR_WAITING)
            assert set(refused) == {(429, "too_many_at_once")}
            assert hub.call("GET", "/collections").status_code == 200
            assert not all(call.done() for call in flood)
        assert answered(flood, MANY)[(200, "")] >= 1
