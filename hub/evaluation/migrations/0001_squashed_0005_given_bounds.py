import django.core.validators
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
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_runs_over_time'),
        ('evaluation', '0003_pins_digest'),
        ('evaluation', '0004_bounds_of_weights'),
        ('evaluation', '0005_given_bounds'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='EvaluationDataset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.SlugField(max_length=63, unique=True, verbose_name='code')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('is_nightly', models.BooleanField(default=False, verbose_name='run every night')),
                ('guards', hub.core.given_fields.GivenList(base_field=models.CharField(max_length=80), blank=True, default=list, most=500, size=None, verbose_name='guards')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('readers', models.ManyToManyField(blank=True, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='readers')),
            ],
            options={
                'verbose_name': 'evaluation dataset',
                'verbose_name_plural': 'evaluation datasets',
                'ordering': ['code'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('guards__len__lte', 500)), name='evaluation_evaluationdataset_guards_items'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EvaluationCase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=30, verbose_name='kind')),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('input', hub.core.given_fields.GivenJson(verbose_name='input')),
                ('expected', hub.core.given_fields.GivenJson(verbose_name='expected')),
                ('weight', models.FloatField(default=1.0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000)], verbose_name='weight')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.evaluationdataset')),
            ],
            options={
                'verbose_name': 'evaluation case',
                'verbose_name_plural': 'evaluation cases',
                'ordering': ['pk'],
                'constraints': [
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('input', models.TextField())), 1048576), name='evaluation_evaluationcase_input_size'),
                    models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length(django.db.models.functions.comparison.Cast('expected', models.TextField())), 1048576), name='evaluation_evaluationcase_expected_size'),
                    models.UniqueConstraint(fields=('dataset', 'kind', 'digest'), name='one_case_per_input'),
                    models.CheckConstraint(condition=models.Q(models.Q(('weight__gte', 0), ('weight__lte', 1000)), ('weight__isnull', True), _connector='OR'), name='evaluation_evaluationcase_weight_bounds'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EvaluationRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=functools.partial(hub.core.ids.new_id, *('run',), **{}), editable=False, max_length=40, unique=True)),
                ('kind', models.CharField(max_length=30, verbose_name='kind')),
                ('subject', models.CharField(max_length=200, verbose_name='subject')),
                ('parameters', models.JSONField(default=dict, verbose_name='settings')),
                ('metrics', models.JSONField(default=dict, verbose_name='measures')),
                ('scores', models.JSONField(default=dict)),
                ('details', models.JSONField(default=dict)),
                ('is_baseline', models.BooleanField(default=False, verbose_name='baseline')),
                ('status', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('completed', 'completed'), ('failed', 'failed')], default='completed', max_length=10, verbose_name='state')),
                ('progress', models.PositiveSmallIntegerField(default=100, verbose_name='progress')),
                ('error', models.TextField(blank=True, verbose_name='reason')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.CharField(blank=True, max_length=40)),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True, verbose_name='finished')),
                ('flips', models.JSONField(default=list)),
                ('pins_digest', models.CharField(blank=True, db_index=True, default='', editable=False, max_length=64)),
                ('principal', models.CharField(max_length=150, verbose_name='who')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('baseline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='evaluation.evaluationrun')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='evaluation.evaluationdataset')),
                ('requested_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'evaluation run',
                'verbose_name_plural': 'evaluation runs',
                'ordering': ['-id'],
                'indexes': [
                    models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['created_at'], name='evaluation_unfinished'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('is_baseline', True)), fields=('dataset', 'kind'), name='one_baseline_per_dataset'),
                ],
            },
        ),
        ]
