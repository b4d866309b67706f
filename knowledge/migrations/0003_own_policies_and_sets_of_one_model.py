from django.db import migrations, models

# What was uploaded with a policy of its own could not be told until now: it is whatever differs from the default.
MARK_OWN_POLICIES = """
UPDATE knowledge_documentversion SET has_own_policy = true
WHERE policy_id <> (SELECT policy_id FROM knowledge_embeddingset WHERE is_active)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0002_sources_figures_and_set_states'),
    ]

    operations = [
        migrations.AddField(
            model_name='documentversion',
            name='has_own_policy',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name='embeddingset',
            name='passages_per_second',
            field=models.FloatField(editable=False, null=True, verbose_name='passages per second'),
        ),
        migrations.AlterField(
            model_name='embeddingset',
            name='fingerprint',
            field=models.CharField(max_length=100, verbose_name='fingerprint'),
        ),
        migrations.RunSQL(MARK_OWN_POLICIES, migrations.RunSQL.noop),
    ]
