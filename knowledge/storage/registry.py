from __future__ import annotations

from functools import cache

from django.conf import settings

from knowledge.ports import BlobStore
from knowledge.storage.local import LocalBlobStore


@cache
def get_blob_store() -> BlobStore:
    """Give the configured store: S3 when S3_BUCKET is set, else files under HUB_DATA_DIR."""
    config = settings.CONFIG
    if not config.s3_bucket:
        return LocalBlobStore(settings.HUB_DATA_DIR / "blobs")
    import boto3  # a second of import time that a hub on local disk does not pay
    from botocore.config import Config

    from knowledge.storage.s3 import S3BlobStore

    session = boto3.Session(profile_name=config.aws_profile or None, region_name=config.aws_region)
    client = session.client(
        "s3",
        endpoint_url=config.s3_endpoint_url or None,
        config=Config(connect_timeout=5, read_timeout=60, retries={"max_attempts": 3}),
    )
    return S3BlobStore(client, config.s3_bucket)
