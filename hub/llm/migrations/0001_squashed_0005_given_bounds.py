import django.contrib.postgres.fields
import django.contrib.postgres.indexes
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
        ('llm', '0001_initial'),
        ('llm', '0002_no_training_confirmations'),
        ('llm', '0003_forget_callers_models'),
        ('llm', '0004_no_answers_of_callers_models'),
        ('llm', '0005_given_bounds'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RecordedAnswer',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('provider', models.CharField(max_length=20)),
                ('model', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('finish_reason', models.CharField(max_length=10)),
                ('tokens_in', models.PositiveIntegerField()),
                ('tokens_out', models.PositiveIntegerField()),
                ('usage_is_estimated', models.BooleanField(default=False)),
                ('purpose', models.CharField(max_length=40)),
                ('document_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['document_ids'], name='recorded_answer_document')],
                'constraints': [models.CheckConstraint(condition=models.Q(('provider', 'sampling'), _negated=True), name='no_recorded_answer_of_callers_models')],
            },
        ),
        migrations.CreateModel(
            name='TokenRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=20)),
                ('model', models.CharField(max_length=200)),
                ('estimated', models.PositiveBigIntegerField(default=0)),
                ('counted', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('provider', 'model'), name='one_token_rate_per_model')],
            },
        ),
        migrations.CreateModel(
            name='ProviderConfirmation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=20, verbose_name='provider')),
                ('endpoint', models.CharField(max_length=300, verbose_name='endpoint')),
                ('evidence', hub.core.given_fields.GivenText(help_text='Where it is written: contract, terms with their date, or setting of the account.', max_length=10000, verbose_name='evidence')),
                ('retention', models.CharField(help_text='What it keeps of requests, and for how long.', max_length=300, verbose_name='what the provider keeps')),
                ('confirmed_by_name', models.CharField(editable=False, max_length=150, verbose_name='confirmed by')),
                ('confirmed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='confirmed at')),
                ('withdrawn_by_name', models.CharField(blank=True, editable=False, max_length=150, verbose_name='withdrawn by')),
                ('withdrawn_at', models.DateTimeField(editable=False, null=True, verbose_name='withdrawn at')),
                ('confirmed_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'no-training confirmation',
                'verbose_name_plural': 'no-training confirmations',
                'ordering': ['-confirmed_at'],
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('evidence'), 10000), name='llm_providerconfirmation_evidence_length'), models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('provider', 'endpoint'), name='one_confirmation_in_force')],
            },
        ),
    ]
