from __future__ import annotations

import pytest
from django.apps import apps
from django.core.exceptions import FieldError
from django.db import connection, models
from django.test.utils import isolate_apps

from hub.core.encryption.errors import KeyMissing, SealBroken
from hub.core.encryption.key_text import new_key
from hub.core.secrets import SecretTextField, key_id_of, open_secret, rotate_secrets, seal_secret


@pytest.fixture
def encryption_key(settings):
    def use(*keys: str) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update={"encryption_key": ",".join(keys)})

    return use


def test_a_secret_comes_back_for_its_purpose_alone(encryption_key):
    encryption_key(new_key())
    sealed = seal_secret("JBSWY3DPEHPK3PXP", "totp")
    assert "JBSWY3DP" not in sealed
    assert seal_secret("JBSWY3DPEHPK3PXP", "totp") != sealed
    assert open_secret(sealed, "totp") == "JBSWY3DPEHPK3PXP"
    with pytest.raises(SealBroken):
        open_secret(sealed, "api key")
    with pytest.raises(SealBroken):
        open_secret(sealed[:-2] + "AA", "totp")
    with pytest.raises(SealBroken):
        open_secret("JBSWY3DPEHPK3PXP", "totp")


def test_without_a_master_key_secret_key_takes_its_place_and_goes_on_opening_once_there_is_one(encryption_key):
    sealed = seal_secret("秘密", "totp")
    assert key_id_of(sealed) == "secret-key"
    encryption_key(new_key())
    assert open_secret(sealed, "totp") == "秘密"


def test_an_older_key_opens_and_a_lost_one_is_named(encryption_key):
    old, new = new_key(), new_key()
    encryption_key(old)
    sealed = seal_secret("s", "totp")
    encryption_key(new, old)
    assert open_secret(sealed, "totp") == "s"
    encryption_key(new)
    with pytest.raises(KeyMissing, match=key_id_of(sealed)):
        open_secret(sealed, "totp")


@isolate_apps("hub.access")
def device_model() -> type[models.Model]:
    class Device(models.Model):
        name = models.CharField(max_length=20)
        secret = SecretTextField(bound_to="name", blank=True)

        class Meta:
            app_label = "access"

    return Device


def test_the_field_can_only_be_looked_for_as_null():
    device = device_model()
    with pytest.raises(FieldError, match="Unsupported lookup"):
        device._default_manager.filter(secret="JBSWY3DPEHPK3PXP")
    assert "IS NULL" in str(device._default_manager.filter(secret__isnull=True).query)


@pytest.mark.django_db
def test_the_field_is_sealed_in_the_table_and_a_rotation_seals_it_anew(encryption_key, monkeypatch):
    old, new = new_key(), new_key()
    device = device_model()
    with connection.schema_editor() as editor:
        editor.create_model(device)
    monkeypatch.setattr(apps, "get_models", lambda: [device])

    def in_table() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT secret FROM access_device ORDER BY id")
            return [row[0] for row in cursor.fetchall()]

    encryption_key(old)
    texts = {"a": "JBSWY3DPEHPK3PXP", "b": "", "c": "秘密"}
    rows = [device._default_manager.create(name=name, secret=text) for name, text in texts.items()]
    first = in_table()
    assert [value[:8] for value in first] == ["sealed1.", "", "sealed1."]
    encryption_key(new, old)
    assert (rotate_secrets(), rotate_secrets()) == (2, 0)
    encryption_key(new)
    for row, text in zip(rows, texts.values(), strict=True):
        row.refresh_from_db()
        assert getattr(row, "secret") == text  # noqa: B009
    assert not set(in_table()) & set(first) - {""}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE access_device SET secret = %s WHERE name <> 'c'", [in_table()[2]])
    copied = device._default_manager.get(name="a")
    with pytest.raises(SealBroken, match=r"access\.device\.secret of a"):
        copied.secret  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(TypeError, match="save the row"):
        device._default_manager.update(secret="秘密")
