
import django.contrib.postgres.fields
from django.db import migrations, models



def note_writers(apps, schema_editor):
    """Who saved a draft last, as far as it is known, wrote it."""
    for row in apps.get_model("mcp_bridge", "PromptVersion").objects.filter(status="draft", author__isnull=False):
        row.writer_ids = [row.author_id]
        row.save(update_fields=["writer_ids"])


class Migration(migrations.Migration):

    dependencies = [
        ('mcp_bridge', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='promptversion',
            name='writer_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None),
        ),
        migrations.RunPython(note_writers, migrations.RunPython.noop),
    ]
