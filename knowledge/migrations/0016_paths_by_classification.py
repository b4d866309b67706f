"""A path is held once per classification of a collection: one that holds a hidden document is free to others."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef


def rename_twins(apps: Any, _schema: Any) -> None:  # noqa: ANN401
    """On the way back, documents that share a path get names that tell them apart."""
    documents = apps.get_model("knowledge", "Document").objects
    older = documents.filter(collection=OuterRef("collection"), path=OuterRef("path"), pk__lt=OuterRef("pk"))
    for document in documents.filter(Exists(older)):
        documents.filter(pk=document.pk).update(path=f"{document.path[:960]} ({document.public_id})")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0015_former_slugs")]

    operations = [
        migrations.RemoveConstraint(model_name="document", name="one_document_per_path"),
        migrations.RunPython(migrations.RunPython.noop, rename_twins),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                fields=("collection", "path", "classification"), name="one_document_per_place"
            ),
        ),
    ]
