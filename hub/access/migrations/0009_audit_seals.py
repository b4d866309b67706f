import django.db.models.deletion
from django.db import migrations, models

KINDS = [
    ('', 'before the chain'),
    ('read', 'reading'),
    ('change', 'change'),
    ('access', 'sign-in and rights'),
    ('kept', 'kept for good'),
]


class Migration(migrations.Migration):
    """The seals of the audit trail, each of a batch of lines and of the seal before it."""

    dependencies = [('access', '0008_audit_line_codes')]

    operations = [
        migrations.CreateModel(
            name='AuditSeal',
            fields=[
                ('number', models.BigIntegerField(editable=False, primary_key=True, serialize=False, verbose_name='number')),
                ('at', models.DateTimeField(editable=False, verbose_name='at')),
                ('first', models.BigIntegerField(editable=False, verbose_name='first line')),
                ('last', models.BigIntegerField(editable=False, verbose_name='last line')),
                ('count', models.PositiveIntegerField(editable=False, verbose_name='lines')),
                ('parts', models.JSONField(editable=False)),
                ('gaps', models.JSONField(editable=False)),
                ('late', models.JSONField(editable=False)),
                ('previous', models.CharField(editable=False, max_length=64)),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('code', models.CharField(editable=False, max_length=80)),
            ],
            options={
                'verbose_name': 'seal of the audit trail',
                'verbose_name_plural': 'seals of the audit trail',
            },
        ),
        migrations.CreateModel(
            name='AuditSealedLines',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=KINDS, editable=False, max_length=10)),
                ('lines', models.BinaryField()),
                ('seal', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.DO_NOTHING, to='access.auditseal')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('seal', 'kind'), name='one_row_of_lines_per_seal_and_kind')],
            },
        ),
    ]
