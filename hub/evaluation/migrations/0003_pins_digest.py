from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0002_runs_over_time")]

    operations = [
        migrations.AddField(
            model_name="evaluationrun",
            name="pins_digest",
            field=models.CharField(blank=True, db_index=True, default="", editable=False, max_length=64),
        ),
    ]
