"""`manage.py review`: review a file or a document and print the report."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hub.access.principals import Principal
from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.core.private_files import write_for_person
from hub.llm.providers.registry import get_provider
from knowledge.collections import DEFAULT_COLLECTION
from knowledge.documents.documents import get_document
from knowledge.documents.uploads import Upload, create_document, hash_file
from knowledge.documents.workers import work_through
from review.judging.sweep.reading import CATEGORIES as SWEEP_CATEGORIES
from review.models import CheckList
from review.report import RENDERERS, build_report
from review.runs.reviews import (
    SUGGESTION_LEVELS,
    ReviewOptions,
    get_review,
    start_review,
    wait_for_review,
)
from review.runs.steps import CHOICES as STEP_CHOICES

EXIT_CODES = {"pass": 0, "warning": 0, "fail": 1}
CANNOT_JUDGE = 2


SECOND_OPINION_HELP = "a language model looks again at what rules judged; auto: as LLM_SECOND_OPINION says"
SWEEP_HELP = "a language model reads the whole document; auto: as LLM_SWEEP says"


class Command(HubCommand):
    help = (
        "Review a file (it is indexed if needed) or a document that is there. Exit code 0 pass or warning, 1 fail, "
        "2 error. Example: manage.py review 基本設計書.docx --checklist basic-design --format markdown"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("document", metavar="FILE|DOCUMENT_ID")
        parser.add_argument("--checklist", default="", metavar="CODE", help="default: the one for the document's type")
        parser.add_argument(
            "--related",
            action="append",
            default=[],
            metavar="FILE|DOCUMENT_ID",
            help="compare with this document, such as the requirements of a design; may be given several times",
        )
        parser.add_argument("--collection", default=DEFAULT_COLLECTION, metavar="SLUG", help="for a file")
        parser.add_argument("--format", choices=list(RENDERERS), default="markdown")
        parser.add_argument(
            "--llm",
            choices=["none", "openai", "openai-compatible", "bedrock"],
            metavar="PROVIDER",
            help="who judges what rules can't: none, openai or bedrock; default: LLM_PROVIDER",
        )
        parser.add_argument(
            "--suggestions",
            choices=SUGGESTION_LEVELS,
            default="basic",
            help="none, those of the rules (basic, the default), or those of a language model beside them (detailed)",
        )
        parser.add_argument(
            "--min-confidence", type=float, default=0.0, metavar="0…1", help="leave out findings that are less sure"
        )
        for name, said in (("second-opinion", SECOND_OPINION_HELP), ("sweep", SWEEP_HELP)):
            parser.add_argument(f"--{name}", choices=STEP_CHOICES, default="auto", help=said)
        parser.add_argument(
            "--sweep-categories",
            nargs="+",
            choices=SWEEP_CATEGORIES,
            default=[],
            metavar="CATEGORY",
            help=f"read the whole document for these only: {', '.join(SWEEP_CATEGORIES)}; default: all",
        )
        parser.add_argument("--output", type=Path, help="write the report there instead of to standard output")
        parser.add_argument(
            "--baseline", default="", metavar="REVIEW_ID", help="an earlier review: the report tells what changed"
        )

    def handle(
        self,
        *,
        token: str,
        document: str,
        format: str,
        output: Path | None,
        baseline: str,
        **options: Any,  # noqa: ANN401
    ) -> None:
        if output is None and not RENDERERS[format].is_text:
            raise CommandError(f"a report in {format} is a file: name it with --output")
        checklist, collection = options["checklist"], options["collection"]
        with cli_call():
            principal = local_principal(token)
            if baseline:
                get_review(principal, baseline)  # an unknown one is reported before the work, not after it
            document_id = _document_id(principal, document, checklist, collection)
            compared = tuple(_ready(principal, name, collection) for name in options["related"])
            asked = replace(_judged_by(options["llm"], related=compared), suggestion_level=options["suggestions"])
            asked = replace(asked, min_confidence=options["min_confidence"])
            asked = replace(asked, second_opinion=options["second_opinion"], sweep=options["sweep"])
            asked = replace(asked, sweep_categories=tuple(options["sweep_categories"]))
            review = start_review(principal=principal, document_id=document_id, checklist=checklist, options=asked)
            wait_for_review(review, timeout_s=None, on_progress=self._show)
            report = build_report(
                principal=principal, review_id=review.public_id, report_format=format, baseline=baseline
            )
            review.refresh_from_db(fields=["verdict", "error"])
        if output:
            write_for_person(output, report.content)
        else:
            self.stdout.write(report.content.decode())
        if review.error:
            self.stderr.write(review.error)
        sys.exit(EXIT_CODES.get(review.verdict, CANNOT_JUDGE))

    def _show(self, percent: int, status: str) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"{status} {percent} %")


def _judged_by(llm: str | None, *, related: tuple[str, ...]) -> ReviewOptions:
    """Rules only with none; another provider is asked whether it can be had before anything starts."""
    if llm == "none":
        return ReviewOptions(judge="rules", related_documents=related)
    provider = (llm or "").removesuffix("-compatible")
    if provider:
        get_provider(provider)
    judge = "server" if provider else "auto"
    return ReviewOptions(llm_provider=provider, judge=judge, related_documents=related)


def _document_id(principal: Principal, name: str, checklist: str, collection: str) -> str:
    """The document that ``name`` means: a file on disk, taken in now, or an id."""
    path = Path(name)
    if name.startswith("doc_") and not path.exists():
        return name
    if not path.is_file():
        raise CommandError(f"there is no file {name}; give a file or a document id (doc_…)")
    sha256, size_bytes = hash_file(path)
    upload = Upload(
        file=path,
        filename=path.name,
        sha256=sha256,
        size_bytes=size_bytes,
        collection=collection,
        document_type=_type_for(checklist),
    )
    return create_document(principal=principal, upload=upload).document.public_id


def _ready(principal: Principal, name: str, collection: str) -> str:
    """The id of a document to compare with, once its text is there."""
    document = get_document(principal, _document_id(principal, name, "", collection))
    if document.latest_version_id is not None:
        work_through([document.latest_version_id])
    return document.public_id


def _type_for(checklist: str) -> str:
    """A file reviewed against a named check list is of the first type that the list is for, unless it has one."""
    found = CheckList.objects.filter(code=checklist).first()
    return found.document_types[0] if found and found.document_types else ""
