"""Search engines that hold an index beside PostgreSQL. There is one: Qdrant."""

from knowledge.engines.errors import EngineError
from knowledge.engines.qdrant import WRITE_TIMEOUT_FACTOR, QdrantEngine

__all__ = ["WRITE_TIMEOUT_FACTOR", "EngineError", "QdrantEngine"]
