from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0044_versions_that_go_first'),
    ]

    operations = [
        migrations.AddField(
            model_name='documentversion',
            name='title_before',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=500),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='title_given',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=500),
        ),
    ]
