"""`manage.py index`: a folder tree into a collection."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import NoReturn

from django.conf import settings
from tqdm import tqdm

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.collections import DEFAULT_COLLECTION, get_collection
from knowledge.documents.anonymising import read_anonymising
from knowledge.documents.folder_reports import FolderReport
from knowledge.documents.folders import index_folder
from knowledge.types.anonymising import KINDS
from knowledge.types.chunks import ChunkOptions, ChunkStrategy, SizeUnit

SIZE, OVERLAP = 500, 100


def add_anonymising(parser: ArgumentParser) -> None:
    """Add the options of what is replaced before anything of a file is stored."""
    parser.add_argument(
        "--anonymise",
        nargs="+",
        choices=list(KINDS),
        default=[],
        metavar="KIND",
        help=f"replace before anything is stored, beside what the collection's curators chose: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--anonymise-fields", nargs="+", default=[], metavar="NAME", help="replace the values of these fields"
    )


class Command(HubCommand):
    help = (
        "Index the files of a folder tree; files that are gone are retired. Exit code 1 when a file failed. "
        "Example: manage.py index -d docs/ -i --collection guidelines"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("-d", "--directory", type=Path, default=settings.CONFIG.source_dir)
        otherwise = "characters (default: as the collection says, else {})"
        parser.add_argument("-s", "--chunk-size", type=int, help=otherwise.format(SIZE))
        parser.add_argument("-o", "--chunk-overlap", type=int, help=otherwise.format(OVERLAP))
        parser.add_argument("-i", "--incremental", action="store_true", help="only new, changed and removed files")
        parser.add_argument("--collection", default=DEFAULT_COLLECTION, metavar="SLUG")
        add_anonymising(parser)
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(
        self,
        *,
        token: str,
        directory: Path,
        chunk_size: int | None,
        chunk_overlap: int | None,
        incremental: bool,
        collection: str,
        json: bool,
        anonymise: list[str],
        anonymise_fields: list[str],
        **_options: object,
    ) -> None:
        with cli_call(), tqdm(unit="file", disable=not sys.stderr.isatty()) as bar:
            principal = local_principal(token)
            options = _chunk_options(principal, collection, chunk_size, chunk_overlap)
            report = index_folder(
                principal=principal,
                folder=directory,
                collection=collection,
                chunk_options=options,
                incremental=incremental,
                anonymise=read_anonymising(anonymise, anonymise_fields),
                on_progress=lambda done, total: _show(bar, done, total),
            )
        self._print(report, as_json=json)
        if report.failures:
            sys.exit(1)

    def _print(self, report: FolderReport, *, as_json: bool) -> None:
        for path, reason in report.failures:
            self.stderr.write(f"{path}: {reason}")
        summary = {
            "new": report.new,
            "changed": report.changed,
            "unchanged": report.unchanged,
            "removed": report.removed,
            "failed": len(report.failures),
        }
        if as_json:
            self.print_json({**summary, "failures": [{"path": path, "reason": why} for path, why in report.failures]})
        else:
            self.stdout.write(", ".join(f"{name} {count}" for name, count in summary.items()))


def _chunk_options(principal: Principal, collection: str, size: int | None, overlap: int | None) -> ChunkOptions | None:
    """What was asked for, with defaults for what was left out; None when nothing was, and the collection says how."""
    if size is None and overlap is None and get_collection(principal, collection).policy is not None:
        return None
    return ChunkOptions(
        strategy=ChunkStrategy.SECTION,
        size=SIZE if size is None else size,
        overlap=OVERLAP if overlap is None else overlap,
        unit=SizeUnit.CHARACTERS,
    )


def _show(bar: tqdm[NoReturn], done: int, total: int) -> None:
    bar.total = total
    bar.n = done
    bar.refresh()
