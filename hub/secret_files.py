"""Secrets that are read from files: NAME_FILE in place of NAME, as containers and systemd hand secrets over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

SECRETS = (
    *("secret_key", "database_url", "database_replica_urls", "postgres_password", "redis_url", "neo4j_password"),
    *("hub_token",),
    *("hub_metrics_token", "hub_audit_key", "hub_audit_old_keys", "hub_oidc_providers", "alert_urls"),
    *("llm_api_key", "embedding_api_key", "qdrant_api_key", "otel_exporter_otlp_headers"),
)
"""Settings that may be in a file of their own. ENCRYPTION_KEY_FILE is a setting by itself: it may hold several keys."""
MOST_BYTES = 64 * 1024


class SecretFiles(PydanticBaseSettingsSource):
    """The text of the files that ``NAME_FILE`` name, without a line end; ``given`` are settings as they are written."""

    def __init__(self, settings_cls: type[BaseSettings], given: Mapping[str, str | None]) -> None:
        super().__init__(settings_cls)
        self._given = {name: value for name, value in given.items() if value}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """:raises SecretFilesUnread: names every file that can't be read, and every secret that is given twice."""
        found: dict[str, Any] = {}
        problems = []
        for name in SECRETS:
            path = self._given.get(f"{name}_file")
            if path is None:
                continue
            if name in self._given:
                problems.append(f"{name.upper()} and {name.upper()}_FILE: give one of them")
                continue
            try:
                found[name] = _text_of(Path(path))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                problems.append(f"{name.upper()}_FILE: {path} can't be read: {reason}")
        if problems:
            raise SecretFilesUnread(problems)
        return found


class SecretFilesUnread(Exception):
    """Files of secrets that can't be used; ``problems`` has one line for each setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    text = data.decode("utf-8").rstrip("\r\n")
    if not text:
        raise ValueError("it is empty")
    return text
