"""`manage.py encryption status|rotate|end|new-key`: under which master keys files are, and moving all under one."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from dataclasses import asdict

from django.core.management.base import CommandError

from hub.access.principals import HubRight, Principal
from hub.access.services import local_principal, record_event
from hub.core.commands import HubCommand, cli_call
from hub.core.encryption.key_text import new_key
from hub.core.errors import HubError
from hub.core.secrets import rotate_secrets
from knowledge.storage import Rotation, end_key, rotate, sealed_state

REPORT_AFTER_S = 2.0


class Command(HubCommand):
    help = (
        "Show how many stored files are under which master key, or bring all of them, and the secrets in the database, "
        "under the first of ENCRYPTION_KEY; plain ones are encrypted. It may be ended and started again. `end KEY_ID` "
        "shows that nothing is under a key any more, so that it can go. Example: manage.py encryption rotate"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=["status", "rotate", "end", "new-key"])
        parser.add_argument("key_id", nargs="?", default="", help="of `end`: the key, as `status` names it")
        parser.add_argument("--confirm", default="", metavar="KEY_ID", help="of `end`: the same once more; do not ask")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, action: str, token: str, json: bool, key_id: str, confirm: str, **_options: object) -> None:
        if action == "new-key":
            self.stdout.write(new_key())
            return
        with cli_call():
            try:
                principal = local_principal(token)
                principal.require_hub(HubRight.OPERATION)
                if action == "status":
                    self._show_state(json=json)
                    return
                if action == "end":
                    self._end(principal, key_id, confirm)
                    return
                record_event(principal, "ENCRYPTION_ROTATE", "store", to=sealed_state().current)
                self._rotate(json=json)
            except HubError as error:
                raise CommandError(str(error)) from error

    def _end(self, principal: Principal, key_id: str, confirmed: str) -> None:
        if not key_id:
            raise CommandError("name the key: manage.py encryption end KEY_ID")
        if (confirmed or input(f"Nothing is ever put under {key_id} again. Type its id to end it: ")) != key_id:
            raise CommandError("no key was ended")
        receipt = end_key(principal=principal, key_id=key_id)
        self.print_json({**asdict(receipt), "ended_at": receipt.ended_at.isoformat()})

    def _show_state(self, *, json: bool) -> None:
        state = sealed_state()
        if json:
            self.print_json({**asdict(state), "unknown": state.unknown, "waiting": state.waiting})
            return
        for key_id, count in state.by_key.items():
            mark = " (current)" if key_id == state.current else " (not configured)" if key_id in state.unknown else ""
            self.stdout.write(f"{count}\t{key_id}{mark}")
        self.stdout.write(f"{state.plain}\tplain")

    def _rotate(self, *, json: bool) -> None:
        total, begun, said = sealed_state().waiting, time.monotonic(), time.monotonic()

        def say(done: Rotation) -> None:
            nonlocal said
            if time.monotonic() - said > REPORT_AFTER_S:
                said = time.monotonic()
                files = done.rewrapped + done.encrypted
                self.stderr.write(f"{files} of {total} files, {done.plain_removed} plain copies removed")

        done = rotate(say)
        secrets = rotate_secrets()
        if json:
            self.print_json({**asdict(done), "secrets": secrets, "seconds": round(time.monotonic() - begun, 1)})
        else:
            self.stdout.write(
                f"{done.rewrapped} keys wrapped anew, {done.encrypted} files encrypted, {done.plain_removed} plain "
                f"copies removed, {secrets} secrets encrypted anew"
            )
        if done.missing:
            self.stderr.write(f"{done.missing} files are not in the store; see manage.py doctor")
        if done.in_use:
            raise CommandError(f"{done.in_use} plain copies are being read and stay; run it again")
