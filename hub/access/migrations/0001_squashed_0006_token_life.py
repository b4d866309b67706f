import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('access', '0001_initial'),
        ('access', '0002_hub_roles'),
        ('access', '0003_audit_lines_keep_their_person'),
        ('access', '0004_rights_of_kept_answers'),
        ('access', '0005_empty_kept_answers'),
        ('access', '0006_token_life'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('password_stamp', models.CharField(editable=False, max_length=64)),
                ('hint', models.CharField(editable=False, max_length=12, verbose_name='begins with')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read'), ('search', 'search'), ('upload', 'upload'), ('review', 'review'), ('triage', 'triage'), ('curate', 'curate'), ('audit', 'audit'), ('admin', 'admin')], max_length=20), size=None, verbose_name='scopes')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created')),
                ('expires_at', models.DateTimeField(blank=True, verbose_name='expires')),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='revoked')),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='last used')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'access token',
                'verbose_name_plural': 'access tokens',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Clearance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ceiling', models.PositiveSmallIntegerField(choices=[(1, 'c1 (public)'), (2, 'c2 (internal)'), (3, 'c3 (confidential)')], default=2, verbose_name='ceiling')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'clearance',
                'verbose_name_plural': 'clearances',
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('principal', models.CharField(max_length=150)),
                ('request_digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('headers', models.JSONField(default=dict)),
                ('body', models.BinaryField(default=bytes)),
                ('rights', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), null=True, size=None)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('principal', 'key'), name='one_answer_per_idempotency_key')],
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='at')),
                ('action', models.CharField(editable=False, max_length=40, verbose_name='action')),
                ('principal', models.CharField(editable=False, max_length=150, verbose_name='who')),
                ('resource', models.CharField(blank=True, editable=False, max_length=200, verbose_name='resource')),
                ('details', models.JSONField(default=dict, editable=False, verbose_name='details')),
                ('door', models.CharField(blank=True, editable=False, max_length=10, verbose_name='door')),
                ('request_id', models.CharField(blank=True, editable=False, max_length=64, verbose_name='request id')),
                ('address', models.GenericIPAddressField(editable=False, null=True, verbose_name='address')),
                ('agent', models.CharField(blank=True, editable=False, max_length=200, verbose_name='agent')),
                ('user', models.ForeignKey(db_constraint=False, editable=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'audit event',
                'verbose_name_plural': 'audit events',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['action', '-id'], name='access_audi_action_d90f2a_idx'), models.Index(fields=['resource', '-id'], name='access_audi_resourc_f06245_idx')],
            },
        ),
        migrations.CreateModel(
            name='HubRoleGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('curator', 'Hub curator')], default='curator', max_length=20, verbose_name='role')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='hub_role_grants', to='auth.group', verbose_name='group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='hub_role_grants', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'hub role',
                'verbose_name_plural': 'hub roles',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', True), ('user__isnull', False)), models.Q(('group__isnull', False), ('user__isnull', True)), _connector='OR'), name='hub_role_is_for_a_user_or_a_group', violation_error_message='Choose a user or a group, not both.'), models.UniqueConstraint(fields=('user', 'role'), name='one_hub_role_per_user'), models.UniqueConstraint(fields=('group', 'role'), name='one_hub_role_per_group')],
            },
        ),
    ]
