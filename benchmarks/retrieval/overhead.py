"""What REST search costs besides PostgreSQL and the model: authentication, checks, scoring, shapes, JSON.

Processor time of this process with the client's side of SQL in it, since the time on the clock says more about what
else runs on a shared machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import Scope, local_operator
from hub.access.services import create_token
from hub.core.servers import ensure_queue
from knowledge.backends.active_embedder import active_embedding_set
from knowledge.search import legs


class _Still:
    """Stands in for the model."""

    def __init__(self, dimension: int) -> None:
        self._vector = np.full(dimension, dimension**-0.5, np.float32)

    def embed_query(self, _text: str) -> np.ndarray:
        return self._vector

    def query_is_truncated(self, _text: str) -> bool:
        return False


def print_overhead(questions: Sequence[str]) -> None:
    """Ask each question twice through REST and print the second time's median and 95 %."""
    ensure_queue()
    settings.ALLOWED_HOSTS = ["testserver"]
    user, _made = User.objects.get_or_create(username="benchmark", is_superuser=True)
    scopes = frozenset({Scope.SEARCH})
    _row, token = create_token(principal=local_operator(), user=user, name="benchmark", scopes=scopes)
    client = Client(headers={"authorization": f"Bearer {token}"})
    legs.embedder_of = lambda _set: _Still(active_embedding_set().dimension)  # type: ignore[assignment,return-value]
    for _warm in range(2):
        spent = [_ask(client, text) for text in questions]
    p50, p95 = np.percentile(spent, [50, 95])
    print(f"\nREST search, this process without the model: p50 {p50:.1f} ms, p95 {p95:.1f} ms of processor time")


def _ask(client: Client, text: str) -> float:
    started = time.thread_time()
    answer = client.post("/api/v1/search", json.dumps({"query": text}), content_type="application/json")
    spent = (time.thread_time() - started) * 1000
    if answer.status_code != 200:
        raise RuntimeError(f"search answered {answer.status_code}: {answer.content[:300]!r}")
    return spent
