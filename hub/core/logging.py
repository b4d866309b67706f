"""Log formatters: one readable line, or one JSON object, each with the request id of the running call."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from hub.core.context import current_call


def in_one_line(record: logging.LogRecord) -> bool:
    """A filter for what is sent to the hub by mistake or malice: no traceback. Keeps every record."""
    record.exc_info = None
    return True


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(request)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        call = current_call()
        record.request = f" [{call.request_id}]" if call else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        call = current_call()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": call.request_id if call else None,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
