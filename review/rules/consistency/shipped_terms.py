"""The shipped terminology: words judged and not judged, and curated synonyms."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

_DATA_FILE = Path(__file__).resolve().parents[2] / "data" / "terminology.json"


@lru_cache(maxsize=1)
def terminology() -> dict[str, Any]:
    """Return the shipped terminology: words judged and not judged, and the curated synonyms."""
    data: dict[str, Any] = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    return data
