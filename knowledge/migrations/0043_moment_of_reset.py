from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0042_types_that_uploads_changed'),
    ]

    operations = [
        migrations.AddField(
            model_name='documentversion',
            name='reset_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
