"""What curated versions have in common stands in one abstract model; the tables stay as they are."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0010_summary_prompt"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="judgeprompt",
            name="author",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="author",
            ),
        ),
        migrations.AlterField(
            model_name="judgeprompt",
            name="number",
            field=models.PositiveIntegerField(default=1, editable=False, verbose_name="version"),
        ),
        migrations.AlterField(
            model_name="judgeprompt",
            name="status",
            field=models.CharField(
                choices=[("draft", "draft"), ("published", "published"), ("retired", "retired")],
                default="draft",
                editable=False,
                max_length=10,
                verbose_name="state",
            ),
        ),
    ]
