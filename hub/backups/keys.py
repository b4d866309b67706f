"""The keys that a backup needs and does not have: named by what says nothing of them, and compared before a restore."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from hub.access.audit_keys import key_ring
from hub.core.encryption.key_text import parse_keys
from hub.core.encryption.master_keys import keyring
from hub.core.secrets import KEY_OF_SETTINGS, secrets_by_key
from knowledge.storage import files_by_key

CARRIED = ("secret_key", "encryption_key", "hub_audit_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Which keys open what is in a hub: ``secret_key`` and ``audit`` by a fingerprint, master keys by their ids.

    ``secrets`` counts what is encrypted under SECRET_KEY itself.
    """

    secret_key: str
    audit: str
    master: tuple[str, ...]
    secrets: int

    def missing(self) -> list[str]:
        """Say in a sentence for each which keys of these this process has not, and what can't be had without."""
        ring, found = keyring(), []
        if self.secrets and self.secret_key != fingerprint(settings.SECRET_KEY):
            found.append(
                _("SECRET_KEY (fingerprint {key}): opens {count} secrets, such as authenticators.").format(
                    key=self.secret_key, count=self.secrets
                )
            )
        if not key_ring().knows(self.audit + "."):
            found.append(
                _("HUB_AUDIT_KEY, or the SECRET_KEY that it was made of (key {key}): proves the audit trail.").format(
                    key=self.audit
                )
            )
        found += [
            _("ENCRYPTION_KEY, ENCRYPTION_KEY_FILE or ENCRYPTION_KMS_KEY ({key}): opens stored files.").format(key=key)
            for key in self.master
            if key not in ring
        ]
        return found


def keys_in_use() -> Keys:
    """Name the keys of what the database has now. A query for each column of secrets, and one for files."""
    secrets = secrets_by_key()
    masters = {*files_by_key(), *secrets} - {KEY_OF_SETTINGS}
    return Keys(
        secret_key=fingerprint(settings.SECRET_KEY),
        audit=key_ring().current.key_id,
        master=tuple(sorted(masters)),
        secrets=secrets.get(KEY_OF_SETTINGS, 0),
    )


def fingerprint(secret: str) -> str:
    """Name a secret by 12 hexadecimal digits that say nothing of it, if it is a random one."""
    return hashlib.sha256(b"hub backup key 1\0" + secret.encode()).hexdigest()[:12]


def carried_keys() -> dict[str, str]:
    """Give the keys that `--with-keys` puts into an encrypted backup, by their settings' names."""
    config = settings.CONFIG
    found = {name.upper(): str(getattr(config, name)) for name in CARRIED if getattr(config, name)}
    found["SECRET_KEY"] = settings.SECRET_KEY
    if config.hub_audit_old_keys:
        found["HUB_AUDIT_OLD_KEYS"] = ",".join(config.hub_audit_old_keys)
    if config.encryption_key_file is not None:
        keys = [b64encode(key).decode() for key in parse_keys(config.encryption_key_file.read_text(encoding="utf-8"))]
        found["ENCRYPTION_KEY"] = ",".join(filter(None, [config.encryption_key, *keys]))
    return found
