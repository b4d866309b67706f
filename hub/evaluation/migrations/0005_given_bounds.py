"""What people give has a longest length. New rows are checked; larger ones of before stay as they are."""

import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import hub.core.given_fields
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0004_bounds_of_weights"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="evaluationcase",
            name="expected",
            field=hub.core.given_fields.GivenJson(verbose_name="expected"),
        ),
        migrations.AlterField(
            model_name="evaluationcase",
            name="input",
            field=hub.core.given_fields.GivenJson(verbose_name="input"),
        ),
        migrations.AlterField(
            model_name="evaluationdataset",
            name="guards",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=80),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="guards",
            ),
        ),
        AddConstraintNotValid(
            model_name="evaluationcase",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("input", models.TextField())
                    ),
                    1048576,
                ),
                name="evaluation_evaluationcase_input_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="evaluationcase",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("expected", models.TextField())
                    ),
                    1048576,
                ),
                name="evaluation_evaluationcase_expected_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="evaluationdataset",
            constraint=models.CheckConstraint(
                condition=models.Q(("guards__len__lte", 500)), name="evaluation_evaluationdataset_guards_items"
            ),
        ),
    ]
