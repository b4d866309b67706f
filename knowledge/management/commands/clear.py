"""`manage.py clear`: remove the documents of a collection, or all."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from hub.access.local import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.services.documents import delete_document
from knowledge.services.reading import list_documents


class Command(HubCommand):
    help = "Delete documents and their vectors. Example: manage.py clear --collection drafts --yes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--collection", default="", metavar="SLUG", help="default: all collections")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *, token: str, collection: str, yes: bool, **_options: object) -> None:
        with cli_call():
            principal = local_principal(token)
            ids = list(list_documents(principal, collection=collection).values_list("public_id", flat=True))
            where = f"collection {collection}" if collection else "ALL collections"
            if ids and not yes and input(f"Delete {len(ids)} documents of {where}? [y/N] ").lower() != "y":
                raise CommandError("nothing was deleted")
            receipts = [delete_document(principal=principal, document_id=document_id) for document_id in ids]
        chunks = sum(receipt.counts["chunks"] for receipt in receipts)
        self.stdout.write(f"documents {len(receipts)}, chunks {chunks} deleted")
