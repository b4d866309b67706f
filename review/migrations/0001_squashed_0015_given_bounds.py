import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import functools
import hub.core.given_fields
import hub.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('review', '0001_initial'),
        ('review', '0002_mappings'),
        ('review', '0003_related'),
        ('review', '0004_judging'),
        ('review', '0005_triage'),
        ('review', '0006_masters'),
        ('review', '0007_shipped_editions'),
        ('review', '0008_scenarios_and_carrying'),
        ('review', '0009_suggestions_by_models'),
        ('review', '0010_summary_prompt'),
        ('review', '0011_curated_versions'),
        ('review', '0012_what_findings_rest_on'),
        ('review', '0013_second_person'),
        ('review', '0014_signatures_by_user'),
        ('review', '0015_given_bounds'),
    ]

    dependencies = [
        ('knowledge', '0001_squashed_0020_given_bounds'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CheckItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=20, unique=True, verbose_name='code')),
                ('category', models.CharField(blank=True, max_length=100, verbose_name='category')),
            ],
            options={
                'verbose_name': 'check item',
                'verbose_name_plural': 'check items',
                'ordering': ['code'],
            },
        ),
        migrations.CreateModel(
            name='CheckItemVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('approved', 'approved'), ('retired', 'retired')], default='draft', max_length=10, verbose_name='state')),
                ('reason', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='reason for the change')),
                ('shipped_edition', models.CharField(blank=True, editable=False, max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('approved_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='approved')),
                ('retired_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='retired')),
                ('category', models.CharField(blank=True, max_length=100, verbose_name='category')),
                ('name_ja', models.CharField(max_length=200, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=200, verbose_name='name (en)')),
                ('description_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (ja)')),
                ('description_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (en)')),
                ('check_type', models.CharField(choices=[('terminology', 'terminology'), ('style', 'style'), ('compliance', 'compliance'), ('traceability', 'traceability'), ('coverage', 'coverage'), ('composite', 'composite')], max_length=20, verbose_name='type')),
                ('strategy', models.CharField(choices=[('vector_rag', 'vector search'), ('graph_rag', 'graph search'), ('ontology', 'ontology'), ('hybrid', 'several')], max_length=20, verbose_name='strategy')),
                ('guideline_reference', models.CharField(blank=True, max_length=300, verbose_name='guideline')),
                ('priority', models.CharField(choices=[('critical', 'top priority'), ('high', 'high'), ('medium', 'medium'), ('low', 'low')], default='medium', max_length=10, verbose_name='priority')),
                ('criteria', hub.core.given_fields.GivenJson(default=dict, verbose_name='criteria')),
                ('approved_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='approved by')),
                ('author', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='review.checkitem', verbose_name='item')),
            ],
            options={
                'verbose_name': 'check item version',
                'verbose_name_plural': 'check item versions',
                'ordering': ['item__code', '-number'],
            },
        ),
        migrations.CreateModel(
            name='CheckList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.SlugField(max_length=60, unique=True, verbose_name='code')),
                ('name_ja', models.CharField(max_length=200, verbose_name='name (ja)')),
                ('name_en', models.CharField(max_length=200, verbose_name='name (en)')),
                ('document_types', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=40), default=list, most=500, size=None, verbose_name='document types')),
                ('ontology_domain', models.CharField(blank=True, max_length=60, verbose_name='ontology')),
            ],
            options={
                'verbose_name': 'check list',
                'verbose_name_plural': 'check lists',
                'ordering': ['code'],
                'constraints': [models.CheckConstraint(condition=models.Q(('document_types__len__lte', 500)), name='review_checklist_document_types_items')],
            },
        ),
        migrations.CreateModel(
            name='CheckListVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('approved', 'approved'), ('retired', 'retired')], default='draft', max_length=10, verbose_name='state')),
                ('reason', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='reason for the change')),
                ('shipped_edition', models.CharField(blank=True, editable=False, max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('approved_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='approved')),
                ('retired_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='retired')),
                ('effective_from', models.DateField(blank=True, null=True, verbose_name='in force from')),
                ('effective_to', models.DateField(blank=True, null=True, verbose_name='in force until')),
                ('approved_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='approved by')),
                ('author', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
                ('checklist', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='review.checklist', verbose_name='check list')),
            ],
            options={
                'verbose_name': 'check list version',
                'verbose_name_plural': 'check list versions',
                'ordering': ['checklist', '-number'],
            },
        ),
        migrations.CreateModel(
            name='CheckListEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0)),
                ('item_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.checkitemversion')),
                ('checklist_version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='review.checklistversion')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='CheckResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0)),
                ('verdict', models.CharField(choices=[('pass', 'pass'), ('warning', 'warning'), ('fail', 'fail'), ('error', 'error'), ('skipped', 'skipped')], max_length=10, verbose_name='verdict')),
                ('score', models.FloatField(null=True, verbose_name='score')),
                ('method', models.CharField(default='rules', max_length=10, verbose_name='decided by')),
                ('strategy_used', models.CharField(choices=[('vector_rag', 'vector search'), ('graph_rag', 'graph search'), ('ontology', 'ontology'), ('hybrid', 'several')], max_length=20)),
                ('strategy_reason_ja', models.TextField(blank=True)),
                ('strategy_reason_en', models.TextField(blank=True)),
                ('notices', models.JSONField(default=list)),
                ('execution_time_ms', models.PositiveIntegerField(default=0)),
                ('judgement', models.JSONField(default=dict)),
                ('finished_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('original_verdict', models.CharField(blank=True, choices=[('pass', 'pass'), ('warning', 'warning'), ('fail', 'fail'), ('error', 'error'), ('skipped', 'skipped')], max_length=10)),
                ('original_method', models.CharField(blank=True, max_length=10)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('item_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.checkitemversion')),
            ],
            options={
                'verbose_name': 'check result',
                'verbose_name_plural': 'check results',
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('fnd',), **{}), editable=False, max_length=40, unique=True)),
                ('ordinal', models.PositiveIntegerField(default=0)),
                ('fingerprint', models.CharField(max_length=64)),
                ('rule_id', models.CharField(max_length=80, verbose_name='rule')),
                ('severity', models.CharField(choices=[('critical', 'critical'), ('major', 'major'), ('minor', 'minor'), ('info', 'info')], max_length=10, verbose_name='severity')),
                ('message_ja', models.TextField(verbose_name='message (ja)')),
                ('message_en', models.TextField(verbose_name='message (en)')),
                ('location', models.JSONField(default=dict)),
                ('evidence', models.JSONField(default=list)),
                ('searched', models.JSONField(default=list)),
                ('data', models.JSONField(default=dict)),
                ('rests_on', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, editable=False, size=None)),
                ('related_guideline', models.CharField(blank=True, max_length=300)),
                ('confidence', models.FloatField(null=True, verbose_name='confidence')),
                ('confidence_basis_ja', models.TextField(blank=True)),
                ('confidence_basis_en', models.TextField(blank=True)),
                ('triage', models.CharField(choices=[('open', 'open'), ('accepted', 'accepted'), ('rejected', 'rejected'), ('fixed', 'fixed'), ('waived', 'waived')], default='open', max_length=10, verbose_name='triage')),
                ('triage_reason', hub.core.given_fields.GivenText(blank=True, max_length=10000)),
                ('triaged_by', models.CharField(blank=True, max_length=150)),
                ('triaged_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('carried', models.JSONField(default=dict)),
                ('assignee', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='review.checkresult')),
            ],
            options={
                'verbose_name': 'finding',
                'verbose_name_plural': 'findings',
                'ordering': ['result__position', 'ordinal'],
            },
        ),
        migrations.CreateModel(
            name='FindingAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('plan', hub.core.given_fields.GivenText(blank=True, max_length=10000)),
                ('text', hub.core.given_fields.GivenText(blank=True, max_length=10000)),
                ('answered_by', models.CharField(blank=True, max_length=150)),
                ('answered_on', models.DateField(null=True)),
                ('finding', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='answer', to='review.finding')),
            ],
        ),
        migrations.CreateModel(
            name='FindingEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor_name', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('kind', models.CharField(choices=[('triage', 'state'), ('comment', 'comment'), ('assign', 'assignment'), ('answer', 'answer'), ('reopen', 'waiver expired'), ('carry', 'carried over')], max_length=10)),
                ('before', models.CharField(blank=True, max_length=150)),
                ('after', models.CharField(blank=True, max_length=150)),
                ('text', hub.core.given_fields.GivenText(blank=True, max_length=20001)),
                ('origin', models.CharField(blank=True, max_length=40)),
                ('expires_at', models.DateTimeField(null=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='review.finding')),
            ],
            options={
                'ordering': ['id'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='GuidelineMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('article_code', models.CharField(db_index=True, max_length=60, verbose_name='article')),
                ('relation', models.CharField(choices=[('direct', 'direct'), ('indirect', 'indirect'), ('derived', 'derived')], max_length=10, verbose_name='relation')),
                ('rationale_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='rationale (ja)')),
                ('rationale_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='rationale (en)')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('check_item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guideline_mappings', to='review.checkitem', verbose_name='check item')),
            ],
            options={
                'verbose_name': 'guideline mapping',
                'verbose_name_plural': 'guideline mappings',
                'ordering': ['article_code', 'check_item__code'],
            },
        ),
        migrations.CreateModel(
            name='JudgePrompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('published', 'published'), ('retired', 'retired')], default='draft', editable=False, max_length=10, verbose_name='state')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('published_at', models.DateTimeField(editable=False, null=True, verbose_name='published')),
                ('kind', models.CharField(choices=[('judge', 'judging a check'), ('screen', 'choosing passages'), ('summary', 'summarising sections')], max_length=10, verbose_name='purpose')),
                ('text', hub.core.given_fields.GivenText(blank=True, max_length=20000, verbose_name='text')),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='reason for the change')),
                ('author', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
            ],
            options={
                'verbose_name': 'prompt',
                'verbose_name_plural': 'prompts',
                'ordering': ['kind', '-number'],
            },
        ),
        migrations.CreateModel(
            name='ModelSuggestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('sug',), **{}), editable=False, max_length=40, unique=True)),
                ('content', models.TextField(verbose_name='suggestion')),
                ('rationale', models.TextField()),
                ('example', models.TextField(blank=True)),
                ('evidence', models.JSONField(default=list)),
                ('provider', models.CharField(max_length=40)),
                ('model', models.CharField(max_length=200)),
                ('is_private', models.BooleanField()),
                ('finding', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='model_suggestion', to='review.finding')),
            ],
            options={
                'verbose_name': 'suggestion by a language model',
                'verbose_name_plural': 'suggestions by a language model',
            },
        ),
        migrations.CreateModel(
            name='ResultDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor_name', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('before', models.CharField(choices=[('pass', 'pass'), ('warning', 'warning'), ('fail', 'fail'), ('error', 'error'), ('skipped', 'skipped')], max_length=10)),
                ('before_method', models.CharField(max_length=10)),
                ('verdict', models.CharField(choices=[('pass', 'pass'), ('warning', 'warning'), ('fail', 'fail'), ('error', 'error'), ('skipped', 'skipped')], max_length=10)),
                ('reason', hub.core.given_fields.GivenText(max_length=10000)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='review.checkresult')),
            ],
            options={
                'ordering': ['id'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('rev',), **{}), editable=False, max_length=40, unique=True, verbose_name='id')),
                ('document_id_text', models.CharField(editable=False, max_length=40, verbose_name='document id')),
                ('version_number', models.PositiveIntegerField(editable=False, verbose_name='document version')),
                ('status', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('completed', 'completed'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='queued', max_length=10, verbose_name='state')),
                ('verdict', models.CharField(blank=True, choices=[('pass', 'pass'), ('warning', 'warning'), ('fail', 'fail'), ('error', 'error'), ('skipped', 'skipped')], max_length=10, verbose_name='verdict')),
                ('progress', models.PositiveSmallIntegerField(default=0, verbose_name='progress')),
                ('options', hub.core.given_fields.GivenJson(default=dict)),
                ('error', models.TextField(blank=True, verbose_name='reason')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.CharField(blank=True, max_length=40)),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('tokens_in', models.PositiveBigIntegerField(default=0)),
                ('tokens_out', models.PositiveBigIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=12, null=True)),
                ('sampling_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('started_at', models.DateTimeField(null=True, verbose_name='started')),
                ('finished_at', models.DateTimeField(null=True, verbose_name='finished')),
                ('signed_at', models.DateTimeField(null=True, verbose_name='signed off')),
                ('notices', models.JSONField(default=list)),
                ('checklist_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='review.checklistversion')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reviews', to='knowledge.documentversion')),
            ],
            options={
                'verbose_name': 'review',
                'verbose_name_plural': 'reviews',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RelatedVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('document_id_text', models.CharField(db_index=True, editable=False, max_length=40, verbose_name='document id')),
                ('version_number', models.PositiveIntegerField(editable=False, verbose_name='document version')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.documentversion')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='related', to='review.review')),
            ],
            options={
                'verbose_name': 'related document',
                'verbose_name_plural': 'related documents',
                'ordering': ['position'],
            },
        ),
        migrations.AddField(
            model_name='checkresult',
            name='review',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='review.review'),
        ),
        migrations.CreateModel(
            name='ReviewEdition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('edition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.guidelineedition')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guideline_editions', to='review.review')),
            ],
        ),
        migrations.CreateModel(
            name='Scenario',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('writer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), blank=True, default=list, editable=False, size=None)),
                ('number', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('status', models.CharField(choices=[('draft', 'draft'), ('published', 'published'), ('retired', 'retired')], default='draft', editable=False, max_length=10, verbose_name='state')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('published_at', models.DateTimeField(editable=False, null=True, verbose_name='published')),
                ('code', models.SlugField(max_length=60, verbose_name='code')),
                ('role', models.CharField(choices=[('pjmo', 'project office (PJMO)'), ('quality_support', 'quality support'), ('admin', 'administrator')], max_length=20, verbose_name='role')),
                ('name_ja', models.CharField(max_length=200, verbose_name='name (ja)')),
                ('name_en', models.CharField(blank=True, max_length=200, verbose_name='name (en)')),
                ('description_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (ja)')),
                ('description_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (en)')),
                ('document_types', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=40), blank=True, default=list, most=500, size=None, verbose_name='document types')),
                ('reason', models.CharField(blank=True, max_length=300, verbose_name='reason for the change')),
                ('author', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='author')),
            ],
            options={
                'verbose_name': 'scenario',
                'verbose_name_plural': 'scenarios',
                'ordering': ['code', '-number'],
            },
        ),
        migrations.CreateModel(
            name='ScenarioProgress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.SlugField(max_length=60)),
                ('done', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), default=list, size=None)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.document')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ScenarioStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(default=0, verbose_name='order')),
                ('action', models.SlugField(max_length=60, verbose_name='action')),
                ('page', models.CharField(blank=True, choices=[('', 'no page'), ('overview', 'Overview'), ('search', 'Search'), ('upload', 'Upload documents'), ('document', 'The document'), ('start_review', 'Start a review'), ('review', "The document's latest review"), ('triage', 'Triage of the latest review'), ('changes', 'Changes since the review before'), ('answers', 'Read answers in'), ('checklists', 'Check lists'), ('check_items', 'Check items'), ('guidelines', 'Guidelines'), ('ontologies', 'Ontologies'), ('prompts', 'Prompts'), ('evaluation', 'Evaluation'), ('audit', 'Audit events')], default='', max_length=20, verbose_name='page')),
                ('title_ja', models.CharField(max_length=200, verbose_name='title (ja)')),
                ('title_en', models.CharField(blank=True, max_length=200, verbose_name='title (en)')),
                ('description_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (ja)')),
                ('description_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='description (en)')),
                ('expected_ja', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='expected output (ja)')),
                ('expected_en', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='expected output (en)')),
                ('scenario', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='review.scenario')),
            ],
            options={
                'verbose_name': 'step',
                'verbose_name_plural': 'steps',
                'ordering': ['position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Signature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('signer_name', models.CharField(max_length=150)),
                ('comment', hub.core.given_fields.GivenText(blank=True, max_length=10000)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='signatures', to='review.review')),
                ('signer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Suggestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('sug',), **{}), editable=False, max_length=40, unique=True)),
                ('content_ja', models.TextField(verbose_name='suggestion (ja)')),
                ('content_en', models.TextField(verbose_name='suggestion (en)')),
                ('rationale_ja', models.TextField(blank=True)),
                ('rationale_en', models.TextField(blank=True)),
                ('example', models.TextField(blank=True)),
                ('confidence', models.FloatField(null=True)),
                ('references', models.JSONField(default=list)),
                ('finding', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='suggestion', to='review.finding')),
            ],
            options={
                'verbose_name': 'suggestion',
                'verbose_name_plural': 'suggestions',
            },
        ),
        migrations.CreateModel(
            name='SuspectMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('article_code', models.CharField(max_length=60, verbose_name='article')),
                ('reason_ja', models.TextField(verbose_name='reason (ja)')),
                ('reason_en', models.TextField(verbose_name='reason (en)')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='marked')),
                ('cleared_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='cleared')),
                ('cleared_by', models.CharField(blank=True, editable=False, max_length=150, verbose_name='cleared by')),
                ('cleared_reason', hub.core.given_fields.GivenText(blank=True, max_length=10000, verbose_name='what was found')),
                ('check_item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='suspect_marks', to='review.checkitem', verbose_name='check item')),
                ('edition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.guidelineedition', verbose_name='edition')),
            ],
            options={
                'verbose_name': 'suspect mark',
                'verbose_name_plural': 'suspect marks',
                'ordering': ['-created_at', 'check_item__code', 'article_code'],
            },
        ),
        migrations.AddConstraint(
            model_name='checkitemversion',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('reason'), 10000), name='review_checkitemversion_reason_length'),
        ),
        migrations.AddConstraint(
            model_name='checkitemversion',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_ja'), 10000), name='review_checkitemversion_description_ja_length'),
        ),
        migrations.AddConstraint(
            model_name='checkitemversion',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_en'), 10000), name='review_checkitemversion_description_en_length'),
        ),
        migrations.AddConstraint(
            model_name='checkitemversion',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('criteria', models.TextField())), 1048576), name='review_checkitemversion_criteria_size'),
        ),
        migrations.AddConstraint(
            model_name='checkitemversion',
            constraint=models.UniqueConstraint(fields=('item', 'number'), name='one_check_item_version_per_number'),
        ),
        migrations.AddConstraint(
            model_name='checklistversion',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('reason'), 10000), name='review_checklistversion_reason_length'),
        ),
        migrations.AddConstraint(
            model_name='checklistversion',
            constraint=models.UniqueConstraint(fields=('checklist', 'number'), name='one_check_list_version_per_number'),
        ),
        migrations.AddConstraint(
            model_name='checklistversion',
            constraint=models.CheckConstraint(condition=models.Q(('effective_from__isnull', True), ('effective_to__isnull', True), ('effective_from__lte', models.F('effective_to')), _connector='OR'), name='check_list_version_starts_before_it_ends'),
        ),
        migrations.AddConstraint(
            model_name='checklistentry',
            constraint=models.UniqueConstraint(fields=('checklist_version', 'item_version'), name='one_entry_per_item_version'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=models.Index(condition=models.Q(('triage', 'waived')), fields=['expires_at'], name='waivers_by_expiry'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('rests_on', []), _negated=True), fields=['rests_on'], name='findings_by_source'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('triage_reason'), 10000), name='review_finding_triage_reason_length'),
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.UniqueConstraint(fields=('result', 'fingerprint'), name='one_finding_per_fingerprint'),
        ),
        migrations.AddConstraint(
            model_name='findinganswer',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('plan'), 10000), name='review_findinganswer_plan_length'),
        ),
        migrations.AddConstraint(
            model_name='findinganswer',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 10000), name='review_findinganswer_text_length'),
        ),
        migrations.AddConstraint(
            model_name='findingevent',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 20001), name='review_findingevent_text_length'),
        ),
        migrations.AddConstraint(
            model_name='guidelinemapping',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('rationale_ja'), 10000), name='review_guidelinemapping_rationale_ja_length'),
        ),
        migrations.AddConstraint(
            model_name='guidelinemapping',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('rationale_en'), 10000), name='review_guidelinemapping_rationale_en_length'),
        ),
        migrations.AddConstraint(
            model_name='guidelinemapping',
            constraint=models.UniqueConstraint(fields=('article_code', 'check_item'), name='one_mapping_per_article_and_item'),
        ),
        migrations.AddConstraint(
            model_name='judgeprompt',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 20000), name='review_judgeprompt_text_length'),
        ),
        migrations.AddConstraint(
            model_name='judgeprompt',
            constraint=models.UniqueConstraint(fields=('kind', 'number'), name='one_prompt_per_number'),
        ),
        migrations.AddConstraint(
            model_name='judgeprompt',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'published')), fields=('kind',), name='one_published_prompt'),
        ),
        migrations.AddConstraint(
            model_name='resultdecision',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('reason'), 10000), name='review_resultdecision_reason_length'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['created_at'], name='review_unfinished'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('options', models.TextField())), 1048576), name='review_review_options_size'),
        ),
        migrations.AddConstraint(
            model_name='relatedversion',
            constraint=models.UniqueConstraint(fields=('review', 'document_id_text'), name='related_document_once_per_review'),
        ),
        migrations.AddConstraint(
            model_name='checkresult',
            constraint=models.UniqueConstraint(fields=('review', 'item_version'), name='one_result_per_check'),
        ),
        migrations.AddConstraint(
            model_name='reviewedition',
            constraint=models.UniqueConstraint(fields=('review', 'edition'), name='one_pin_per_review_and_edition'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_ja'), 10000), name='review_scenario_description_ja_length'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_en'), 10000), name='review_scenario_description_en_length'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.CheckConstraint(condition=models.Q(('document_types__len__lte', 500)), name='review_scenario_document_types_items'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.UniqueConstraint(fields=('code', 'number'), name='one_scenario_per_number'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'published')), fields=('code',), name='one_published_scenario'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'draft')), fields=('code',), name='one_scenario_draft'),
        ),
        migrations.AddConstraint(
            model_name='scenarioprogress',
            constraint=models.UniqueConstraint(fields=('user', 'code'), name='one_progress_per_person'),
        ),
        migrations.AddConstraint(
            model_name='scenariostep',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_ja'), 10000), name='review_scenariostep_description_ja_length'),
        ),
        migrations.AddConstraint(
            model_name='scenariostep',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description_en'), 10000), name='review_scenariostep_description_en_length'),
        ),
        migrations.AddConstraint(
            model_name='scenariostep',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('expected_ja'), 10000), name='review_scenariostep_expected_ja_length'),
        ),
        migrations.AddConstraint(
            model_name='scenariostep',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('expected_en'), 10000), name='review_scenariostep_expected_en_length'),
        ),
        migrations.AddConstraint(
            model_name='scenariostep',
            constraint=models.UniqueConstraint(fields=('scenario', 'action'), name='one_step_per_action'),
        ),
        migrations.AddConstraint(
            model_name='signature',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('comment'), 10000), name='review_signature_comment_length'),
        ),
        migrations.AddConstraint(
            model_name='signature',
            constraint=models.UniqueConstraint(fields=('review', 'signer'), name='one_signature_per_signer'),
        ),
        migrations.AddConstraint(
            model_name='suspectmark',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('cleared_reason'), 10000), name='review_suspectmark_cleared_reason_length'),
        ),
        migrations.AddConstraint(
            model_name='suspectmark',
            constraint=models.UniqueConstraint(fields=('check_item', 'article_code', 'edition'), name='one_suspect_mark_per_article_and_edition'),
        ),
    ]
