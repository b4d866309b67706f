"""What the hub's commands share: who calls, in which language, and output that people and programs can read."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.core.management.base import BaseCommand
from django.utils import translation
from pydantic import BaseModel

from hub.core.context import CallContext, call_context
from hub.core.ids import new_id


class HubCommand(BaseCommand):
    """A command that acts for a caller: ``--token`` or HUB_TOKEN, else the local operator."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--token", default="", help="act as the owner of this access token (default: HUB_TOKEN)")

    def print_json(self, value: BaseModel | Mapping[str, object]) -> None:
        """Print one JSON document in UTF-8."""
        facts = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        self.stdout.write(json.dumps(facts, ensure_ascii=False, indent=2))


@contextmanager
def cli_call() -> Iterator[None]:
    """Run a command's body as one call of the door ``cli``, in the language of the terminal (Japanese by default)."""
    with call_context(CallContext(door="cli", request_id=new_id("cli"))), translation.override(terminal_language()):
        yield


def terminal_language() -> str:
    """``en`` when the terminal's locale is English, else ``ja``."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "en" if locale.startswith("en") else "ja"
