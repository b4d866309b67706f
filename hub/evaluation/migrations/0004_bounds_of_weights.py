"""A case counts up to a thousand times as much as another; heavier ones are brought to that, and said."""

import logging

import django.core.validators
from django.db import migrations, models

logger = logging.getLogger(__name__)

HEAVIEST = 1000


def bring_inside(apps, schema_editor):
    heavy = apps.get_model("evaluation", "EvaluationCase").objects.filter(weight__gt=HEAVIEST)
    for pk, weight in heavy.values_list("pk", "weight"):
        logger.warning("evaluation case %s: weight %s is now %s", pk, weight, HEAVIEST)
    heavy.update(weight=HEAVIEST)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_pins_digest")]

    operations = [
        migrations.RunPython(bring_inside, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="evaluationcase",
            name="weight",
            field=models.FloatField(
                default=1.0,
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(1000),
                ],
                verbose_name="weight",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationcase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("weight__gte", 0), ("weight__lte", 1000)), ("weight__isnull", True), _connector="OR"
                ),
                name="evaluation_evaluationcase_weight_bounds",
            ),
        ),
    ]
