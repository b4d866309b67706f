from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0004_document_chosen_policy'),
    ]

    operations = [
        migrations.AlterField(
            model_name='chunkpolicy',
            name='strategy',
            field=models.CharField(choices=[('section', 'section'), ('fixed', 'fixed'), ('semantic', 'semantic')], max_length=20),
        ),
    ]
