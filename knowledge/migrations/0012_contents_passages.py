"""Which passages list headings, told with the next indexing of each."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0010_figure_descriptions")]

    operations = [
        migrations.AddField(
            model_name="lexicalentry",
            name="is_contents",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
