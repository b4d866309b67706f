from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0043_moment_of_reset'),
    ]

    operations = [
        migrations.AddField(
            model_name='documentversion',
            name='goes_first',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
