"""What the hub's commands share: who calls, in which language, and output that people and programs can read."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import translation
from pydantic import BaseModel

from hub.core.context import CallContext, call_context, purpose_of
from hub.core.ids import new_id

_purpose: ContextVar[str] = ContextVar("hub_command_purpose", default="")


class HubCommand(BaseCommand):
    """A command that acts for a caller: ``--token`` or HUB_TOKEN, else the local operator."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--token", default="", help="act as the owner of this access token (default: HUB_TOKEN)")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:  # noqa: ANN401
        """Give every command ``--purpose``, whatever else it takes."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--purpose", default="", help="what this is done for, for the audit trail (default: HUB_PURPOSE)"
        )
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:  # noqa: ANN401
        """Run the command as Django does, with its purpose known to what it calls."""
        given = _purpose.set(purpose_of(options.get("purpose")))
        try:
            return super().execute(*args, **options)
        finally:
            _purpose.reset(given)

    def print_json(self, value: BaseModel | Mapping[str, object]) -> None:
        """Print one JSON document in UTF-8."""
        facts = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        self.stdout.write(json.dumps(facts, ensure_ascii=False, indent=2))


@contextmanager
def cli_call() -> Iterator[None]:
    """Run a command's body as one call of the door ``cli``, in the language of the terminal (Japanese by default)."""
    call = CallContext(door="cli", request_id=new_id("cli"), purpose=_purpose.get() or settings.CONFIG.hub_purpose)
    with call_context(call), translation.override(terminal_language()):
        yield


def terminal_language() -> str:
    """``en`` when the terminal's locale is English, else ``ja``."""
    return locale_language() or "ja"


def locale_language() -> str | None:
    """The language of the terminal's locale, where it says Japanese or English."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return locale[:2] if locale[:2] in ("ja", "en") else None
