"""Pictures to put into documents."""

from __future__ import annotations

import base64
import io

from PIL import Image


def png(shade: int = 128, *, size: tuple[int, int] = (64, 48)) -> bytes:
    """Return a grey PNG picture."""
    stream = io.BytesIO()
    Image.new("L", size, shade).save(stream, format="PNG")
    return stream.getvalue()


def data_uri(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()
