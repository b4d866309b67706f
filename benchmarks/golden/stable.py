"""Answers without what differs from run to run: generated ids, times, durations, cursors, folders. Pure."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

# Public ids are a prefix and 20 characters of Crockford's base 32; those derived from others have hexadecimal digits.
_ID = re.compile(r"(?<![A-Za-z0-9_])([a-z]{2,10})_(?:[0-9a-hjkmnp-tv-z]{20}|[0-9a-f]{24,64})(?![0-9A-Za-z_])")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|JST|[+-]\d\d:?\d\d))?")
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%Y年%-m月%-d日", "%Y年%m月%d日", "%-d %B %Y", "%B %-d, %Y")
_ZIP = b"PK\x03\x04"
# Sealed with the hub's secret, so that no two hubs give the same.
_CURSORS = frozenset({"next_cursor", "nextCursor"})
LONGEST = 2000
HEAD = 60


class Stable:
    """Replaces in one run's answers what another run would have otherwise.

    Ids that `learn` named get that name everywhere, all others a number by their first appearance in the answer, so
    that an answer that changes leaves the names in the next one as they are. Times count as such from ``begun`` on, so
    that dates in documents stay.
    """

    def __init__(self, *, begun: datetime, folders: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}
        self._folders = dict(folders or {})
        days = [begun.astimezone(zone) + timedelta(days=more) for zone in _ZONES for more in (0, 1)]
        written = sorted({day.strftime(form) for day in days for form in _DAYS})
        # Not within a longer number: eight digits of today may be part of one.
        self._today = re.compile(r"(?<!\d)(?:" + "|".join(map(re.escape, written)) + r")(?!\d)")
        self._days = {day.strftime("%Y-%m-%d") for day in days}

    def learn(self, public_id: str, name: str) -> None:
        """Give an id the name that it has in all answers."""
        self._names.setdefault(public_id, name)

    def key(self, text: str) -> str:
        """Make the key of an answer the same in every run."""
        return self._text(text, {})

    def answer(self, value: Any, *, longest: int = LONGEST) -> Any:
        """Make an answer (JSON's types, or bytes) the same in every run; texts above ``longest`` become digests."""
        met: dict[str, str] = {}
        return _rewritten(value, lambda text: _shortened(self._text(text, met), longest))

    def _text(self, text: str, met: dict[str, str]) -> str:
        for folder, name in self._folders.items():
            text = text.replace(folder, name)
        text = _ID.sub(lambda found: self._name(found, met), text)
        text = _ISO.sub(lambda found: "<time>" if found[0][:10] in self._days else found[0], text)
        return self._today.sub("<today>", text)

    def _name(self, found: re.Match[str], met: dict[str, str]) -> str:
        public_id, prefix = found[0], found[1]
        if public_id in self._names:
            return f"<{self._names[public_id]}>"
        number = 1 + sum(name.startswith(f"<{prefix} ") for name in met.values())
        return met.setdefault(public_id, f"<{prefix} {number}>")


_ZONES = (UTC, timezone(timedelta(hours=9)))


def _rewritten(value: Any, text: Callable[[str], str]) -> Any:
    match value:
        case str():
            return _json_text(value, text) or text(value)
        case bytes():
            return _file(value, text)
        case Mapping():
            return {text(str(name)): _field(str(name), part, text) for name, part in value.items()}
        case list() | tuple():
            return [_rewritten(part, text) for part in value]
    return value


def _json_text(value: str, text: Callable[[str], str]) -> Any:
    """JSON in a text, as MCP's tools answer, so that times in it are known by their fields; None for other texts."""
    if not value.startswith("{"):
        return None
    try:
        read = json.loads(value)
    except ValueError:
        return None
    is_indented = value == json.dumps(read, ensure_ascii=False, indent=2)
    return {"indented JSON" if is_indented else "JSON": _rewritten(read, text)}


def _field(name: str, value: Any, text: Callable[[str], str]) -> Any:
    if name in _CURSORS and isinstance(value, str):
        return "<cursor>"
    if name.endswith("_ms") and _is_measured(value):
        return "<ms>"
    return _rewritten(value, text)


def _is_measured(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_measured, value.values()))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _file(data: bytes, text: Callable[[str], str]) -> Any:
    """A file: the members of an Office file by name, a text, or a digest of anything else."""
    if data.startswith(_ZIP):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: _file(archive.read(name), text) for name in sorted(archive.namelist())}
    try:
        return text(data.decode())
    except UnicodeDecodeError:
        return _digest(data)


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:HEAD]}… {len(text)} characters, {_digest(text.encode())}"


def _digest(data: bytes) -> str:
    return f"sha256 {hashlib.sha256(data).hexdigest()}"
