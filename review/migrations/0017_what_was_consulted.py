"""Results record what was really consulted, and the passages, paths and concepts that it led to."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0016_concealed_texts")]

    operations = [
        migrations.AlterField("checkresult", "strategy_used", models.CharField(max_length=20)),
        migrations.AddField(
            "checkresult",
            "consulted",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20), default=list, editable=False, size=None
            ),
        ),
        migrations.AddField("checkresult", "evidence", models.JSONField(default=dict)),
    ]
