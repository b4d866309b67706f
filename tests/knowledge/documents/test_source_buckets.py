"""Watched buckets: what a scan of an S3 prefix takes in, follows and refuses."""

from __future__ import annotations

import boto3
import pytest

from hub.access.principals import local_operator
from hub.core.temporary import temp_dir
from knowledge.documents import sources
from knowledge.models import Document, Source
from knowledge.sources import registry
from tests.knowledge.documents.source_support import live_paths, run, state, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def bucket(s3_endpoint, settings, monkeypatch):
    """A bucket with two documents below a prefix and one beside it."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    settings.CONFIG = settings.CONFIG.model_copy(update={"s3_endpoint_url": s3_endpoint, "aws_region": "us-east-1"})
    registry._s3_client.cache_clear()
    bucket = boto3.resource("s3", endpoint_url=s3_endpoint, region_name="us-east-1").create_bucket(Bucket="shiryo")
    bucket.objects.delete()
    for key in ("文書/規程/保存.md", "文書/用語.md", "文書/.隠し.md", "文書/空/", "別/外.md"):
        bucket.put_object(Key=key, Body=f"# {key}\n\n保存する文書である。\n".encode())
    yield bucket
    registry._s3_client.cache_clear()


@pytest.fixture
def s3_source(bucket) -> Source:
    return sources.create_source(
        principal=local_operator(), name="倉庫", kind="s3", location="s3://shiryo/文書", collection="default"
    )


def test_objects_below_the_prefix_are_documents_and_a_second_scan_reads_none(s3_source):
    assert run(s3_source) == (2, 0, 0, 0, 0)
    assert live_paths() == {"規程/保存.md", "用語.md"}
    assert Document.objects.first().source_root == "s3://shiryo/文書/"
    assert run(s3_source) == (0, 0, 2, 0, 0)
    work_off()
    assert Document.objects.get(path="用語.md").current_version.content.markdown.startswith("# 文書/用語.md")
    assert list(temp_dir().glob("source-*")) == []


def test_changed_and_removed_objects_are_followed(s3_source, bucket):
    run(s3_source)
    bucket.put_object(Key="文書/用語.md", Body="# 改めた用語\n".encode())
    bucket.Object("文書/規程/保存.md").delete()
    assert run(s3_source) == (0, 1, 0, 1, 0)


def test_an_object_above_the_limit_is_refused_from_the_listing_alone(s3_source, bucket, settings, monkeypatch):
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": 1024})
    bucket.put_object(Key="文書/大.bin", Body=b"x" * 5000)
    asked = []
    fetch = registry._s3_client().get_object
    monkeypatch.setattr(
        registry._s3_client(), "get_object", lambda **given: (asked.append(given["Key"]), fetch(**given))[1]
    )
    assert run(s3_source) == (2, 0, 0, 0, 1)
    assert "文書/大.bin" not in asked


def test_a_bucket_that_is_gone_fails_visibly_and_retires_nothing(s3_source, bucket):
    run(s3_source)
    bucket.objects.delete()
    bucket.delete()
    run(s3_source)
    assert state(s3_source) == "failed"
    assert "shiryo" in s3_source.report["reason_ja"]
    assert len(live_paths()) == 2


def test_an_empty_bucket_of_another_server_retires_nothing(s3_source, bucket):
    run(s3_source)
    Source.objects.filter(pk=s3_source.pk).update(report={**s3_source.report, "identity": "https://other.example"})
    bucket.objects.delete()
    run(s3_source)
    assert state(s3_source) == "failed"
    assert len(live_paths()) == 2


def test_an_object_that_goes_between_listing_and_reading_fails_alone(s3_source, bucket, monkeypatch):
    client = registry._s3_client()
    fetch = client.get_object

    def remove_first(**given):
        bucket.Object("文書/用語.md").delete()
        return fetch(**given)

    monkeypatch.setattr(client, "get_object", remove_first)
    assert run(s3_source) == (1, 0, 0, 0, 1)
    assert s3_source.report["failures"][0]["path"] == "用語.md"
