from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0009_suggestions_by_models")]

    operations = [
        migrations.AlterField(
            model_name="judgeprompt",
            name="kind",
            field=models.CharField(
                choices=[
                    ("judge", "judging a check"),
                    ("screen", "choosing passages"),
                    ("summary", "summarising sections"),
                ],
                max_length=10,
                verbose_name="purpose",
            ),
        ),
    ]
