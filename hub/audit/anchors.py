"""Notes of the newest seal outside of the database, by HUB_AUDIT_ANCHORS: cutting the trail's end off shows by them.

An anchor is a file that is only added to (``/path``), an object for each seal below ``s3://bucket/prefix/``, locked for
HUB_AUDIT_ANCHOR_LOCK_DAYS where that is set, or a line of syslog (``syslog:/dev/log``, ``syslog://host:514`` by UDP),
which can't be read back here. Without the setting a hub with an embedded database has a file in its data folder.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from logging.handlers import SYSLOG_UDP_PORT, SysLogHandler
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.audit_seals import head
from hub.access.audit_verification import Anchor
from hub.access.models import AuditSeal
from hub.core.errors import Unavailable
from knowledge.remote.s3 import open_client

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DEFAULT_FILE = "audit-anchors.jsonl"
_TAIL_BYTES = 4096
_OBJECT = re.compile(r"(?P<number>[0-9]{12,})-(?P<digest>[0-9a-f]{64})\.json")


class AnchorPlace(Protocol):
    """Somewhere outside of the database where seals are noted. Failures are raised as Unavailable."""

    @property
    def name(self) -> str:
        """Where it is, for people."""

    def newest(self) -> int:
        """The number of the newest seal that is noted, 0 for none or where it can't be read."""

    def note(self, seal: AuditSeal) -> None:
        """Note a seal."""

    def read(self) -> Iterator[Anchor]:
        """All that is noted; nothing where it can't be read."""


@dataclass(frozen=True, slots=True)
class AnchorFile:
    """A file with a line for each seal that was noted."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def newest(self) -> int:
        """The number in the last line."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
                lines = file.read().splitlines()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise _unreachable(self.name, error) from error
        found = [one.number for one in map(self._anchor, lines) if one is not None]
        return found[-1] if found else 0

    def note(self, seal: AuditSeal) -> None:
        """Add a line, and wait until it is on disk."""
        line = json.dumps(_facts(seal)) + "\n"
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line.encode())
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise _unreachable(self.name, error) from error

    def read(self) -> Iterator[Anchor]:
        """The lines that are whole; one that a full disk or a crash cut off is left out."""
        try:
            with self.path.open("rb") as file:
                yield from (one for one in map(self._anchor, file) if one is not None)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unreachable(self.name, error) from error

    def _anchor(self, line: bytes) -> Anchor | None:
        try:
            facts = json.loads(line)
            return Anchor(number=int(facts["seal"]), digest=str(facts["digest"]), where=self.name)
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class AnchorBucket:
    """Objects below a prefix of a bucket whose names have the number and the digest of a seal each."""

    bucket: str
    prefix: str

    @property
    def name(self) -> str:
        """The address of the prefix."""
        return f"s3://{self.bucket}/{self.prefix}"

    def newest(self) -> int:
        """The number in the last name."""
        return max((one.number for one in self.read()), default=0)

    def note(self, seal: AuditSeal) -> None:
        """Put an object, which can't be removed for HUB_AUDIT_ANCHOR_LOCK_DAYS where that is set."""
        client, days = self._client(), settings.CONFIG.hub_audit_anchor_lock_days
        key = f"{self.prefix}{seal.number:012d}-{seal.digest}.json"
        body = json.dumps(_facts(seal)).encode()
        try:
            if days:
                until = timezone.now() + timedelta(days=days)
                client.put_object(
                    Bucket=self.bucket,
                    Key=key,
                    Body=body,
                    ObjectLockMode="COMPLIANCE",
                    ObjectLockRetainUntilDate=until,
                    ChecksumAlgorithm="SHA256",
                )
            else:
                client.put_object(Bucket=self.bucket, Key=key, Body=body)
        except (BotoCoreError, ClientError) as error:
            raise _unreachable(self.name, error) from error

    def read(self) -> Iterator[Anchor]:
        """What the names of the objects say, in the order of the numbers."""
        pages = self._client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        try:
            for page in pages:
                for item in page.get("Contents", []):
                    if found := _OBJECT.fullmatch(item["Key"].removeprefix(self.prefix)):
                        yield Anchor(number=int(found["number"]), digest=found["digest"], where=self.name)
        except (BotoCoreError, ClientError) as error:
            raise _unreachable(self.name, error) from error

    def _client(self) -> S3Client:
        config = settings.CONFIG
        return open_client(endpoint_url=config.s3_endpoint_url, profile=config.aws_profile, region=config.aws_region)


@dataclass(frozen=True, slots=True)
class AnchorSyslog:
    """Lines of syslog, with the facility auth."""

    address: str | tuple[str, int]

    @property
    def name(self) -> str:
        """Where the lines go."""
        return f"syslog {self.address if isinstance(self.address, str) else ':'.join(map(str, self.address))}"

    def newest(self) -> int:
        """0: it can't be read back."""
        return 0

    def note(self, seal: AuditSeal) -> None:
        """Send a line."""
        text = "hub audit trail: " + json.dumps(_facts(seal))
        priority = (SysLogHandler.LOG_AUTH << 3) | SysLogHandler.LOG_NOTICE
        family = socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as channel:
                channel.connect(self.address)
                channel.send(f"<{priority}>{text}\0".encode())
        except OSError as error:
            raise _unreachable(self.name, error) from error

    def read(self) -> Iterator[Anchor]:
        """Nothing: it can't be read back."""
        return iter(())


def anchor_places() -> list[AnchorPlace]:
    """The places of HUB_AUDIT_ANCHORS; without it a file in the data folder beside an embedded database."""
    given = settings.CONFIG.hub_audit_anchors
    if not given and settings.EMBEDDED_DATABASE:
        return [AnchorFile(settings.HUB_DATA_DIR / DEFAULT_FILE)]
    return [_place(text) for text in given if text != "none"]


def _place(text: str) -> AnchorPlace:
    parts = urlsplit(text)
    if parts.scheme == "s3":
        prefix = parts.path.strip("/")
        return AnchorBucket(parts.netloc, f"{prefix}/" if prefix else "")
    if parts.scheme == "syslog":
        return AnchorSyslog((parts.hostname or "", parts.port or SYSLOG_UDP_PORT) if parts.netloc else parts.path)
    return AnchorFile(Path(parts.path))


def note_head() -> list[str]:
    """Note the newest seal wherever it is not noted yet; gives what is wrong with places that could not be reached."""
    seal = head()
    if seal is None:
        return []
    failed = []
    for place in anchor_places():
        try:
            if isinstance(place, AnchorSyslog) or place.newest() < seal.number:
                place.note(seal)
        except Unavailable as error:
            failed.append(str(error))
            logging.getLogger(__name__).error("a seal of the audit trail could not be noted: %s", error)
    return failed


def read_anchors() -> tuple[list[Anchor], list[str]]:
    """All that was noted outside, and what is wrong with places that could not be read."""
    found: list[Anchor] = []
    failed: list[str] = []
    for place in anchor_places():
        try:
            found += place.read()
        except Unavailable as error:
            failed.append(str(error))
    return found, failed


def _facts(seal: AuditSeal) -> dict[str, object]:
    return {
        "seal": seal.number,
        "digest": seal.digest,
        "code": seal.code,
        "last_line": seal.last,
        "at": seal.at.isoformat(timespec="seconds"),
    }


def _unreachable(where: str, error: Exception) -> Unavailable:
    return Unavailable(
        _("The anchor of the audit trail at {where} can't be reached: {reason}"), where=where, reason=str(error)[:300]
    )
