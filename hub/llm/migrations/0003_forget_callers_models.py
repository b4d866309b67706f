"""Remove what callers' own models said: it was recorded for everybody."""

from django.db import migrations


def forget(apps, schema_editor):
    apps.get_model("llm", "RecordedAnswer").objects.filter(provider="sampling").delete()


class Migration(migrations.Migration):
    dependencies = [("llm", "0002_no_training_confirmations")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
