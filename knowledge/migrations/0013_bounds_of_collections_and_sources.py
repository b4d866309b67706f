"""What people give collections and sources has bounds. Numbers outside of them are brought to the nearest bound, and
said; a longer description stops the migration, which names it, since nobody wants it cut."""

import logging

import django.core.validators
import django.db.models.functions.text
import django.db.models.lookups
from django.db import migrations, models
from django.db.models.functions import Length

logger = logging.getLogger(__name__)

RETENTION_MOST = 36_500
SCAN_LEAST, SCAN_MOST = 1, 525_600
DESCRIPTION_MOST = 10_000


def bring_inside(apps, schema_editor):
    collections = apps.get_model("knowledge", "Collection").objects
    # A period of no days counted as none at all in every page; deleting at once is never meant.
    for old, new in (({"retention_days": 0}, None), ({"retention_days__gt": RETENTION_MOST}, RETENTION_MOST)):
        for slug, days in collections.filter(**old).values_list("slug", "retention_days"):
            logger.warning("collection %s: retention_days %s is now %s", slug, days, new)
        collections.filter(**old).update(retention_days=new)
    sources = apps.get_model("knowledge", "Source").objects
    for old, new in (({"scan_every_minutes__lt": SCAN_LEAST}, SCAN_LEAST), ({"scan_every_minutes__gt": SCAN_MOST}, SCAN_MOST)):
        for name, minutes in sources.filter(**old).values_list("name", "scan_every_minutes"):
            logger.warning("source %s: scan_every_minutes %s is now %s", name, minutes, new)
        sources.filter(**old).update(scan_every_minutes=new)
    long = collections.annotate(length=Length("description")).filter(length__gt=DESCRIPTION_MOST)
    if slugs := list(long.values_list("slug", flat=True)):
        raise ValueError(
            f"The descriptions of these collections are longer than {DESCRIPTION_MOST} characters. Shorten them with the "
            f"release you come from, then migrate again: {', '.join(slugs)}"
        )


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0012_contents_passages")]

    operations = [
        migrations.RunPython(bring_inside, migrations.RunPython.noop, elidable=False),
        migrations.AlterField(
            model_name="collection",
            name="description",
            field=models.TextField(
                blank=True,
                validators=[django.core.validators.MaxLengthValidator(10000)],
                verbose_name="description",
            ),
        ),
        migrations.AlterField(
            model_name="collection",
            name="retention_days",
            field=models.PositiveIntegerField(
                blank=True,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(36500),
                ],
                verbose_name="retention (days)",
            ),
        ),
        migrations.AlterField(
            model_name="source",
            name="scan_every_minutes",
            field=models.PositiveIntegerField(
                default=15,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(525600),
                ],
                verbose_name="scan every (minutes)",
            ),
        ),
        migrations.AddConstraint(
            model_name="collection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("retention_days__gte", 1), ("retention_days__lte", 36500)),
                    ("retention_days__isnull", True),
                    _connector="OR",
                ),
                name="knowledge_collection_retention_days_bounds",
            ),
        ),
        migrations.AddConstraint(
            model_name="collection",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description"), 10000
                ),
                name="knowledge_collection_description_length",
            ),
        ),
        migrations.AddConstraint(
            model_name="source",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("scan_every_minutes__gte", 1), ("scan_every_minutes__lte", 525600)),
                    ("scan_every_minutes__isnull", True),
                    _connector="OR",
                ),
                name="knowledge_source_scan_every_minutes_bounds",
            ),
        ),
    ]
