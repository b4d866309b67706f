
from django.conf import settings
from django.db import migrations, models


def keep_the_first(apps, schema_editor):
    """Of two signatures that one person gave under two names, keep the first."""
    seen = set()
    for row in apps.get_model("review", "Signature").objects.filter(signer__isnull=False).order_by("pk"):
        if (row.review_id, row.signer_id) in seen:
            row.delete()
        seen.add((row.review_id, row.signer_id))


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0013_second_person'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(keep_the_first, migrations.RunPython.noop),
        migrations.RemoveConstraint(
            model_name='signature',
            name='one_signature_per_person',
        ),
        migrations.AddConstraint(
            model_name='signature',
            constraint=models.UniqueConstraint(fields=('review', 'signer'), name='one_signature_per_signer'),
        ),
    ]
