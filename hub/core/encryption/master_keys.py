"""Master keys: from ENCRYPTION_KEY, ENCRYPTION_KEY_FILE, or AWS KMS. They wrap data keys and nothing else.

A local key's id is made of the key itself, so that no other key can pass for it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.encryption.errors import KeyMissing, KeyServiceUnavailable, SealBroken
from hub.core.encryption.key_text import parse_keys

if TYPE_CHECKING:
    from botocore.client import BaseClient

NONCE_BYTES = 12
KMS_PREFIX = "kms:"
_KEY_ARN = re.compile(r"arn:[^:]+:kms:[^:]+:[^:]+:key/.+")
# Unwrapped data keys that a process remembers, so that reading pages of one file asks KMS once.
REMEMBERED_DATA_KEYS = 256


class Wrapped(NamedTuple):
    """A data key as it is stored: encrypted, and under which master key."""

    key_id: str
    data: bytes


class MasterKey(Protocol):
    """Wraps and unwraps data keys. ``context`` names what the data key is of, and must be the same both times.

    ``name`` is what it is configured by, ``key_id`` which key that is now: of an alias AWS KMS is asked each time.
    """

    @property
    def name(self) -> str: ...

    @property
    def key_id(self) -> str:
        """:raises KeyServiceUnavailable: see there."""

    def wrap(self, data_key: bytes, context: str) -> Wrapped:
        """Encrypt a data key. :raises KeyServiceUnavailable: see there."""

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        """Decrypt a data key. :raises SealBroken: it was not wrapped with this key for this context."""


class LocalKey:
    """A master key of 32 bytes in this process's memory."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.name = self.key_id = "key-" + hashlib.sha256(b"hub master key id\0" + key).hexdigest()[:12]

    def wrap(self, data_key: bytes, context: str) -> Wrapped:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # loads OpenSSL: for those who encrypt

        nonce = os.urandom(NONCE_BYTES)
        data = nonce + AESGCM(self._key).encrypt(nonce, data_key, _associated(self.key_id, context))
        return Wrapped(self.key_id, data)

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            nonce, sealed = wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:]
            return AESGCM(self._key).decrypt(nonce, sealed, _associated(self.key_id, context))
        except (InvalidTag, ValueError) as error:
            raise _not_of(context) from error


class KmsKey:
    """A master key that never leaves AWS KMS; the context is its encryption context, which CloudTrail shows.

    What is wrapped names the key itself, as KMS answers, whatever alias it was asked by: an alias may be pointed at
    another key.
    """

    def __init__(self, name: str, client: Callable[[], BaseClient]) -> None:
        self.name = KMS_PREFIX + name
        self._name = name
        self._client = client
        self._unwrapped = lru_cache(REMEMBERED_DATA_KEYS)(self._ask_for)

    @property
    def key_id(self) -> str:
        return self.name if _KEY_ARN.fullmatch(self._name) else self.wrap(b"\0", "which key this is").key_id

    def wrap(self, data_key: bytes, context: str) -> Wrapped:
        answer = self._ask("encrypt", KeyId=self._name, Plaintext=data_key, EncryptionContext={"hub": context})
        return Wrapped(KMS_PREFIX + answer["KeyId"], bytes(answer["CiphertextBlob"]))

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        return self._unwrapped(bytes(wrapped), context)

    def _ask_for(self, wrapped: bytes, context: str) -> bytes:
        answer = self._ask("decrypt", context=context, CiphertextBlob=wrapped, EncryptionContext={"hub": context})
        return bytes(answer["Plaintext"])

    def _ask(self, operation: str, context: str = "", **arguments: object) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: dict[str, Any] = getattr(self._client(), operation)(**arguments)
        except (BotoCoreError, ClientError) as error:
            code = error.response["Error"].get("Code", "") if isinstance(error, ClientError) else ""
            if code in {"InvalidCiphertextException", "IncorrectKeyException"}:
                raise _not_of(context) from error
            raise KeyServiceUnavailable(
                _("AWS KMS did not do what the key {key} is needed for: {reason}. Check ENCRYPTION_KMS_KEY, AWS_REGION "
                  "and the permissions kms:Encrypt and kms:Decrypt."),
                key=self._name,
                reason=str(error),
            ) from error  # fmt: skip
        return answer


class Keyring:
    """The configured master keys: the first wraps, all unwrap."""

    def __init__(self, keys: Sequence[MasterKey]) -> None:
        self._keys = {key.name: key for key in reversed(keys)}
        self.current = keys[0] if keys else None

    def __contains__(self, key_id: str) -> bool:
        return self._find(key_id) is not None

    def _find(self, key_id: str) -> MasterKey | None:
        if key_id.startswith(KMS_PREFIX):  # whatever name is configured: KMS itself knows by which key it was wrapped
            return next((key for name, key in self._keys.items() if name.startswith(KMS_PREFIX)), None)
        return self._keys.get(key_id)

    def unwrap(self, key_id: str, wrapped: bytes, context: str) -> bytes:
        """Decrypt a data key. :raises KeyMissing, SealBroken, KeyServiceUnavailable: see there."""
        key = self._find(key_id)
        if key is None:
            raise KeyMissing(
                _("It is encrypted under the master key {key_id}, which is not among the configured ones ({known}). "
                  "Add that key to ENCRYPTION_KEY or ENCRYPTION_KEY_FILE."),
                key_id=key_id,
                known=", ".join(self._keys) or "-",
            )  # fmt: skip
        return key.unwrap(bytes(wrapped), context)


def keyring() -> Keyring:
    """Give the configured keys. :raises KeyMissing: ENCRYPTION_KEY_FILE can't be read."""
    config = settings.CONFIG
    return _make_ring(
        config.encryption_key,
        config.encryption_key_file,
        config.encryption_kms_key,
        (config.encryption_kms_endpoint_url, config.aws_profile, config.aws_region),
    )


@lru_cache(8)
def _make_ring(keys: str, file: Path | None, kms_key: str, place: tuple[str, str, str]) -> Keyring:
    kms = [KmsKey(kms_key, lru_cache(1)(lambda: _open_kms(*place)))] if kms_key else []
    return Keyring([*kms, *(LocalKey(key) for key in (*parse_keys(keys), *_keys_of_file(file)))])


def _keys_of_file(path: Path | None) -> tuple[bytes, ...]:
    if path is None:
        return ()
    try:
        keys = parse_keys(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror or "" if isinstance(error, OSError) else str(error)
        raise KeyMissing(
            _("The keys in {path} (ENCRYPTION_KEY_FILE) can't be read: {reason}."), path=str(path), reason=reason
        ) from error
    if not keys:
        raise KeyMissing(_("The file {path} (ENCRYPTION_KEY_FILE) has no key."), path=str(path))
    return keys


def _open_kms(endpoint_url: str, profile: str, region: str) -> BaseClient:
    import boto3  # a second of import time that only users of KMS pay
    from botocore.config import Config

    client: BaseClient = boto3.Session(profile_name=profile or None, region_name=region).client(
        "kms",
        endpoint_url=endpoint_url or None,
        config=Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 3}),
    )
    return client


def _associated(key_id: str, context: str) -> bytes:
    return f"hub data key 1\0{key_id}\0{context}".encode()


def _not_of(context: str) -> SealBroken:
    return SealBroken(
        _("The data key of {name} does not open: it was changed, or belongs to something else. Restore it from a "
          "backup of the database."),
        name=context,
    )  # fmt: skip
