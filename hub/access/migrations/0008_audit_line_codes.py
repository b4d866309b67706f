from django.db import migrations, models

KINDS = [
    ('', 'before the chain'),
    ('read', 'reading'),
    ('change', 'change'),
    ('access', 'sign-in and rights'),
    ('kept', 'kept for good'),
]


class Migration(migrations.Migration):
    """What a line of the audit trail says more: its purpose, its kind, and the code that proves it."""

    dependencies = [('access', '0007_identity_providers')]

    operations = [
        migrations.AddField(
            model_name='auditevent',
            name='purpose',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=200, verbose_name='purpose'),
        ),
        migrations.AddField(
            model_name='auditevent',
            name='kind',
            field=models.CharField(choices=KINDS, db_default='', default='', editable=False, max_length=10, verbose_name='kind'),
        ),
        migrations.AddField(
            model_name='auditevent',
            name='code',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=80, verbose_name='code'),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['principal', '-id'], name='access_audi_princip_7cc174_idx'),
        ),
    ]
