"""`manage.py count`: how much is there to be searched."""

from __future__ import annotations

from argparse import ArgumentParser

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.documents.reading import count_documents
from knowledge.documents.schemas import CountOut


class Command(HubCommand):
    help = "Print the number of documents and of chunks. Example: manage.py count --collection default"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--collection", default="", metavar="SLUG", help="default: all collections")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, token: str, collection: str, json: bool, **_options: object) -> None:
        with cli_call():
            documents, chunks = count_documents(local_principal(token), collection=collection)
        if json:
            self.print_json(CountOut(documents=documents, chunks=chunks))
        else:
            self.stdout.write(f"documents {documents}, chunks {chunks}")
