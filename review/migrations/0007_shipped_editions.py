from django.db import migrations, models
from django.db.migrations.state import StateApps

SHIPPED = ("basic-design", "test-plan")
BEFORE_EDITIONS = "0"


def mark_loaded(apps: StateApps, schema_editor: object) -> None:
    """Mark what the first start loaded: the first version of a shipped list, and its items approved with it."""
    versions = apps.get_model("review", "CheckListVersion").objects
    items = apps.get_model("review", "CheckItemVersion").objects
    for version in versions.filter(checklist__code__in=SHIPPED, number=1, author=None, approved_by=None):
        entries = version.entries.values("item_version")
        loaded = items.filter(pk__in=entries, number=1, author=None, approved_by=None, reason="")
        loaded.update(shipped_edition=BEFORE_EDITIONS)
        versions.filter(pk=version.pk).update(shipped_edition=BEFORE_EDITIONS)


class Migration(migrations.Migration):
    dependencies = [("review", "0006_masters")]

    operations = [
        migrations.AddField(
            model_name="checkitemversion",
            name="shipped_edition",
            field=models.CharField(blank=True, editable=False, max_length=16),
        ),
        migrations.AddField(
            model_name="checklistversion",
            name="shipped_edition",
            field=models.CharField(blank=True, editable=False, max_length=16),
        ),
        migrations.RunPython(mark_loaded, migrations.RunPython.noop, elidable=True),
    ]
