"""``manage.py ocr``: which engine reads scanned pages, and reading again what needs OCR after one was installed."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hub.access.principals import local_operator
from hub.core.errors import HubError
from knowledge.documents.reindexing import retry_unread
from knowledge.ingest.page_readings import engine_edition, engine_name, why_missing


class Command(BaseCommand):
    """Without options it says what is installed."""

    help = "Say which OCR engine is there, or work again on a collection's documents that need OCR."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--retry", metavar="COLLECTION", help="work again on its documents that need OCR")

    def handle(self, *_args: object, **options: str | None) -> None:
        if collection := options["retry"]:
            self._retry(collection)
            return
        name = engine_name()
        self.stdout.write(f"engine: {f'{name} ({engine_edition(name)})' if name else 'none'}")
        for one in ("ppocr", "tesseract"):
            self.stdout.write(f"{one}: {why_missing(one) or 'installed'}")

    def _retry(self, collection: str) -> None:
        try:
            done = retry_unread(principal=local_operator(), collection=collection)
        except HubError as error:
            raise CommandError(str(error)) from error
        for document_id, refused in done.refused:
            self.stderr.write(f"{document_id}: {refused}")
        self.stdout.write(f"started again: {len(done.done)}")
