"""Secrets in the database, encrypted: what must be given back as it was, such as TOTP secrets and API keys.

What only has to be compared, such as passwords and access tokens, is stored as a hash instead.

A sealed secret is text: ``sealed1.<id of the master key>.<wrapped data key>.<nonce and AES-256-GCM>``. ``purpose`` is
bound to it: a column's name and whose row it is, so that a value opens nowhere but where it was written. Without a
configured master key one that is made of SECRET_KEY takes its place (the key id is then ``secret-key``).
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.models.query_utils import DeferredAttribute
from django.utils.translation import gettext_lazy as _

from hub.core.encryption.errors import SealBroken
from hub.core.encryption.key_text import KEY_BYTES
from hub.core.encryption.master_keys import NONCE_BYTES, Keyring, LocalKey, MasterKey, keyring

MARK = "sealed1"
KEY_OF_SETTINGS = "secret-key"


class _KeyOfSettings(LocalKey):
    """The key for installations without ENCRYPTION_KEY: as safe as SECRET_KEY is."""

    def __init__(self) -> None:
        super().__init__(hashlib.sha256(b"hub secrets of the database\0" + settings.SECRET_KEY.encode()).digest())
        self.name = self.key_id = KEY_OF_SETTINGS


def current_key() -> MasterKey:
    """Give the master key that secrets are sealed with now."""
    return keyring().current or _KeyOfSettings()


def seal_secret(text: str, purpose: str) -> str:
    """Encrypt a text for the database. Errors as in `MasterKey.wrap`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    master, data_key, nonce = current_key(), os.urandom(KEY_BYTES), os.urandom(NONCE_BYTES)
    wrapped = master.wrap(data_key, _context(purpose))
    sealed = nonce + AESGCM(data_key).encrypt(nonce, text.encode(), _context(purpose).encode())
    return ".".join((MARK, _text(wrapped.key_id.encode()), _text(wrapped.data), _text(sealed)))


def open_secret(value: str, purpose: str) -> str:
    """Decrypt what :func:`seal_secret` gave for the same purpose.

    :raises SealBroken, KeyMissing, KeyServiceUnavailable: see there.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key_id, wrapped, sealed = _parts(value, purpose)
    ring = Keyring([_KeyOfSettings()]) if key_id == KEY_OF_SETTINGS else keyring()
    data_key = ring.unwrap(key_id, wrapped, _context(purpose))
    try:
        nonce, body = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        return AESGCM(data_key).decrypt(nonce, body, _context(purpose).encode()).decode()
    except InvalidTag as error:
        raise _broken(purpose) from error


def key_id_of(value: str) -> str:
    """Give the id of the master key that a sealed secret needs. :raises SealBroken: it is no sealed secret."""
    return _parts(value, "")[0]


def _context(purpose: str) -> str:
    return f"secret {purpose}"


def _parts(value: str, purpose: str) -> tuple[str, bytes, bytes]:
    parts = value.split(".")
    if len(parts) != 4 or parts[0] != MARK:
        raise _broken(purpose)
    try:
        key_id, wrapped, sealed = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts[1:])
        return key_id.decode(), wrapped, sealed
    except ValueError as error:
        raise _broken(purpose) from error


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _broken(purpose: str) -> SealBroken:
    return SealBroken(
        _("The stored secret for {purpose} does not open: it was changed, or is another's. Enter it anew."),
        purpose=purpose or "-",
    )


def rotate_secrets() -> int:
    """Encrypt every secret of every table anew that is not under the current key; gives how many there were.

    A row at a time, so that it may be ended and go on. Errors as in :func:`open_secret`.
    """
    current = current_key().key_id
    return sum(_rotate_column(model, field, current) for model, field in _columns())


def secrets_by_key() -> dict[str, int]:
    """Count the secrets of every table by the master key that they are under. A query for each column."""
    return dict(
        Counter(key_id_of(sealed) for model, field in _columns() for *_row, sealed in sealed_rows(model, field))
    )


def _columns() -> Iterator[tuple[type[models.Model], SecretTextField]]:
    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if isinstance(field, SecretTextField):
                yield model, field


def _rotate_column(model: type[models.Model], field: SecretTextField, current: str) -> int:
    rotated = 0
    for pk, owner, value in sealed_rows(model, field):
        if key_id_of(value) != current:
            purpose = field.purpose(owner)
            rotated += replace_sealed(model, field, pk, value, seal_secret(open_secret(value, purpose), purpose))
    return rotated


def sealed_rows(model: type[models.Model], field: SecretTextField) -> list[tuple[Any, Any, str]]:
    """Give the key, the owner (see `SecretTextField`) and the sealed text of each row that has a secret."""
    owner = model._meta.get_field(field.bound_to).attname  # type: ignore[union-attr]
    rows = model._base_manager.exclude(**{f"{field.attname}__isnull": True}).values_list("pk", owner, field.attname)
    return [(pk, whose, sealed.text) for pk, whose, sealed in rows if sealed]


def replace_sealed(model: type[models.Model], field: SecretTextField, pk: Any, old: str, new: str) -> int:  # noqa: ANN401
    """Write another sealed text for a row, if it still has the old one; gives how many rows that were."""
    table, column, key = (connection.ops.quote_name(str(name)) for name in (
        model._meta.db_table, field.column, model._meta.pk.column
    ))  # fmt: skip
    with connection.cursor() as cursor:
        change = f"UPDATE {table} SET {column} = %s WHERE {key} = %s AND {column} = %s"  # noqa: S608 (names of our own)
        cursor.execute(change, [new, pk, old])
        return int(cursor.rowcount)


@dataclass(frozen=True)
class Sealed:
    """A secret as the table has it, which nobody has read yet."""

    text: str


class _OpenedWhenRead(DeferredAttribute):
    """A row's secret: it stays sealed until somebody reads it, since only the row tells what it is bound to."""

    field: SecretTextField

    def __get__(self, instance: models.Model | None, cls: type[models.Model] | None = None) -> Any:  # noqa: ANN401
        value = super().__get__(instance, cls)
        if instance is None or not isinstance(value, Sealed):
            return value
        opened = open_secret(value.text, self.field.purpose_in(instance))
        instance.__dict__[self.field.attname] = opened
        return opened

    def __set__(self, instance: models.Model, value: object) -> None:
        """Set it; with this, reading goes through `__get__` though the row has a value."""
        instance.__dict__[self.field.attname] = value


class SecretTextField(models.TextField[str, str]):
    """A text that is encrypted in the table and plain in Python. It can't be searched; "" stays "".

    ``bound_to`` names the field that says whose the secret is. It is known before the row is written and does not
    change: a sealed text that is copied to another's row does not open there (`SealBroken`, when it is read). Rows are
    therefore saved; ``QuerySet.update`` takes "" alone. ``manage.py encryption rotate`` encrypts it anew under the
    current key.
    """

    descriptor_class = _OpenedWhenRead

    def __init__(self, *args: Any, bound_to: str, **kwargs: Any) -> None:  # noqa: ANN401
        self.bound_to = bound_to
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:  # noqa: ANN401
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {**kwargs, "bound_to": self.bound_to}

    @property
    def column_purpose(self) -> str:
        return f"{self.model._meta.label_lower}.{self.attname}"

    def purpose(self, owner: object) -> str:
        """Say what a secret of this column and owner is for, as it is bound to it."""
        return f"{self.column_purpose} of {owner}"

    def purpose_in(self, row: models.Model) -> str:
        """Say what the secret of a row is for. :raises ValueError: the row does not say yet whose it is."""
        owner = row.serializable_value(self.bound_to)
        if owner in (None, ""):
            raise ValueError(f"{self.column_purpose} is bound to {self.bound_to}, which is not set")
        return self.purpose(owner)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: ANN401 (as Django has it)
        text = super().pre_save(model_instance, add)
        return Sealed(seal_secret(text, self.purpose_in(model_instance))) if text else text

    def get_prep_value(self, value: object) -> str | None:
        if isinstance(value, Sealed):
            return value.text
        if value in (None, ""):
            return value
        raise TypeError(f"{self.column_purpose} is encrypted for its row: save the row instead of updating a query")

    def from_db_value(self, value: str | None, *_connection: object) -> Sealed | str | None:
        return Sealed(value) if value else value

    def get_lookup(self, lookup_name: str) -> type[models.Lookup[Any]] | None:
        """Allow no comparison but with NULL: each encryption of a text is another value."""
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None
