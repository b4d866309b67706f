from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("llm", "0003_forget_callers_models")]

    operations = [
        migrations.AddConstraint(
            model_name="recordedanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(("provider", "sampling"), _negated=True), name="no_recorded_answer_of_callers_models"
            ),
        ),
    ]
