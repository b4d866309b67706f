"""The master key of stored files moves from a local key to AWS KMS, and from one KMS key to another."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.core.encryption.errors import KeyEnded, KeyMissing, KeyServiceUnavailable
from hub.core.encryption.key_text import new_key
from hub.core.errors import Forbidden
from knowledge.documents.reading import open_original
from knowledge.models import Document, SealedBlob
from knowledge.storage import Rotation, end_key, files_by_key, rotate, sealed_state
from knowledge.storage.blobs import bare_store
from knowledge.storage.sealed import context_of
from tests.factories import hub_curator, upload_text

pytestmark = pytest.mark.django_db

REGION = "ap-northeast-1"
ALIAS = "alias/hub-rotation"


@pytest.fixture(autouse=True)
def _empty_store():
    for name in list(bare_store().iter_names()):
        bare_store().delete(name)


@pytest.fixture(autouse=True)
def _terminal_in_english(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")


@pytest.fixture
def kms(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of moto's KMS, and its credentials for the hub."""
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    return boto3.client("kms", endpoint_url=s3_endpoint, region_name=REGION)


@pytest.fixture
def configured(settings, s3_endpoint: str):
    def use(*, kms_key: str = "", keys: str = "") -> None:
        settings.CONFIG = settings.CONFIG.model_copy(
            update={
                "encryption_key": keys,
                "encryption_kms_key": kms_key,
                "encryption_kms_endpoint_url": s3_endpoint,
                "aws_region": REGION,
            }
        )

    return use


def make_key(kms: Any) -> str:
    return str(kms.create_key()["KeyMetadata"]["Arn"])


def content_of(document: Document) -> str:
    with open_original(local_operator(), document.public_id)[1] as file:
        return file.read().decode()


def stored() -> dict[Path, bytes]:
    folder = django_settings.HUB_DATA_DIR / "blobs"
    return {path: path.read_bytes() for path in folder.glob("??/??/*") if path.is_file()}


def keys_that_open(kms: Any) -> set[str]:
    """The keys that KMS itself opens the wrapped data keys with."""
    return {
        kms.decrypt(CiphertextBlob=bytes(row.wrapped_key), EncryptionContext={"hub": context_of(row.name)})["KeyId"]
        for row in SealedBlob.objects.all()
    }


def key_ids() -> set[str]:
    return set(SealedBlob.objects.values_list("key_id", flat=True))


def test_a_hub_moves_from_a_local_key_to_kms_and_on_to_another_key_of_kms(kms, configured, tmp_path):
    local, first, second = new_key(), make_key(kms), make_key(kms)
    configured(keys=local)
    texts = [f"# 設計書{number}\n\n監視は五分ごとに行う。\n" for number in range(3)]
    documents = [
        upload_text(local_operator(), tmp_path, text, name=f"{number}.md").document for number, text in enumerate(texts)
    ]
    files = stored()

    configured(kms_key=first, keys=local)
    call_command("encryption", "rotate")
    assert key_ids() == {f"kms:{first}"}
    assert keys_that_open(kms) == {first}
    configured(kms_key=first)
    assert [content_of(document) for document in documents] == texts

    configured(kms_key=second)
    assert sealed_state().waiting == 3
    call_command("encryption", "rotate")
    assert key_ids() == {f"kms:{second}"}
    assert sealed_state().waiting == 0
    assert keys_that_open(kms) == {second}
    assert stored() == files  # data keys are wrapped anew, no file is written
    assert [content_of(document) for document in documents] == texts
    configured(keys=local)
    with pytest.raises(KeyMissing, match="kms:"):
        content_of(documents[0])


def test_a_rotation_that_kms_refuses_in_the_middle_goes_on_when_it_answers(kms, configured, tmp_path):
    first, second = make_key(kms), make_key(kms)
    configured(kms_key=first)
    texts = [f"# 手順書{number}\n" for number in range(4)]
    documents = [
        upload_text(local_operator(), tmp_path, text, name=f"{number}.md").document for number, text in enumerate(texts)
    ]
    kms.create_alias(AliasName=ALIAS, TargetKeyId=second)
    configured(kms_key=ALIAS)

    def remove_alias_after_two(done: Rotation) -> None:
        if done.rewrapped == 2:
            kms.delete_alias(AliasName=ALIAS)

    with pytest.raises(KeyServiceUnavailable, match="ENCRYPTION_KMS_KEY"):
        rotate(remove_alias_after_two)
    assert files_by_key() == {f"kms:{first}": 2, f"kms:{second}": 2}
    with pytest.raises(CommandError, match="ENCRYPTION_KMS_KEY"):
        call_command("encryption", "rotate")
    assert [content_of(document) for document in documents] == texts  # what is wrapped with either opens still
    kms.create_alias(AliasName=ALIAS, TargetKeyId=second)
    call_command("encryption", "rotate")
    assert key_ids() == {f"kms:{second}"}
    assert keys_that_open(kms) == {second}
    assert [content_of(document) for document in documents] == texts
    kms.delete_alias(AliasName=ALIAS)


def doctor_line(check: str = "encryption") -> str:
    out = io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command("doctor", json=True, stdout=out)
    lines = [one for one in json.loads(out.getvalue())["checks"] if one["check"] == check]
    return " ".join(f"{line['status']} {line['detail']}" for line in lines)


def end(key_id: str, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("encryption", "end", key_id, stdout=out, **{"confirm": key_id, **options})
    return json.loads(out.getvalue())


def test_an_alias_that_was_pointed_at_another_key_is_noticed(kms, configured, tmp_path, queue):
    first, second = make_key(kms), make_key(kms)
    kms.create_alias(AliasName=ALIAS, TargetKeyId=first)
    configured(kms_key=ALIAS)
    document = upload_text(local_operator(), tmp_path, "# 設計書\n").document
    assert key_ids() == {f"kms:{first}"}
    assert sealed_state().waiting == 0
    assert doctor_line().startswith("ok")

    kms.update_alias(AliasName=ALIAS, TargetKeyId=second)
    assert (sealed_state().current, sealed_state().waiting) == (f"kms:{second}", 1)
    assert f"the current key is kms:{second}" in doctor_line()
    with pytest.raises(CommandError, match="rotate first"):
        end(f"kms:{first}")
    call_command("encryption", "rotate")
    assert keys_that_open(kms) == {second}
    assert end(f"kms:{first}")["files"] == {f"kms:{second}": 1}
    assert content_of(document) == "# 設計書\n"

    kms.update_alias(AliasName=ALIAS, TargetKeyId=first)
    with pytest.raises(KeyEnded):
        upload_text(local_operator(), tmp_path, "# 別の設計書\n", name="b.md")
    with pytest.raises(CommandError, match=first):
        call_command("encryption", "rotate")
    kms.delete_alias(AliasName=ALIAS)
    assert doctor_line().startswith("error AWS KMS")


def test_a_key_is_ended_only_when_nothing_is_under_it_and_by_its_name_typed_again(configured, tmp_path, queue):
    old, new = new_key(), new_key()
    configured(keys=old)
    upload_text(local_operator(), tmp_path, "# 設計書\n")
    (old_id,) = key_ids()
    with pytest.raises(CommandError, match="current"):
        end(old_id)
    configured(keys=f"{new},{old}")
    with pytest.raises(CommandError, match="1 files and secrets"):
        end(old_id)
    call_command("encryption", "rotate")
    with pytest.raises(CommandError, match="no key was ended"):
        end(old_id, confirm="key-0")
    with pytest.raises(CommandError, match="is called key-0"):
        end("key-0")
    with pytest.raises(Forbidden):
        end_key(principal=hub_curator(), key_id=old_id)

    receipt = end(old_id)
    assert (receipt["key_id"], receipt["files"]) == (old_id, {receipt["current"]: 1})
    assert end(old_id)["ended_at"] == receipt["ended_at"]
    (line,) = AuditEvent.objects.filter(action="ENCRYPTION_KEY_END")
    assert (line.resource, line.kind) == (f"key:{old_id}", "kept")
    assert doctor_line("ended keys").startswith(f"note they are still configured, take them away: {old_id}")
    configured(keys=new)
    assert doctor_line("ended keys") == ""
    configured(keys=f"{old},{new}")
    with pytest.raises(KeyEnded, match=old_id):
        upload_text(local_operator(), tmp_path, "# 別の設計書\n", name="b.md")
    SealedBlob.objects.update(key_id=old_id)  # as after a restore of an older backup
    assert doctor_line("ended keys").startswith("error")
