"""`manage.py unlock NAME`: end the wait after wrong passwords."""

from __future__ import annotations

from argparse import ArgumentParser

from hub.access.services import local_principal
from hub.access.sign_in import end_wait
from hub.core.commands import HubCommand, cli_call


class Command(HubCommand):
    help = "Let a person sign in again at once after too many wrong passwords. Example: manage.py unlock admin"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", help="the name that the wrong passwords were given for")

    def handle(self, *, username: str, token: str, **options: object) -> None:
        with cli_call():
            forgotten = end_wait(principal=local_principal(token), username=username)
        self.stdout.write(f"{username} may sign in" if forgotten else f"no wrong passwords were counted for {username}")
