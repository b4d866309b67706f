from __future__ import annotations

import pytest

from hub.config import Configuration
from hub.core.connections import disk_is_encrypted, open_queue, plain_connections


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("database_url", "postgresql://hub:p@db.internal/hub", "sslmode=verify-full"),
        ("database_url", "postgresql://hub:p@db.internal/hub?sslmode=require", "certificate"),
        ("database_url", "postgresql://hub:p@db.internal/hub?sslmode=verify-full", ""),
        ("database_url", "postgresql://hub:p@127.0.0.1/hub", ""),
        ("database_url", "postgresql:///hub?host=/run/postgresql", ""),
        ("database_url", "postgresql://hub:p@localhost,db2.internal:5433/hub", "sslmode=verify-full"),
        ("database_replica_urls", "postgresql://hub:p@db2.internal/hub", "sslmode=verify-full"),
        ("database_replica_urls", "postgresql://hub:p@127.0.0.1/hub", ""),
        ("redis_url", "redis://cache.internal:6379/0", "rediss://"),
        ("redis_url", "rediss://cache.internal:6379/0", ""),
        ("redis_url", "redis://localhost:6379/0", ""),
        ("s3_endpoint_url", "http://minio:9000", "https://"),
        ("s3_endpoint_url", "https://minio:9000", ""),
        ("llm_base_url", "http://10.1.2.3:8000/v1", "https://"),
        ("embedding_base_url", "http://[::1]:8000/v1", ""),
        ("neo4j_url", "bolt://graph:7687", "bolt+s://"),
        ("neo4j_url", "neo4j+s://graph:7687", ""),
        ("hub_host", "0.0.0.0", "proxy with TLS"),
    ],
)
def test_what_is_plain_over_a_network_is_named_with_what_to_do(name: str, value: str, said: str):
    found = list(plain_connections(Configuration.model_validate({name: value})))
    assert [said in line and name.upper() in line for line in found] == ([True] if said else [])
    assert "hub:p@" not in "".join(found)


@pytest.mark.parametrize(
    ("url", "is_open"),
    [
        ("redis://cache.internal:6379/0", True),
        ("redis://127.0.0.1:6379/0", True),
        ("redis://:a-password@127.0.0.1:6379/0", False),
        ("rediss://hub:a-password@cache.internal:6379/0", False),
        ("", False),
    ],
)
def test_a_queue_that_asks_for_no_password_is_named_also_on_this_machine(url: str, is_open: bool):
    said = open_queue(Configuration.model_validate({"redis_url": url}))
    assert ("requirepass" in said) == is_open
    assert "a-password" not in said


def test_a_disk_below_device_mapper_is_seen_to_be_encrypted(tmp_path):
    import os

    device = tmp_path.stat().st_dev
    place = tmp_path / "sys" / f"{os.major(device)}:{os.minor(device)}"
    assert disk_is_encrypted(tmp_path, devices=tmp_path / "sys") is None
    (place / "slaves" / "dm-0" / "dm").mkdir(parents=True)
    assert disk_is_encrypted(tmp_path, devices=tmp_path / "sys") is False
    (place / "slaves" / "dm-0" / "dm" / "uuid").write_text("CRYPT-LUKS2-abc")
    assert disk_is_encrypted(tmp_path, devices=tmp_path / "sys") is True
