"""A set-up of an authenticator lapses, and sealed secrets are bound to their rows: until here, to their columns alone."""

import django.utils.timezone
from django.db import migrations, models

from hub.core.encryption.errors import KeyMissing, SealBroken
from hub.core.secrets import open_secret, replace_sealed, seal_secret, sealed_rows

COLUMNS = (("Authenticator", "secret"), ("ProviderCredential", "tokens"))


def reseal(apps, purposes):
    """Seal each secret for another purpose. What does not open now stays as it is: it would not open afterwards either."""
    for name, column in COLUMNS:
        model = apps.get_model("access", name)
        field = model._meta.get_field(column)
        for pk, owner, value in sealed_rows(model, field):
            old, new = purposes(field, owner)
            try:
                replace_sealed(model, field, pk, value, seal_secret(open_secret(value, old), new))
            except (KeyMissing, SealBroken):
                continue


def bind_to_rows(apps, schema_editor):
    reseal(apps, lambda field, owner: (field.column_purpose, field.purpose(owner)))


def bind_to_columns(apps, schema_editor):
    reseal(apps, lambda field, owner: (field.purpose(owner), field.column_purpose))


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0013_second_factors_and_sessions'),
    ]

    operations = [
        migrations.AddField(
            model_name='authenticator',
            name='begun_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.RunPython(bind_to_rows, bind_to_columns),
    ]
