"""From a source's kind and location to its reader."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from knowledge.models import Source
from knowledge.remote.s3 import open_client
from knowledge.sources.base import SourceReader
from knowledge.sources.folder import FolderReader

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_BUCKETS = "s3://"
_S3_LOCATION = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>.*))?", re.DOTALL)


def open_source(kind: str, location: str) -> SourceReader:
    """Make the reader of a source. Nothing is read yet.

    :raises InvalidInput: the location has another form, is not allowed (any more), or is a link by now.
    """
    if (leads_to := normal_location(kind, location)) != location:
        raise InvalidInput(
            _("location: {location} leads to {other} now. Give the folder itself."),
            code="source_moved",
            field="location",
            location=location,
            other=leads_to,
        )
    if kind == Source.Kind.FOLDER:
        return FolderReader(Path(location))
    bucket, prefix = _bucket_and_prefix(location)
    from knowledge.sources.s3 import S3Reader

    return S3Reader(_s3_client(), bucket, prefix)


def normal_location(kind: str, location: str) -> str:
    """Write a location in the one way that documents record it. Raises InvalidInput for what can't be one."""
    normal = _normal_bucket(location) if kind == Source.Kind.S3 else _normal_folder(location)
    _refuse_outside_roots(normal)
    return normal


def _normal_bucket(location: str) -> str:
    bucket, prefix = _bucket_and_prefix(location)
    return f"s3://{bucket}/{prefix}"


def _normal_folder(location: str) -> str:
    folder = Path(location.strip())
    if "\x00" in location or not folder.is_absolute():
        raise InvalidInput(
            _("location: {location!r} is not an absolute folder such as /srv/documents."),
            field="location",
            location=location,
        )
    resolved, private = folder.resolve(), settings.HUB_DATA_DIR.resolve()
    is_own = resolved.is_relative_to(private) and not resolved.is_relative_to(_own_folder())
    if is_own or private.is_relative_to(resolved):
        raise InvalidInput(
            _("location: {location} would take in the hub's own data in {private}. Choose another folder."),
            field="location",
            location=location,
            private=str(private),
        )
    return str(resolved)


def _own_folder() -> Path:
    """The folder of the hub itself below which sources may be watched without a setting."""
    return settings.HUB_DATA_DIR.resolve() / "sources"


def watched_roots() -> tuple[str, ...]:
    """The folders and buckets below which sources may be watched: the hub's own, and those of HUB_SOURCE_ROOTS."""
    return (str(_own_folder()), *settings.CONFIG.hub_source_roots)


def _refuse_outside_roots(location: str) -> None:
    """:raises InvalidInput: a normal location is neither below HUB_SOURCE_ROOTS nor below the hub's own folder."""
    roots = watched_roots()
    if not any(_is_below(location, root) for root in roots):
        raise InvalidInput(
            _("location: {location} may not be watched. An operator names in HUB_SOURCE_ROOTS what may: now {roots}."),
            code="source_not_allowed",
            field="location",
            location=location,
            roots=", ".join(roots),
        )


def _is_below(location: str, root: str) -> bool:
    if location.startswith(_BUCKETS) or root.startswith(_BUCKETS):
        return location.startswith(root if root == _BUCKETS else f"{root.rstrip('/')}/")
    return Path(location).is_relative_to(Path(root).resolve())


def _bucket_and_prefix(location: str) -> tuple[str, str]:
    match = _S3_LOCATION.fullmatch(location.strip())
    if match is None:
        raise InvalidInput(
            _("location: {location!r} is not of the form s3://bucket or s3://bucket/prefix."),
            field="location",
            location=location,
        )
    prefix = (match["prefix"] or "").strip("/")
    return match["bucket"], f"{prefix}/" if prefix else ""


@cache
def _s3_client() -> S3Client:
    config = settings.CONFIG
    return open_client(endpoint_url=config.s3_endpoint_url, profile=config.aws_profile, region=config.aws_region)
