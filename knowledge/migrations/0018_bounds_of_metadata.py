"""The metadata of a document have a longest length. Longer ones stop the migration, which names the documents."""

import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
from django.db import migrations, models
from django.db.models.functions import Cast, Length

import hub.core.bounds

MOST = 4 * 64 * 1024


def name_longer_ones(apps, schema_editor):
    documents = apps.get_model("knowledge", "Document").objects
    long = documents.annotate(length=Length(Cast("metadata", models.TextField()))).filter(length__gt=MOST)
    if ids := list(long.values_list("public_id", flat=True)[:50]):
        raise ValueError(
            f"The metadata of these documents are longer than {MOST} characters. Shorten them with the release you come "
            f"from (PATCH /documents/ID), then migrate again: {', '.join(ids)}"
        )


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0017_second_person")]

    operations = [
        migrations.RunPython(name_longer_ones, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="document",
            name="metadata",
            field=models.JSONField(
                blank=True,
                default=dict,
                validators=[hub.core.bounds.WithinJsonLimits()],
                verbose_name="metadata",
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("metadata", models.TextField())
                    ),
                    262144,
                ),
                name="knowledge_document_metadata_size",
            ),
        ),
    ]
