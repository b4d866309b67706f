"""`manage.py lint`: judge a file or standard input by the text rules."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import CommandError

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from knowledge.parsers.encoding import decode_text
from knowledge.parsers.errors import ParseError
from review.lint import LintOut, TextFormat, lint_out, lint_text

_PLAIN_SUFFIXES = frozenset({".txt", ".text", ".log"})


class Command(HubCommand):
    help = (
        "Judge a text by the text rules; nothing is stored. Exit code 1 with findings. "
        "Example: manage.py lint 原稿.md --rules style.sentence_length,textlint:no-doubled-joshi"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE|-", help="a text or Markdown file; - reads standard input")
        parser.add_argument(
            "--rules", default="", metavar="RULE,…", help="ids, prefixes (style.*) or aliases (textlint:…)"
        )
        parser.add_argument(
            "--format",
            choices=[each.value for each in TextFormat],
            help="default: text for .txt, else markdown",
        )
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *, token: str, file: str, rules: str, format: str | None, json: bool, **_options: object) -> None:
        with cli_call():
            text, is_plain = _read(file), Path(file).suffix.lower() in _PLAIN_SUFFIXES
            result = lint_text(
                principal=local_principal(token),
                text=text,
                rules=[name for name in (part.strip() for part in rules.split(",")) if name],
                text_format=format or (TextFormat.TEXT if is_plain else TextFormat.MARKDOWN),
            )
            found = lint_out(result)
        if json:
            self.print_json(found)
        else:
            self._print(found, name="-" if file == "-" else file)
        sys.exit(1 if found.findings else 0)

    def _print(self, found: LintOut, *, name: str) -> None:
        for finding in found.findings:
            place = f"{finding.location.line_range[0]}:{finding.location.column}" if finding.location else "0:0"
            self.stdout.write(f"{name}:{place} {finding.severity} {finding.message} [{finding.rule_id}]")
        for notice in found.notices:
            self.stderr.write(notice["ja"])


def _read(name: str) -> str:
    if name != "-" and not Path(name).is_file():
        raise CommandError(f"there is no file {name}; give a file, or - for standard input")
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        return decode_text(data).text if data else ""
    except ParseError as error:
        raise CommandError(f"{name}: {error}") from error
