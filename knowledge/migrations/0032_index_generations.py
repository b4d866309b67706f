import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0031_reasons_of_grants"),
    ]

    operations = [
        migrations.CreateModel(
            name="IndexGeneration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("collection", models.CharField(max_length=60, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("building", "Building"), ("ready", "Ready"), ("dropped", "Dropped")],
                        db_index=True,
                        default="building",
                        max_length=10,
                    ),
                ),
                ("shards", models.PositiveIntegerField()),
                ("copies", models.PositiveIntegerField()),
                ("word_length", models.FloatField()),
                ("bigram_length", models.FloatField()),
                ("told_from", models.BigIntegerField(null=True)),
                ("filled_to", models.IntegerField(default=0)),
                ("failure", models.TextField(blank=True, max_length=500)),
                ("reconciled_at", models.DateTimeField(null=True)),
                ("lease_token", models.CharField(blank=True, editable=False, max_length=40)),
                ("lease_expires_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "embedding_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="generations",
                        to="knowledge.embeddingset",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="embeddingset",
            name="generation",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="knowledge.indexgeneration",
            ),
        ),
        migrations.CreateModel(
            name="IndexChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("put", "Put"), ("drop", "Drop"), ("retag", "Retag")], max_length=5),
                ),
                (
                    "numbers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), default=list, size=None
                    ),
                ),
                ("document_id", models.BigIntegerField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("sent_at", models.DateTimeField(null=True)),
                (
                    "generation",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="knowledge.indexgeneration",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("sent_at__isnull", True)),
                        fields=["generation", "id"],
                        name="unsent_index_changes",
                    ),
                    models.Index(fields=["sent_at"], name="sent_index_changes"),
                ],
            },
        ),
    ]
