from hub.core.servers import ensure_queue

__all__ = ["ensure_queue"]
