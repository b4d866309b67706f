"""`manage.py clear`: remove the documents of a collection, or all."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from django.core.management.base import CommandError

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.core.errors import HubError, NotFound
from knowledge.documents.deletion import delete_document
from knowledge.documents.reading import list_documents
from knowledge.models import DeletionReceipt


class Command(HubCommand):
    help = (
        "Delete documents and their vectors. Exit code 1 when some are kept, as under a legal hold. "
        "Example: manage.py clear --collection drafts --yes"
    )

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
            receipts, kept = self._delete(principal, ids)
        chunks = sum(receipt.counts["chunks"] for receipt in receipts)
        self.stdout.write(f"documents {len(receipts)}, chunks {chunks} deleted")
        if kept:
            sys.exit(1)

    def _delete(self, principal: Principal, ids: list[str]) -> tuple[list[DeletionReceipt], int]:
        """Delete what may be deleted; what is kept, as under a legal hold, is printed with the reason and counted."""
        receipts: list[DeletionReceipt] = []
        kept = 0
        for document_id in ids:
            try:
                receipts.append(delete_document(principal=principal, document_id=document_id))
            except NotFound:
                continue  # somebody else was faster
            except HubError as error:
                self.stderr.write(f"{document_id}: {error}")
                kept += 1
        return receipts, kept
