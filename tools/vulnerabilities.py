"""Say which pinned distributions have known vulnerabilities.

``python -m tools.vulnerabilities`` asks a server of OSV's protocol (https://osv.dev, or ``--server URL``) about what
``requirements/base.txt`` pins. ``--database PATH`` reads OSV records instead, from a folder or zip of JSON files, such
as OSV's export of PyPI: for machines without a network. Exit code 0: nothing is known; 1: something is; 3: not checked,
since the server can't be reached or the database can't be read.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.licences import REQUIREMENTS, pins

SERVER = "https://api.osv.dev"
TIMEOUT_S = 20
FOUND, NOT_CHECKED = 1, 3


class NotChecked(Exception):
    """Nothing was found out."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Known:
    """A record about a pinned distribution."""

    name: str
    version: str
    id: str


def ask_server(pinned: list[tuple[str, str]], url: str) -> list[Known]:
    """Ask about all pins in one request. :raises NotChecked: no answer, or one that can't be read."""
    queries = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in pinned]
    try:
        answer = httpx2.post(f"{url.rstrip('/')}/v1/querybatch", json={"queries": queries}, timeout=TIMEOUT_S)
        answer.raise_for_status()
        results = answer.json()["results"]
        if len(results) != len(pinned):
            raise NotChecked(f"{url} answered {len(results)} of {len(pinned)} questions")
        return [
            Known(name=name, version=version, id=record["id"])
            for (name, version), result in zip(pinned, results, strict=True)
            for record in result.get("vulns") or ()
        ]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        raise NotChecked(f"{url} did not answer as OSV does ({type(error).__name__})") from error


def look_up(pinned: list[tuple[str, str]], database: Path) -> list[Known]:
    """Look the pins up in OSV records on disk. :raises NotChecked: there are none, or one can't be read."""
    versions = {canonicalize_name(name): (name, version) for name, version in pinned}
    found, read = set(), 0
    try:
        for record in _records(database):
            read += 1
            for affected in record.get("affected", ()) if "withdrawn" not in record else ():
                package = affected.get("package", {})
                pin = versions.get(canonicalize_name(package.get("name", "")))
                if pin and package.get("ecosystem", "").lower() == "pypi" and _is_affected(pin[1], affected):
                    found.add(Known(name=pin[0], version=pin[1], id=record["id"]))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, InvalidVersion) as error:
        raise NotChecked(f"{database} can't be read: {error}") from error
    if not read:
        raise NotChecked(f"{database} has no OSV records")
    return sorted(found)


def _records(database: Path) -> Iterator[dict[str, Any]]:
    if database.is_dir():
        yield from (json.loads(path.read_bytes()) for path in sorted(database.rglob("*.json")))
        return
    with zipfile.ZipFile(database) as archive:
        yield from (json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json"))


def _is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Whether a record's versions, or one of its ranges, has a version. Source: OSV schema 1.7, "Evaluation"."""
    return version in affected.get("versions", ()) or any(
        _is_within(Version(version), one["events"])
        for one in affected.get("ranges", ())
        if one.get("type") in {"ECOSYSTEM", "SEMVER"}
    )


def _is_within(version: Version, events: list[dict[str, str]]) -> bool:
    inside = False
    for event in sorted(events, key=_place):
        (kind, at), *_more = event.items()
        if kind == "introduced" and (at == "0" or version >= Version(at)):
            inside = True
        elif (kind == "fixed" and version >= Version(at)) or (kind == "last_affected" and version > Version(at)):
            inside = False
    return inside


def _place(event: dict[str, str]) -> Version:
    return Version(next(iter(event.values())))


def main(arguments: list[str] | None = None) -> int:
    """Print what is known; the exit code is the module's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requirements", type=Path, default=REQUIREMENTS)
    parser.add_argument("--server", default=SERVER, help=f"default: {SERVER}")
    parser.add_argument("--database", type=Path, help="a folder or zip of OSV records, instead of a server")
    given = parser.parse_args(arguments)
    pinned = list(pins(given.requirements.read_text(encoding="utf-8")))
    try:
        known = look_up(pinned, given.database) if given.database else ask_server(pinned, given.server)
    except NotChecked as error:
        sys.stderr.write(f"not checked: {error}\n")
        return NOT_CHECKED
    for one in known:
        sys.stdout.write(f"{one.name}\t{one.version}\t{one.id}\n")
    sys.stdout.write(f"{len(pinned)} distributions checked, {len(known)} records about them\n")
    return FOUND if known else 0


if __name__ == "__main__":
    sys.exit(main())
