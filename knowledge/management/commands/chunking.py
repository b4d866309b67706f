"""`manage.py chunking`: how the documents of a collection are cut."""

from __future__ import annotations

from argparse import ArgumentParser

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.collections import get_collection
from knowledge.documents.chunking import cut_otherwise, recut_collection, set_chunking
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit


class Command(HubCommand):
    help = (
        "Show or change how the documents of a collection are cut, and cut those anew that are cut otherwise. "
        "Example: manage.py chunking minutes --size 256 --overlap 20 --reindex"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        default = ChunkOptions()
        parser.add_argument("collection", metavar="SLUG")
        parser.add_argument("--size", type=int, help="of a chunk")
        parser.add_argument("--overlap", type=int, default=default.overlap, help=f"default {default.overlap}")
        parser.add_argument("--strategy", choices=[item.value for item in ChunkStrategy], default=default.strategy)
        parser.add_argument("--unit", choices=[item.value for item in SizeUnit], default=default.unit)
        parser.add_argument("--default", action="store_true", help="cut as the active embedding set does")
        parser.add_argument("--reindex", action="store_true", help="cut those anew that are cut otherwise")

    def handle(
        self,
        *,
        token: str,
        collection: str,
        size: int | None,
        overlap: int,
        strategy: str,
        unit: str,
        default: bool,
        reindex: bool,
        **_options: object,
    ) -> None:
        asked = None
        if size is not None and not default:
            asked = ChunkOptions(strategy=ChunkStrategy(strategy), size=size, overlap=overlap, unit=SizeUnit(unit))
        with cli_call():
            principal = local_principal(token)
            if default or asked is not None:
                set_chunking(principal=principal, slug=collection, chunk_options=asked)
            if reindex:
                self._reindex(principal, collection)
            found = get_collection(principal, collection)
            otherwise = cut_otherwise(principal, found).count()
        self.stdout.write(f"{collection}: {found.policy or 'as the active embedding set'}, cut otherwise {otherwise}")

    def _reindex(self, principal: Principal, collection: str) -> None:
        done = recut_collection(principal=principal, collection=collection)
        for document_id, refused in done.refused:
            self.stderr.write(f"{document_id}: {refused}")
        self.stdout.write(f"started again: {len(done.done)}")
