"""`manage.py search`: find passages with citations."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from datetime import date
from json import dumps
from typing import Any

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.core.languages import shown
from knowledge.answering import search_passages
from knowledge.search import best_window, search_out
from knowledge.types.search import (
    Hit,
    SearchDetail,
    SearchFilter,
    SearchMode,
    SearchQuery,
    SearchResult,
    SearchSource,
)

SHOWN_CHARACTERS = 200
LEAD_CHARACTERS = 20


class Command(HubCommand):
    help = "Search the documents. Example: manage.py search 個人情報の取扱い --limit 3 --mode hybrid"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query", metavar="QUERY")
        parser.add_argument("--limit", type=int, default=5)
        parser.add_argument("--mode", choices=[mode.value for mode in SearchMode], default=SearchMode.HYBRID.value)
        parser.add_argument("--collection", default="", metavar="SLUG", help="default: all collections")
        parser.add_argument(
            "--type", action="append", default=[], metavar="CODE", help="document type, such as guideline"
        )
        parser.add_argument(
            "--section", action="append", default=[], metavar="HEADING", help="from the top, or a number"
        )
        parser.add_argument("--classification", action="append", default=[], metavar="C", help="c1, c2 or c3")
        for name in ("created", "updated"):
            parser.add_argument(f"--{name}-from", type=date.fromisoformat, metavar="YYYY-MM-DD")
            parser.add_argument(f"--{name}-to", type=date.fromisoformat, metavar="YYYY-MM-DD", help="this day included")
        parser.add_argument("--per-document", type=int, metavar="N", help="the most passages of one document")
        parser.add_argument(
            "--detail", choices=[level.value for level in SearchDetail], default=SearchDetail.NONE.value
        )
        parser.add_argument(
            "--source", choices=[source.value for source in SearchSource], default=SearchSource.LOCAL.value
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *, token: str, json: bool, **options: Any) -> None:  # noqa: ANN401
        with cli_call():
            query = _query(options)
            if not json and not query.level.includes(SearchDetail.HIGHLIGHTS):
                query = replace(query, detail=SearchDetail.HIGHLIGHTS)
            result = search_passages(local_principal(token), query, source=SearchSource(options["source"]))
            remarks = [shown(notice) for notice in result.notices]
        if json:
            self.print_json(search_out(result, next_cursor=None))
            return
        for number, hit in enumerate(result.hits, 1):
            self.stdout.write(_lines(number, hit))
        for remote in result.remote:
            self.stdout.write(f"{remote.source} {remote.rank}. {remote.address}\n   {_line(remote.content)}")
        for remark in remarks:
            self.stderr.write(remark)
        if result.explanation:
            self.stdout.write(_explained(result))


def _query(options: dict[str, Any]) -> SearchQuery:
    collection = options["collection"]
    dates = {name: options[name] for name in ("created_from", "created_to", "updated_from", "updated_to")}
    return SearchQuery(
        text=options["query"],
        limit=options["limit"],
        mode=SearchMode(options["mode"]),
        detail=SearchDetail(options["detail"]),
        per_document=options["per_document"],
        filter=SearchFilter(
            collections=(collection,) if collection else (),
            document_types=tuple(options["type"]),
            section_path=tuple(options["section"]),
            classifications=tuple(options["classification"]),
            **dates,
        ),
    )


def _explained(result: SearchResult) -> str:
    facts = search_out(result, next_cursor=None).model_dump(include={"explain", "timings_ms"})
    return dumps(facts, ensure_ascii=False, indent=2)


def _lines(number: int, hit: Hit) -> str:
    place = [hit.document_path, *hit.section_path]
    if hit.page is not None:
        place.append(f"p. {hit.page}")
    if hit.cell:
        place.append(hit.cell)
    score = "-" if hit.score is None else f"{hit.score:.2f}"
    offsets = f"{hit.chunk_id} [{hit.start_offset}, {hit.end_offset})"
    return f"{number}. [{score}] {' > '.join(place)}\n   {offsets}\n   {_shown(hit)}"


def _shown(hit: Hit) -> str:
    """The part of a passage that has the most of what was asked for, from a little before it."""
    content = hit.content
    begin = best_window(hit.highlights or (), length=SHOWN_CHARACTERS - LEAD_CHARACTERS)
    begin = max(min(begin - LEAD_CHARACTERS, len(content) - SHOWN_CHARACTERS), 0)
    return ("…" if begin else "") + _line(content[begin:])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + "…"
