"""Files sealed in chunks: nothing but what was sealed, under its key and name, is ever given."""

from __future__ import annotations

import io
import os
import random

import pytest

from hub.core.encryption.errors import KeyMissing, KeyServiceUnavailable, SealBroken
from hub.core.encryption.key_text import new_key, parse_keys
from hub.core.encryption.master_keys import Keyring, KmsKey, LocalKey
from hub.core.encryption.sealed_files import CHUNK_BYTES, HEADER_BYTES, TAG_BYTES, SealingReader, open_sealed

KEY = bytes(range(32))
NAME = "ab" * 32
SEALED_CHUNK = CHUNK_BYTES + TAG_BYTES


def seal(content: bytes, *, key: bytes = KEY, name: str = NAME) -> bytes:
    return SealingReader(io.BytesIO(content), key, name).readall()


def unseal(sealed: bytes, *, key: bytes = KEY, name: str = NAME) -> bytes:
    with open_sealed(io.BytesIO(sealed), key, name) as file:
        return file.read()


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 300_001])
def test_what_was_sealed_comes_back_and_no_part_of_it_shows(size: int):
    content = random.Random(size).randbytes(size)
    sealed = seal(content)
    assert unseal(sealed) == content
    assert len(sealed) == HEADER_BYTES + size + TAG_BYTES * max(1, -(-size // CHUNK_BYTES))
    assert size < 16 or content[:16] not in sealed
    assert seal(content) != sealed


def test_a_part_is_read_without_opening_the_rest():
    content = random.Random(1).randbytes(5 * CHUNK_BYTES + 77)
    sealed = bytearray(seal(content))
    sealed[HEADER_BYTES + SEALED_CHUNK + 5] ^= 1  # the second chunk is damaged
    with open_sealed(io.BytesIO(bytes(sealed)), KEY, NAME) as file:
        file.seek(3 * CHUNK_BYTES - 10)
        file.seek(CHUNK_BYTES)
        with pytest.raises(SealBroken):
            file.read(10)
        file.seek(3 * CHUNK_BYTES - 10)
        assert file.read(20) == content[3 * CHUNK_BYTES - 10 : 3 * CHUNK_BYTES + 10]
        file.seek(-7, os.SEEK_END)
        assert file.read() == content[-7:]


def opens(sealed: bytes) -> bool:
    try:
        unseal(sealed)
    except SealBroken:
        return False
    return True


def chunks_of(sealed: bytes) -> tuple[bytes, list[bytes]]:
    body = sealed[HEADER_BYTES:]
    return sealed[:HEADER_BYTES], [body[at : at + SEALED_CHUNK] for at in range(0, len(body), SEALED_CHUNK)]


def test_cutting_reordering_repeating_and_splicing_chunks_is_refused():
    content = random.Random(2).randbytes(4 * CHUNK_BYTES)
    sealed, other = seal(content), seal(content)
    header, (a, b, c, d) = chunks_of(sealed)
    _header, others = chunks_of(other)
    forgeries = {
        "cut at a chunk": header + a + b + c,
        "cut to nothing": header,
        "cut inside a chunk": sealed[:-1],
        "cut inside the header": sealed[:20],
        "without its first chunk": header + b + c + d,
        "reordered": header + b + a + c + d,
        "repeated": header + a + a + b + c + d,
        "the end twice": header + a + b + c + d + d,
        "appended": sealed + b"\0",
        "spliced from another writing": header + a + others[1] + c + d,
        "another's header": _header + a + b + c + d,
    }
    assert [what for what, forged in forgeries.items() if opens(forged)] == []


def test_every_flipped_byte_is_refused():
    sealed = seal("機密性3の文書".encode())
    for at in range(len(sealed)):
        forged = bytearray(sealed)
        forged[at] ^= 1
        with pytest.raises(SealBroken):
            unseal(bytes(forged))


def test_under_another_name_or_key_nothing_is_given():
    sealed = seal(b"content")
    with pytest.raises(SealBroken):
        unseal(sealed, name="cd" * 32)
    with pytest.raises(SealBroken):
        unseal(sealed, key=bytes(32))


def test_a_master_key_wraps_for_one_context_and_a_ring_says_which_key_is_missing():
    old, new = (LocalKey(parse_keys(new_key())[0]) for _number in range(2))
    key_id, wrapped = old.wrap(KEY, "object a")
    assert key_id == old.key_id
    assert Keyring([new, old]).unwrap(old.key_id, wrapped, "object a") == KEY
    with pytest.raises(SealBroken):
        old.unwrap(wrapped, "object b")
    with pytest.raises(KeyMissing, match=f"{old.key_id}.*{new.key_id}"):
        Keyring([new]).unwrap(old.key_id, wrapped, "object a")


def test_keys_are_read_as_operators_write_them_and_a_bad_one_is_named_without_repeating_it():
    key = new_key()
    assert parse_keys(f"# of 2026\n{key}\n") == parse_keys(key) == parse_keys(parse_keys(key)[0].hex())
    assert len(parse_keys(f"{key}, {new_key()}")) == 2
    with pytest.raises(ValueError, match="key 2 is not 32 bytes") as caught:
        parse_keys(f"{key},verysecret")
    assert "verysecret" not in str(caught.value)


def test_a_key_of_kms_wraps_and_unwraps_over_its_protocol(s3_endpoint: str):
    import boto3

    client = boto3.client(
        "kms", endpoint_url=s3_endpoint, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    arn = client.create_key()["KeyMetadata"]["Arn"]
    key = KmsKey(arn, lambda: client)
    key_id, wrapped = key.wrap(KEY, "object a")
    assert key_id == key.key_id == f"kms:{arn}"
    assert KEY not in wrapped
    assert Keyring([key]).unwrap(key.key_id, wrapped, "object a") == KEY
    with pytest.raises((SealBroken, KeyServiceUnavailable)):
        key.unwrap(wrapped, "object b")
    with pytest.raises(KeyServiceUnavailable, match="ENCRYPTION_KMS_KEY"):
        KmsKey("no-such-key", lambda: client).wrap(KEY, "object a")
