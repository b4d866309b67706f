from datetime import timedelta

from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


# In one statement: of a row that was changed twice PostgreSQL would keep checks for later, which an ALTER TABLE can't wait for.
BOUND = """
UPDATE access_accesstoken AS token
SET password_stamp = encode(sha256(convert_to(owner.password, 'UTF8')), 'hex'),
    expires_at = LEAST(COALESCE(token.expires_at, %(last)s), %(last)s)
FROM auth_user AS owner WHERE owner.id = token.user_id
"""


def bound(apps, schema_editor):
    """Give every token an end, and the password that its owner has today. Both stay when this is taken back."""
    last = timezone.now() + timedelta(days=settings.CONFIG.hub_token_max_days)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(BOUND, {"last": last})


class Migration(migrations.Migration):
    dependencies = [("access", "0005_empty_kept_answers"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField(
            model_name="accesstoken",
            name="password_stamp",
            field=models.CharField(default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(bound, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="accesstoken",
            name="expires_at",
            field=models.DateTimeField(blank=True, verbose_name="expires"),
        ),
    ]
