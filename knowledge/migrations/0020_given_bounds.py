"""What people give has a longest length. New rows are checked; larger ones of before stay as they are."""

import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import hub.core.bounds
import hub.core.given_fields
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0019_changes_of_guidelines"),
    ]

    operations = [
        migrations.AlterField(
            model_name="collection",
            name="description",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="description"),
        ),
        migrations.AlterField(
            model_name="document",
            name="metadata",
            field=hub.core.given_fields.GivenJson(blank=True, default=dict, verbose_name="metadata"),
        ),
        migrations.AlterField(
            model_name="graphedge",
            name="properties",
            field=models.JSONField(
                blank=True, default=dict, validators=[hub.core.bounds.WithinJsonLimits()], verbose_name="properties"
            ),
        ),
        migrations.AlterField(
            model_name="graphnode",
            name="properties",
            field=models.JSONField(
                blank=True, default=dict, validators=[hub.core.bounds.WithinJsonLimits()], verbose_name="properties"
            ),
        ),
        migrations.AlterField(
            model_name="guideline",
            name="source",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="source"),
        ),
        migrations.AlterField(
            model_name="guidelinearticle",
            name="applies_when",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=300),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="applies with headings",
            ),
        ),
        migrations.AlterField(
            model_name="guidelinearticle",
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
            model_name="guidelinearticle",
            name="headings",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=200),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="typical headings",
            ),
        ),
        migrations.AlterField(
            model_name="guidelinearticle",
            name="required_elements",
            field=hub.core.given_fields.GivenJson(blank=True, default=list, verbose_name="required elements"),
        ),
        migrations.AlterField(
            model_name="guidelinearticle",
            name="text",
            field=hub.core.given_fields.GivenText(blank=True, max_length=100000, verbose_name="text"),
        ),
        migrations.AlterField(
            model_name="guidelineedition",
            name="guideline_changes",
            field=hub.core.given_fields.GivenJson(
                blank=True, default=dict, editable=False, verbose_name="changes of the guideline"
            ),
        ),
        migrations.AlterField(
            model_name="nodetype",
            name="aliases",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=100),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="aliases",
            ),
        ),
        migrations.AlterField(
            model_name="ontology",
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
            model_name="ontology",
            name="prefixes",
            field=hub.core.given_fields.GivenJson(blank=True, default=list, editable=False),
        ),
        migrations.AlterField(
            model_name="ontology",
            name="remainder",
            field=hub.core.given_fields.GivenText(
                blank=True, editable=False, max_length=67108864, verbose_name="other statements"
            ),
        ),
        migrations.AlterField(
            model_name="ontology",
            name="suppressed",
            field=hub.core.given_fields.GivenText(blank=True, editable=False, max_length=67108864),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="cues",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=1000),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="cues",
            ),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="definition_en",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="definition (en)"),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="definition_ja",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="definition (ja)"),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="elements_en",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=300),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="elements (en)",
            ),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="elements_ja",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=300),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="elements (ja)",
            ),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="example",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="example (plain style)"),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="example_polite",
            field=hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name="example (polite style)"),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="exclusions",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=1000),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="exclusions",
            ),
        ),
        migrations.AlterField(
            model_name="ontologyclass",
            name="synonyms",
            field=hub.core.given_fields.GivenList(
                base_field=models.CharField(max_length=200),
                blank=True,
                default=list,
                most=500,
                size=None,
                verbose_name="synonyms",
            ),
        ),
        AddConstraintNotValid(
            model_name="graphcontribution",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "curator"), _negated=True),
                    django.db.models.lookups.LessThanOrEqual(
                        django.db.models.functions.text.Length(
                            django.db.models.functions.comparison.Cast("facts", models.TextField())
                        ),
                        262144,
                    ),
                    _connector="OR",
                ),
                name="knowledge_graphcontribution_facts_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="guideline",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("source"), 10000
                ),
                name="knowledge_guideline_source_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinearticle",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("text"), 100000
                ),
                name="knowledge_guidelinearticle_text_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinearticle",
            constraint=models.CheckConstraint(
                condition=models.Q(("document_types__len__lte", 500)),
                name="knowledge_guidelinearticle_document_types_items",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinearticle",
            constraint=models.CheckConstraint(
                condition=models.Q(("headings__len__lte", 500)), name="knowledge_guidelinearticle_headings_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinearticle",
            constraint=models.CheckConstraint(
                condition=models.Q(("applies_when__len__lte", 500)),
                name="knowledge_guidelinearticle_applies_when_items",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelinearticle",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("required_elements", models.TextField())
                    ),
                    1048576,
                ),
                name="knowledge_guidelinearticle_required_elements_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="guidelineedition",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("guideline_changes", models.TextField())
                    ),
                    262144,
                ),
                name="knowledge_guidelineedition_guideline_changes_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="nodetype",
            constraint=models.CheckConstraint(
                condition=models.Q(("aliases__len__lte", 500)), name="knowledge_nodetype_aliases_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontology",
            constraint=models.CheckConstraint(
                condition=models.Q(("document_types__len__lte", 500)), name="knowledge_ontology_document_types_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontology",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("remainder"), 67108864
                ),
                name="knowledge_ontology_remainder_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontology",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("suppressed"), 67108864
                ),
                name="knowledge_ontology_suppressed_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontology",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("prefixes", models.TextField())
                    ),
                    1048576,
                ),
                name="knowledge_ontology_prefixes_size",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("definition_ja"), 10000
                ),
                name="knowledge_ontologyclass_definition_ja_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("definition_en"), 10000
                ),
                name="knowledge_ontologyclass_definition_en_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=models.Q(("synonyms__len__lte", 500)), name="knowledge_ontologyclass_synonyms_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=models.Q(("cues__len__lte", 500)), name="knowledge_ontologyclass_cues_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=models.Q(("exclusions__len__lte", 500)), name="knowledge_ontologyclass_exclusions_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=models.Q(("elements_ja__len__lte", 500)), name="knowledge_ontologyclass_elements_ja_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=models.Q(("elements_en__len__lte", 500)), name="knowledge_ontologyclass_elements_en_items"
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("example"), 10000
                ),
                name="knowledge_ontologyclass_example_length",
            ),
        ),
        AddConstraintNotValid(
            model_name="ontologyclass",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length("example_polite"), 10000
                ),
                name="knowledge_ontologyclass_example_polite_length",
            ),
        ),
    ]
