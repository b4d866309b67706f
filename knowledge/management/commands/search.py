"""`manage.py search`: find passages with citations."""

from __future__ import annotations

from argparse import ArgumentParser

from hub.access.local import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.schemas import search_out
from knowledge.search.hybrid import search
from knowledge.types import Hit, SearchFilter, SearchMode, SearchQuery

SHOWN_CHARACTERS = 200


class Command(HubCommand):
    help = "Search the documents. Example: manage.py search 個人情報の取扱い --limit 3 --mode hybrid"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query", metavar="QUERY")
        parser.add_argument("--limit", type=int, default=5)
        parser.add_argument("--mode", choices=[mode.value for mode in SearchMode], default=SearchMode.HYBRID.value)
        parser.add_argument("--collection", default="", metavar="SLUG", help="default: all collections")
        parser.add_argument("--json", action="store_true")

    def handle(
        self, *, token: str, query: str, limit: int, mode: str, collection: str, json: bool, **_options: object
    ) -> None:
        with cli_call():
            restriction = SearchFilter(collections=(collection,) if collection else ())
            asked = SearchQuery(text=query, limit=limit, mode=SearchMode(mode), filter=restriction)
            result = search(local_principal(token), asked)
        if json:
            self.print_json(search_out(result, next_cursor=None))
            return
        for number, hit in enumerate(result.hits, 1):
            self.stdout.write(_lines(number, hit))
        for notice in result.notices:
            self.stderr.write(notice.ja)


def _lines(number: int, hit: Hit) -> str:
    place = [hit.document_path, *hit.section_path]
    if hit.page is not None:
        place.append(f"p. {hit.page}")
    if hit.cell:
        place.append(hit.cell)
    text = " ".join(hit.content.split())
    shown = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    score = "-" if hit.score is None else f"{hit.score:.2f}"
    return (
        f"{number}. [{score}] {' > '.join(place)}\n   {hit.chunk_id} [{hit.start_offset}, {hit.end_offset})\n   {shown}"
    )
