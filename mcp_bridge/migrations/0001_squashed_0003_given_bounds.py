import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import hub.core.given_fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('mcp_bridge', '0001_initial'),
        ('mcp_bridge', '0002_second_person'),
        ('mcp_bridge', '0003_given_bounds'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PromptVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('published', 'published'), ('retired', 'retired')], default='draft', editable=False, max_length=10, verbose_name='state')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('published_at', models.DateTimeField(editable=False, null=True, verbose_name='published')),
                ('template', models.CharField(choices=[('review_document_template', 'review_document_template'), ('suggestion_generation', 'suggestion_generation'), ('rag_query_template', 'rag_query_template'), ('context_synthesis', 'context_synthesis'), ('coverage_check_template.structure', 'coverage_check_template.structure'), ('coverage_check_template.document', 'coverage_check_template.document'), ('reasoning_template.result', 'reasoning_template.result'), ('reasoning_template.question', 'reasoning_template.question')], max_length=60, verbose_name='prompt')),
                ('text_ja', hub.core.given_fields.GivenText(max_length=20000, verbose_name='text (ja)')),
                ('text_en', hub.core.given_fields.GivenText(max_length=20000, verbose_name='text (en)')),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='reason for the change')),
                ('is_shipped', models.BooleanField(default=False, editable=False, verbose_name='as shipped')),
                ('author', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
            ],
            options={
                'verbose_name': 'prompt for assistants',
                'verbose_name_plural': 'prompts for assistants',
                'ordering': ['template', '-number'],
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text_ja'), 20000), name='mcp_bridge_promptversion_text_ja_length'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text_en'), 20000), name='mcp_bridge_promptversion_text_en_length'), models.UniqueConstraint(fields=('template', 'number'), name='one_mcp_prompt_per_number'), models.UniqueConstraint(condition=models.Q(('status', 'published')), fields=('template',), name='one_published_mcp_prompt'), models.UniqueConstraint(condition=models.Q(('status', 'draft')), fields=('template',), name='one_draft_mcp_prompt')],
            },
        ),
    ]
