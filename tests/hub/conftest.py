"""What is counted in all processes, as /metrics shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hub.core import measures


@pytest.fixture
def shown(client, queue, monkeypatch) -> Iterator[Callable[..., float | None]]:
    """Look up a sample of /metrics by name and labels, None where there is none; nothing was counted before."""
    measures.flush()  # what an earlier test left would be written into this one's sums
    monkeypatch.setattr(measures, "_store", type(measures._store)())
    measures._client().delete(measures.KEY)

    def look(name: str, **labels: str) -> float | None:
        families = text_string_to_metric_families(
            client.get("/metrics", headers={"Host": "localhost"}).content.decode()
        )
        found = [one for family in families for one in family.samples if (one.name, one.labels) == (name, labels)]
        return found[0].value if found else None

    yield look
    measures._store.reset()  # what a test left to be written later is none of the next one's
