"""The search engine that the settings name."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from knowledge.engines import QdrantEngine
from knowledge.ports import SearchEngine


def get_engine() -> SearchEngine:
    """Return this process's client of the engine; nothing is opened by it. Only where SEARCH_INDEX names one."""
    config = settings.CONFIG
    return _engine(config.qdrant_url, config.qdrant_api_key, config.qdrant_timeout_s)


@lru_cache(maxsize=4)
def _engine(url: str, api_key: str, timeout_s: float) -> SearchEngine:
    return QdrantEngine(url, api_key=api_key, timeout_s=timeout_s)
