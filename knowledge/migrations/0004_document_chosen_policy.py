import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0003_own_policies_and_sets_of_one_model'),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='chosen_policy',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.chunkpolicy'),
        ),
    ]
