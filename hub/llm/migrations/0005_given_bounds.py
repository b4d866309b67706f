"""What people give has a longest length. New rows are checked; larger ones of before stay as they are."""

import django.db.models.functions.text
import django.db.models.lookups
import hub.core.given_fields
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("llm", "0004_no_answers_of_callers_models"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="providerconfirmation",
            name="evidence",
            field=hub.core.given_fields.GivenText(
                help_text="Where it is written: contract, terms with their date, or setting of the account.",
                max_length=10000,
                verbose_name="evidence",
            ),
        ),
        AddConstraintNotValid(
            model_name="providerconfirmation",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("evidence"), 10000
                ),
                name="llm_providerconfirmation_evidence_length",
            ),
        ),
    ]
