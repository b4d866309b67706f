import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0003_audit_lines_keep_their_person")]

    operations = [
        migrations.AddField(
            model_name="idempotencyrecord",
            name="rights",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=100), null=True, size=None
            ),
        ),
    ]
