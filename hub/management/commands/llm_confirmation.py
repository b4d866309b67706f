"""`manage.py llm_confirmation`: record that the provider of language models does not train on what it is sent."""

from __future__ import annotations

from argparse import ArgumentParser

from django.conf import settings

from hub.access.services import local_principal
from hub.core.commands import HubCommand, cli_call
from hub.llm.confirmations import EMBEDDINGS, confirm_no_training, endpoint_of, find_confirmation, withdraw_confirmation


class Command(HubCommand):
    help = (
        "Show, record or withdraw the confirmation that the configured provider of language models does not train on "
        "what it is sent. Example: manage.py llm_confirmation --evidence '契約書 第12条' --retention '30日'"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--evidence", default="", help="where it is written; records a confirmation")
        parser.add_argument("--retention", default="", help="what the provider keeps of requests, and for how long")
        parser.add_argument("--embeddings", action="store_true", help="of the embedding model at EMBEDDING_BASE_URL")
        parser.add_argument("--withdraw", action="store_true", help="take the confirmation in force back")

    def handle(
        self, *, token: str, evidence: str, retention: str, withdraw: bool, embeddings: bool, **_options: object
    ) -> None:
        provider = EMBEDDINGS if embeddings else settings.CONFIG.llm_provider
        with cli_call():
            principal = local_principal(token)
            standing = find_confirmation(provider)
            if withdraw and standing:
                withdraw_confirmation(principal=principal, confirmation_id=standing.pk)
            elif evidence or retention:
                confirm_no_training(principal=principal, evidence=evidence, retention=retention, provider=provider)
        standing = find_confirmation(provider)
        if standing is None:
            self.stdout.write(f"{provider} {endpoint_of(provider)}: not confirmed")
            return
        when = f"{standing.confirmed_at:%Y-%m-%d}"
        self.stdout.write(f"{standing}: confirmed by {standing.confirmed_by_name} on {when}: {standing.evidence}")
