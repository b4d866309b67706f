"""What people give has a longest length. New rows are checked; larger ones of before stay as they are."""

import django.db.models.functions.text
import django.db.models.lookups
import hub.core.given_fields
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mcp_bridge", "0002_second_person"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="promptversion",
            name="text_en",
            field=hub.core.given_fields.GivenText(max_length=20000, verbose_name="text (en)"),
        ),
        migrations.AlterField(
            model_name="promptversion",
            name="text_ja",
            field=hub.core.given_fields.GivenText(max_length=20000, verbose_name="text (ja)"),
        ),
        AddConstraintNotValid(
            model_name="promptversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text_ja"), 20000
                ),
                name="mcp_bridge_promptversion_text_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="promptversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text_en"), 20000
                ),
                name="mcp_bridge_promptversion_text_en_length",
            ),
        ),
    ]
