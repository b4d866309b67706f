"""`manage.py lint_checklist`: what to look at in a check list before it is approved."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from review.curation import item_lint
from review.masters.lint import Weight
from review.masters.schemas import LintOut, lint_out


class Command(HubCommand):
    help = (
        "Look over the items of a check list: by rules, and with --llm by a language model that proposes wording. "
        "Exit code 1 when something keeps it from being approved. "
        "Example: manage.py lint_checklist basic-design --llm"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("code", metavar="CODE", help="of the check list")
        parser.add_argument("--number", type=int, help="of the version; default: the one in force, or else the newest")
        parser.add_argument("--llm", action="store_true", help="a language model looks at the wording, too")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, token: str, code: str, **options: Any) -> None:  # noqa: ANN401
        with cli_call():
            report = item_lint.lint_checklist(
                local_principal(token), code, number=options["number"], with_model=options["llm"], wait_s=None
            )
            facts = lint_out(code, report.version, report.remarks, report.notices)
        if options["json"]:
            self.print_json(facts)
        else:
            self._print(facts)
        sys.exit(1 if any(remark.weight == Weight.ERROR for remark in facts.remarks) else 0)

    def _print(self, facts: LintOut) -> None:
        for remark in facts.remarks:
            self.stdout.write(
                f"{remark.check_item_id}\t{remark.weight}\t{remark.decided_by}\t{remark.code}\t{remark.message}"
            )
            if remark.rewording:
                self.stdout.write(f"\t-> {remark.rewording}")
        for notice in facts.notices:
            self.stderr.write(notice["text"])
