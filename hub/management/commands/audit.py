"""`manage.py audit verify|seal|export|remove-expired`: the audit trail."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from hub.access.audit_retention import remove_expired
from hub.access.audit_verification import Anchor
from hub.access.principals import HubRight
from hub.access.services import local_principal, record_event
from hub.audit.checks import seal_and_note, summary_of, verify_everything
from hub.audit.events import EventFilter
from hub.audit.exports import FORMATS, export_events
from hub.core.commands import HubCommand, cli_call

ACTIONS = ("verify", "seal", "export", "remove-expired")


class Command(HubCommand):
    help = (
        "Verify the audit trail (exit code 1 with the first line that is not as it was written), seal what is complete "
        "now, export lines, or remove those whose time is over. "
        "Example: manage.py audit export --format csv --day 2026-03-31 --output audit.csv"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("--json", action="store_true", help="verify: the result for programs")
        parser.add_argument(
            "--head",
            action="append",
            default=[],
            metavar="NUMBER:DIGEST",
            help="verify: a seal as it was noted elsewhere, in syslog or on paper",
        )
        parser.add_argument("--format", choices=list(FORMATS), default="csv", help="export: csv, jsonl or cef")
        parser.add_argument("--output", type=Path, help="export: a file; the standard output by default")
        parser.add_argument("--person", default="", help="export: a user name")
        parser.add_argument("--about", default="", help="export: a resource, or a document's id")
        parser.add_argument("--action-name", default="", metavar="ACTION", help="export: SEARCH, DOCUMENT_READ, …")
        parser.add_argument("--day", default="", help="export: one day, 2026-03-31")
        parser.add_argument("--since", default="", help="export: from this day or moment on")
        parser.add_argument("--until", default="", help="export: before this day or moment")

    def handle(self, *, action: str, **options: object) -> None:
        with cli_call():
            getattr(self, "_" + action.replace("-", "_"))(options)

    def _verify(self, options: dict[str, object]) -> None:
        principal = local_principal(str(options["token"]))
        principal.require_hub(HubRight.AUDIT)
        given = options["head"]
        heads = [_anchor(str(text)) for text in given] if isinstance(given, list) else []
        found, unreachable = verify_everything(heads, progress=self._progress)
        record_event(principal, "AUDIT_VERIFY", "audit_trail", lines=found.lines, whole=found.is_whole)
        if options["json"]:
            facts = asdict(found) | {"whole": found.is_whole, "unreachable": unreachable}
            self.print_json(facts | {"first": asdict(found.first) if found.first else None})
        else:
            self.stdout.write(summary_of(found))
            for text in (*unreachable, *map(str, found.problems)):
                self.stderr.write(text)
            if found.first is not None:
                self.stderr.write(f"the first: {found.first}")
        if unreachable or not found.is_whole:
            sys.exit(1)

    def _progress(self, lines: int) -> None:
        if self.stderr.isatty() and lines:
            self.stderr.write(f"{lines} lines\r", ending="")

    def _seal(self, options: dict[str, object]) -> None:
        local_principal(str(options["token"])).require_administrator()
        self.stdout.write(f"{seal_and_note()} seals")

    def _export(self, options: dict[str, object]) -> None:
        wanted = EventFilter(
            principal=str(options["person"]),
            about=str(options["about"]),
            action=str(options["action_name"]),
            day=_day(str(options["day"]), "--day"),
            since=_moment(str(options["since"]), "--since"),
            until=_moment(str(options["until"]), "--until"),
        )
        principal = local_principal(str(options["token"]))
        parts, _form = export_events(principal, wanted, file_format=str(options["format"]))
        output = options["output"]
        if isinstance(output, Path):
            with output.open("wb") as file:
                output.chmod(0o600)
                file.writelines(parts)
            return
        for part in parts:
            self.stdout.write(part.decode(), ending="")

    def _remove_expired(self, options: dict[str, object]) -> None:
        principal = local_principal(str(options["token"]))
        principal.require_administrator()
        removed = remove_expired(principal)
        for kind, count in removed.items():
            self.stdout.write(f"{kind}: {count} lines removed")
        if not removed:
            self.stdout.write("nothing is to be removed")


def _anchor(text: str) -> Anchor:
    number, colon, digest = text.partition(":")
    if not (colon and number.isascii() and number.isdigit() and len(digest) == 64):
        raise CommandError(f"--head: expected NUMBER:DIGEST with 64 digits of a seal, not {text[:100]!r}")
    return Anchor(number=int(number), digest=digest.lower(), where="--head")


def _day(text: str, name: str) -> date | None:
    if not text:
        return None
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise CommandError(f"{name}: expected a day such as 2026-03-31, not {text[:40]!r}")
    return day


def _moment(text: str, name: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None and (day := _day(text, name)):
        moment = datetime(day.year, day.month, day.day)  # noqa: DTZ001 (made aware below)
    assert moment is not None  # noqa: S101 (_day has refused what is no day)
    return moment.astimezone(UTC) if timezone.is_aware(moment) else timezone.make_aware(moment)
