"""The keys of the audit trail: what makes its codes, and older ones that still prove what they made."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

_PURPOSE = b"hub audit trail 1"
_ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class AuditKey:
    """A secret and the name under which codes say that they were made with it."""

    secret: bytes
    key_id: str

    def code(self, content: bytes) -> str:
        """Give the code of a content: the key's name and an HMAC-SHA256, 73 characters."""
        return f"{self.key_id}.{hmac.digest(self.secret, content, 'sha256').hex()}"


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The key in use, first, and older ones."""

    keys: tuple[AuditKey, ...]

    @property
    def current(self) -> AuditKey:
        """The key that codes are made with."""
        return self.keys[0]

    def knows(self, code: str) -> bool:
        """Whether the key that a code names is here."""
        return self._key_of(code) is not None

    def proves(self, code: str, content: bytes) -> bool:
        """Whether the code is the content's, by the key that it names. False for a key that is not here."""
        key = self._key_of(code)
        return key is not None and hmac.compare_digest(key.code(content).encode(), code.encode())

    def _key_of(self, code: str) -> AuditKey | None:
        name = code.partition(".")[0]
        return next((key for key in self.keys if key.key_id == name), None)


def key_ring() -> KeyRing:
    """HUB_AUDIT_KEY, or one that is derived from SECRET_KEY, and the keys of HUB_AUDIT_OLD_KEYS."""
    config = settings.CONFIG
    return _ring(config.hub_audit_key, settings.SECRET_KEY, config.hub_audit_old_keys)


@lru_cache(maxsize=4)
def _ring(given: str, secret_key: str, old: tuple[str, ...]) -> KeyRing:
    """``old`` keys are those of either kind: what was HUB_AUDIT_KEY, or what was SECRET_KEY."""
    first = _key(given.encode()) if given else _derived(secret_key)
    others = [key for text in old for key in (_key(text.encode()), _derived(text))]
    if given:
        others.append(_derived(secret_key))  # of before HUB_AUDIT_KEY was set
    return KeyRing((first, *(key for key in others if key != first)))


def _derived(secret_key: str) -> AuditKey:
    return _key(hmac.new(secret_key.encode(), _PURPOSE, hashlib.sha256).digest())


def _key(secret: bytes) -> AuditKey:
    return AuditKey(secret, hashlib.sha256(_PURPOSE + secret).hexdigest()[:_ID_CHARS])
