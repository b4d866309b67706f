"""Empty the answers that were kept without the rights of their callers; answers to reads are among them.

Their keys stay, so that no write is done twice.
"""

from django.db import migrations


def empty(apps, schema_editor):
    kept = apps.get_model("access", "IdempotencyRecord").objects.filter(status__isnull=False)
    kept.update(body=b"", headers={}, rights=None)


class Migration(migrations.Migration):
    dependencies = [("access", "0004_rights_of_kept_answers")]

    operations = [migrations.RunPython(empty, migrations.RunPython.noop)]
