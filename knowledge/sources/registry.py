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

_S3_LOCATION = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>.*))?", re.DOTALL)


def open_source(kind: str, location: str) -> SourceReader:
    """Make the reader of a source. Nothing is read yet. Raises InvalidInput for a location of another form."""
    if kind == Source.Kind.FOLDER:
        return FolderReader(Path(location))
    bucket, prefix = _bucket_and_prefix(location)
    from knowledge.sources.s3 import S3Reader

    return S3Reader(_s3_client(), bucket, prefix)


def normal_location(kind: str, location: str) -> str:
    """Write a location in the one way that documents record it. Raises InvalidInput for what can't be one."""
    if kind == Source.Kind.S3:
        bucket, prefix = _bucket_and_prefix(location)
        return f"s3://{bucket}/{prefix}"
    folder = Path(location.strip()).expanduser()
    if "\x00" in location or not folder.is_absolute():
        raise InvalidInput(
            _("location: {location!r} is not an absolute folder such as /srv/documents."),
            field="location",
            location=location,
        )
    resolved, private = folder.resolve(), settings.HUB_DATA_DIR.resolve()
    if resolved.is_relative_to(private) or private.is_relative_to(resolved):
        raise InvalidInput(
            _("location: {location} would take in the hub's own data in {private}. Choose another folder."),
            field="location",
            location=location,
            private=str(private),
        )
    return str(resolved)


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
