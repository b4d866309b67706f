"""Slugs of deleted collections stay reserved, and receipts belong to a collection's key instead of its slug."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import OuterRef, Subquery
from django.utils import timezone


def bind_receipts(apps: Any, _schema: Any) -> None:  # noqa: ANN401
    """A receipt belongs to the collection with its slug, unless that one is younger than the receipt."""
    receipts = apps.get_model("knowledge", "DeletionReceipt").objects
    collections = apps.get_model("knowledge", "Collection").objects
    of_slug = collections.filter(slug=OuterRef("collection_slug"), created_at__lte=OuterRef("deleted_at"))
    receipts.update(collection_key=Subquery(of_slug.values("pk")[:1]))


def reserve_slugs(apps: Any, _schema: Any) -> None:  # noqa: ANN401
    """Slugs of collections that are gone, as far as receipts and the audit name them."""
    former, collections = (apps.get_model("knowledge", name).objects for name in ("FormerSlug", "Collection"))
    receipts = apps.get_model("knowledge", "DeletionReceipt").objects
    events = apps.get_model("access", "AuditEvent").objects
    deleted = events.filter(action="COLLECTION_DELETE").values_list("resource", flat=True)
    named = {resource.partition(":")[2] for resource in deleted}
    named |= set(receipts.values_list("collection_slug", flat=True))
    gone = named - set(collections.values_list("slug", flat=True)) - {""}
    former.bulk_create([former.model(slug=slug[:63]) for slug in sorted(gone)], ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial"), ("knowledge", "0014_pending_bytes")]

    operations = [
        migrations.CreateModel(
            name="FormerSlug",
            fields=[
                ("slug", models.CharField(max_length=63, primary_key=True, serialize=False)),
                ("deleted_at", models.DateTimeField(default=timezone.now)),
            ],
        ),
        migrations.AddField(
            model_name="deletionreceipt",
            name="collection_key",
            field=models.BigIntegerField(db_index=True, null=True),
        ),
        migrations.AddField(
            model_name="deletionreceipt",
            name="classification",
            field=models.PositiveSmallIntegerField(
                choices=[(1, "c1 (public)"), (2, "c2 (internal)"), (3, "c3 (confidential)")], default=1
            ),
        ),
        migrations.RunPython(bind_receipts, migrations.RunPython.noop),
        migrations.RunPython(reserve_slugs, migrations.RunPython.noop),
    ]
