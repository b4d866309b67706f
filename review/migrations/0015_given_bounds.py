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
        ("knowledge", "0020_given_bounds"),
        ("review", "0014_signatures_by_user"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="checkitemversion",
            name="criteria",
            field=hub.core.given_fields.GivenJson(default=dict, verbose_name="criteria"),
        ),
        migrations.AlterField(
            model_name="checkitemversion",
            name="description_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (en)"),
        ),
        migrations.AlterField(
            model_name="checkitemversion",
            name="description_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (ja)"),
        ),
        migrations.AlterField(
            model_name="checkitemversion",
            name="reason",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="reason for the change"),
        ),
        migrations.AlterField(
            model_name="checklist",
            name="document_types",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=40),
                default=list,
                most=500,
                size=None,
                verbose_name="document types",
            ),
        ),
        migrations.AlterField(
            model_name="checklistversion",
            name="reason",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="reason for the change"),
        ),
        migrations.AlterField(
            model_name="finding",
            name="triage_reason",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000),
        ),
        migrations.AlterField(
            model_name="findinganswer",
            name="plan",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000),
        ),
        migrations.AlterField(
            model_name="findinganswer",
            name="text",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000),
        ),
        migrations.AlterField(
            model_name="findingevent",
            name="text",
            field=hub.core.given_fields.GivenText(blank=True, max_length=20001),
        ),
        migrations.AlterField(
            model_name="guidelinemapping",
            name="rationale_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="rationale (en)"),
        ),
        migrations.AlterField(
            model_name="guidelinemapping",
            name="rationale_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="rationale (ja)"),
        ),
        migrations.AlterField(
            model_name="judgeprompt",
            name="text",
            field=hub.core.given_fields.GivenText(blank=True, max_length=20000, verbose_name="text"),
        ),
        migrations.AlterField(
            model_name="resultdecision",
            name="reason",
            field=hub.core.given_fields.GivenText(max_length=10000),
        ),
        migrations.AlterField(
            model_name="review",
            name="options",
            field=hub.core.given_fields.GivenJson(default=dict),
        ),
        migrations.AlterField(
            model_name="scenario",
            name="description_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (en)"),
        ),
        migrations.AlterField(
            model_name="scenario",
            name="description_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (ja)"),
        ),
        migrations.AlterField(
            model_name="scenario",
            name="document_types",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=40),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="document types",
            ),
        ),
        migrations.AlterField(
            model_name="scenariostep",
            name="description_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (en)"),
        ),
        migrations.AlterField(
            model_name="scenariostep",
            name="description_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description (ja)"),
        ),
        migrations.AlterField(
            model_name="scenariostep",
            name="expected_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="expected output (en)"),
        ),
        migrations.AlterField(
            model_name="scenariostep",
            name="expected_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="expected output (ja)"),
        ),
        migrations.AlterField(
            model_name="signature",
            name="comment",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000),
        ),
        migrations.AlterField(
            model_name="suspectmark",
            name="cleared_reason",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="what was found"),
        ),
        AddConstraintNotValid(
            model_name="checkitemversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("reason"), 10000
                ),
                name="review_checkitemversion_reason_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="checkitemversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_ja"), 10000
                ),
                name="review_checkitemversion_description_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="checkitemversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_en"), 10000
                ),
                name="review_checkitemversion_description_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="checkitemversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("criteria", models.TextField())
                    ),
                    1048576,
                ),
                name="review_checkitemversion_criteria_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="checklist",
            constraint=models.CheckConstraint(
                condition=models.Q(("document_types__len__lte", 500)), name="review_checklist_document_types_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="checklistversion",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("reason"), 10000
                ),
                name="review_checklistversion_reason_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("triage_reason"), 10000
                ),
                name="review_finding_triage_reason_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="findinganswer",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("plan"), 10000
                ),
                name="review_findinganswer_plan_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="findinganswer",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text"), 10000
                ),
                name="review_findinganswer_text_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="findingevent",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text"), 20001
                ),
                name="review_findingevent_text_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinemapping",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("rationale_ja"), 10000
                ),
                name="review_guidelinemapping_rationale_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinemapping",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("rationale_en"), 10000
                ),
                name="review_guidelinemapping_rationale_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="judgeprompt",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text"), 20000
                ),
                name="review_judgeprompt_text_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="resultdecision",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("reason"), 10000
                ),
                name="review_resultdecision_reason_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("options", models.TextField())
                    ),
                    1048576,
                ),
                name="review_review_options_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenario",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_ja"), 10000
                ),
                name="review_scenario_description_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenario",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_en"), 10000
                ),
                name="review_scenario_description_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenario",
            constraint=models.CheckConstraint(
                condition=models.Q(("document_types__len__lte", 500)), name="review_scenario_document_types_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="scenariostep",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_ja"), 10000
                ),
                name="review_scenariostep_description_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenariostep",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("description_en"), 10000
                ),
                name="review_scenariostep_description_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenariostep",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("expected_ja"), 10000
                ),
                name="review_scenariostep_expected_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="scenariostep",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("expected_en"), 10000
                ),
                name="review_scenariostep_expected_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="signature",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("comment"), 10000
                ),
                name="review_signature_comment_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="suspectmark",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("cleared_reason"), 10000
                ),
                name="review_suspectmark_cleared_reason_length",
            ),
        ),
    ]
