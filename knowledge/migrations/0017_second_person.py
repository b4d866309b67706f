
import django.contrib.postgres.fields
from django.db import migrations, models



def note_writers(apps, schema_editor):
    """Who made or changed a draft, as far as the audit trail tells, wrote it."""
    lines = apps.get_model("access", "AuditEvent").objects.filter(user__isnull=False)
    for row in apps.get_model("knowledge", "Ontology").objects.filter(status="draft"):
        of_domain = lines.filter(resource=f"ontology:{row.domain}")
        _store(row, of_domain.filter(details__version=row.number))
    for row in apps.get_model("knowledge", "GuidelineEdition").objects.filter(status="draft"):
        name = f"guideline:{row.guideline.code} v{row.number}"
        _store(row, lines.filter(resource=name, action="GUIDELINE_IMPORT"))


def _store(row, lines):
    row.writer_ids = sorted(set(lines.order_by().values_list("user_id", flat=True)))
    row.save(update_fields=["writer_ids"])


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0001_initial'),
        ('knowledge', '0016_paths_by_classification'),
    ]

    operations = [
        migrations.AddField(
            model_name='guidelineedition',
            name='writer_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None),
        ),
        migrations.AddField(
            model_name='ontology',
            name='writer_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None),
        ),
        migrations.RunPython(note_writers, migrations.RunPython.noop),
    ]
