"""The client of S3, and of what speaks its protocol, for the store of documents and for watched buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def open_client(*, endpoint_url: str, profile: str, region: str) -> S3Client:
    """Make a client that waits 5 s for a connection and tries three times; empty texts stand for AWS's own defaults."""
    import boto3  # a second of import time that a hub on local disk does not pay
    from botocore.config import Config

    return boto3.Session(profile_name=profile or None, region_name=region).client(
        "s3",
        endpoint_url=endpoint_url or None,
        config=Config(connect_timeout=5, read_timeout=60, retries={"max_attempts": 3}),
    )
