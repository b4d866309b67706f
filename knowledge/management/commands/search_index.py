"""`manage.py search_index`: the copies of the index in a search engine, for who runs one beside PostgreSQL."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hub.access.principals import HubRight
from hub.access.services import local_principal, record_event
from hub.core.commands import HubCommand, cli_call
from hub.core.errors import HubError
from knowledge.engines import EngineError
from knowledge.generations import generations, reconciling, sending
from knowledge.generations.generations import GenerationState
from knowledge.index.changes import has_engine
from knowledge.models import IndexGeneration

ACTIONS = ("list", "create", "switch", "drop", "reconcile", "send-again")
POSTGRESQL = "postgresql"
# Source: Qdrant's documentation, "Distributed deployment": 12 shards lie evenly on 1, 2, 3, 4, 6 and 12 nodes.
SHARDS = 12


class Command(HubCommand):
    help = (
        "The index in a search engine (SEARCH_INDEX=qdrant, experimental; docs/scale.md): make a generation, have "
        "searches ask it, go back to PostgreSQL. Example: manage.py search_index create --shards 12 --copies 2; "
        "then list until it is ready; then switch 1. Back: switch postgresql"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument("generation", nargs="?", default="", help="its number; of switch also: postgresql")
        parser.add_argument("--set", default="", metavar="NAME", help="the embedding set; default: the active one")
        parser.add_argument("--shards", type=int, default=SHARDS, help="parts, never changed later (%(default)s)")
        parser.add_argument("--copies", type=int, default=1, help="copies of each part, 2 for several nodes")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, action: str, **options: Any) -> None:  # noqa: ANN401
        with cli_call():
            try:
                getattr(self, f"_{action.replace('-', '_')}")(options)
            except (HubError, EngineError) as error:
                raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        states = generations.list_generations(local_principal(options["token"]))
        if options["json"]:
            self.print_json({"generations": [_facts(state) for state in states]})
            return
        for state in states:
            self.stdout.write(" ".join(f"{name}={value}" for name, value in _facts(state).items() if value != ""))

    def _create(self, options: dict[str, Any]) -> None:
        if options["shards"] < 1 or options["copies"] < 1:
            raise CommandError("--shards and --copies: 1 or more")
        made = generations.create_generation(
            principal=local_principal(options["token"]),
            set_name=options["set"],
            shards=options["shards"],
            copies=options["copies"],
        )
        self.stdout.write(f"generation {made.pk} ({made.collection}) is being filled by the workers")

    def _switch(self, options: dict[str, Any]) -> None:
        principal = local_principal(options["token"])
        if options["generation"] == POSTGRESQL:
            generations.switch_to_postgresql(principal=principal)
        else:
            generations.switch_to_generation(principal=principal, generation_id=_number(options))
        self.stdout.write(f"searches ask {options['generation']} from now on")

    def _drop(self, options: dict[str, Any]) -> None:
        generations.drop_generation(principal=local_principal(options["token"]), generation_id=_number(options))
        self.stdout.write("a worker removes it")

    def _reconcile(self, options: dict[str, Any]) -> None:
        principal = local_principal(options["token"])
        principal.require_hub(HubRight.OPERATION)
        for generation_id in [_number(options)] if options["generation"] else _all():
            record_event(principal, "INDEX_GENERATION_RECONCILE", f"index_generation:{generation_id}")
            found = reconciling.reconcile(generation_id)
            done = f"missing={found.missing} stray={found.stray} retagged={found.retagged}" if found else "busy"
            self.stdout.write(f"generation {generation_id}: {done}")

    def _send_again(self, options: dict[str, Any]) -> None:
        principal = local_principal(options["token"])
        principal.require_hub(HubRight.OPERATION)
        record_event(principal, "INDEX_GENERATION_SEND_AGAIN", "index_generation:*")
        self.stdout.write(f"{sending.send_again()} changes of the last hour are sent once more")


def _all() -> list[int]:
    return list(IndexGeneration.objects.order_by("pk").values_list("pk", flat=True)) if has_engine() else []


def _number(options: dict[str, Any]) -> int:
    if not options["generation"].isdigit():
        raise CommandError("name the generation by its number, see: manage.py search_index list")
    return int(options["generation"])


def _facts(state: GenerationState) -> dict[str, object]:
    row, health = state.generation, state.health
    return {
        "generation": row.pk,
        "embedding_set": row.embedding_set.name,
        "status": row.status,
        "active": state.is_active,
        "shards": row.shards,
        "copies": row.copies,
        "passages": health.passages if health else None,
        "of": state.wanted,
        "engine": health.status if health else "no answer",
        "thin_shards": health.thin_shards if health else None,
        "changes_waiting": state.lag.rows,
        "lag_s": round(state.lag.seconds, 1),
        "failure": row.failure,
    }
