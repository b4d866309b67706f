"""`manage.py doctor`: is everything there and in step, and what to do if not."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from hub.access.audit_trail import owns_trail, rights_to_change_events
from hub.access.principals import system_principal
from hub.audit.checks import summary_of, verify_everything
from hub.backups.models import BackupRun
from hub.backups.runs import backup_state
from hub.core.beat_signs import GONE_AFTER_S, sent_seconds_ago
from hub.core.commands import HubCommand, cli_call
from hub.core.confinement import can_leave_superuser, landlock_version
from hub.core.connections import disk_is_encrypted, open_queue, plain_connections
from hub.core.encryption.errors import KeyServiceUnavailable
from hub.core.errors import HubError
from hub.core.no_network import can_refuse_network
from hub.core.replicas import ReplicaProblem, replica_states
from hub.core.temporary import is_in_memory, temp_root
from hub.core.valkey import ensure_queue
from hub.llm.confirmations import find_confirmation
from hub.llm.providers.registry import check_llm, get_provider, is_configured
from hub.rest.readiness import BASE_CHECKS
from knowledge.checks import READINESS_CHECKS
from knowledge.consistency import check_consistency
from knowledge.documents.workers import worker_is_alive, wrong_clocks
from knowledge.generations.generations import LATE_S, list_generations
from knowledge.grants import curators_without_hub_role
from knowledge.index.changes import has_engine
from knowledge.index.outside import service_of
from knowledge.index.warm_up import way_to_warm
from knowledge.storage import (
    claim_store,
    ended_but_configured,
    ended_but_needed,
    owns_store,
    pending_removals,
    sealed_state,
)
from knowledge.stored_patterns import refused_patterns

OLDEST_PGVECTOR = (0, 8)
PEOPLE_NAMED = 20


class Command(HubCommand):
    help = (
        "Check database, extension, queue, storage, model and the index; exit code 1 with what to do. "
        "Example: manage.py doctor --repair"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="put right what can be")
        parser.add_argument(
            "--remove-many",
            action="store_true",
            help="with --repair: remove bytes of broken uploads however many there are",
        )
        parser.add_argument(
            "--claim-store",
            action="store_true",
            help="make this database the one that removes bytes from the store; stop every other hub on it first",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *, repair: bool, json: bool, remove_many: bool, claim_store: bool, **_options: object) -> None:
        with cli_call():
            findings = list(_diagnose(repair=repair, remove_many=remove_many, claim=claim_store))
        healthy = all(finding["status"] != "error" for finding in findings)
        if json:
            self.print_json({"healthy": healthy, "checks": findings})
        else:
            for finding in findings:
                self.stdout.write(f"{finding['status']:8} {finding['check']}: {finding['detail']}".rstrip(": "))
        if not healthy:
            sys.exit(1)


def _line(check: str, status: str, detail: str = "") -> dict[str, object]:
    return {"check": check, "status": status, "detail": detail}


def _diagnose(*, repair: bool, remove_many: bool, claim: bool) -> Iterator[dict[str, object]]:
    for remark in settings.CONFIG.remarks():
        yield _line("settings", "note", remark)
    if not settings.CONFIG.hub_second_person:
        detail = "HUB_SECOND_PERSON is off: curators of the hub publish what they wrote themselves, for everybody"
        yield _line("second person", "note", detail)
    if not settings.CONFIG.bedrock_kb_id:
        yield _line("kb_answer", "note", "BEDROCK_KB_ID is not set; questions to Amazon Bedrock are refused")
    ensure_queue()
    parts = list(_parts())
    yield from parts
    if any(part["status"] == "error" for part in parts):
        return
    yield from _audit_lines()
    yield _backups()
    yield from _hub_curators()
    yield from _patterns()
    yield _line("worker", "ok" if worker_is_alive() else "note", "" if worker_is_alive() else "no worker is running")
    yield _beat()
    yield _clocks()
    if claim:
        claim_store()
    yield _store_owner()
    yield from _encryption()
    yield from _search_engine()
    yield from _replicas()
    yield _parser_children()
    yield from _connections()
    yield from _index(repair=repair, remove_many=remove_many)


def _beat() -> dict[str, object]:
    """Whether the process that starts scheduled work does so; that it lives says little."""
    ago = sent_seconds_ago()
    if ago is None or ago > GONE_AFTER_S:
        last = "nothing that is known of" if ago is None else f"its last work {ago:.0f} s ago"
        advice = "sweeps, retention, backups and seals wait; start it, or, where it runs, see its log and restart it"
        return _line("beat", "warning" if worker_is_alive() else "note", f"it sent {last}: {advice}")
    return _line("beat", "ok")


def _clocks() -> dict[str, object]:
    """Whether the clocks of workers go with the database's."""
    wrong = wrong_clocks()
    if not wrong:
        return _line("clocks", "ok")
    named = ", ".join(f"{name} by {seconds:+.0f} s" for name, seconds in wrong.items())
    return _line("clocks", "warning", f"workers are off the database's clock, and discard work as expired: {named}")


def _backups() -> dict[str, object]:
    """When the last good backup was made, and whether the next one is late."""
    state = backup_state()
    last = "none is good"
    if state.good:
        last = f"the last good one is of {state.good.taken_at:%Y-%m-%d %H:%M %Z}, in {state.good.path}"
        last += f", restored for proof {state.good.verified_at:%Y-%m-%d %H:%M %Z}" if state.good.verified_at else ""
    if state.late_since:
        failed = BackupRun.objects.exclude(error="").order_by("-pk").first()
        why = f"the last failure: {failed.error}" if failed else "do worker and beat run?"
        return _line("backup", "warning", f"late since {state.late_since:%Y-%m-%d %H:%M %Z}; {last}; {why}")
    if state.good is None:
        return _line("backup", "note", "none is on record; run: manage.py backup PATH, or set HUB_BACKUP_DIR")
    return _line("backup", "ok", last)


def _store_owner() -> dict[str, object]:
    if owns_store():
        return _line("store_owner", "ok", "this database removes bytes of deleted documents")
    advice = (
        "the stored files belong to another database, or to nobody, so that none is removed; where this hub is the one "
        "that goes on (after a restore, say) and no other uses the store, run: manage.py doctor --claim-store"
    )
    return _line("store_owner", "error" if pending_removals().exists() else "note", advice)


def _encryption() -> Iterator[dict[str, object]]:
    """How many stored files are under which master key, and where temporary files are."""
    try:
        state = sealed_state()
    except KeyServiceUnavailable as error:
        yield _line("encryption", "error", str(error))
        return
    if needed := ended_but_needed():
        lost = f"files or secrets are under keys that were ended: {', '.join(needed)}"
        yield _line("ended keys", "error", f"{lost}; run manage.py encryption rotate before these are thrown away")
    if kept := ended_but_configured():
        yield _line("ended keys", "note", f"they are still configured, take them away: {', '.join(kept)}")
    counts = [f"{count} under {key_id}" for key_id, count in state.by_key.items()] + [f"{state.plain} plain"]
    detail = "stored files: " + ", ".join(counts)
    if state.unknown:
        lost = f"{detail}; not configured, so that these can't be read: {', '.join(state.unknown)}"
        yield _line("encryption", "error", f"{lost}; add the key to ENCRYPTION_KEY or ENCRYPTION_KEY_FILE")
    elif not state.current:
        yield _line("encryption", "note", f"{detail}; off: set ENCRYPTION_KEY, see docs/operations.md")
    elif state.waiting:
        now = f"the current key is {state.current}, and what is under another one needs that still"
        yield _line("encryption", "note", f"{detail}; {now}; run: manage.py encryption rotate")
    else:
        yield _line("encryption", "ok", detail)
    if state.current and not is_in_memory(temp_root()):
        advice = "give /dev/shm more room, or set HUB_TEMP_DIR to a file system in memory or an encrypted disk"
        yield _line(
            "temporary files", "note", f"they are plain for as long as they are read, in {temp_root()}; {advice}"
        )


def _connections() -> Iterator[dict[str, object]]:
    """What is plain over a network, whether the queue asks for a password, whether the embedded database's disk is
    seen to be encrypted.
    """
    plain = list(plain_connections(settings.CONFIG))
    for problem in plain:
        yield _line("network", "warning", problem)
    if not plain:
        yield _line("network", "ok", "nothing is plain over a network")
    if problem := open_queue(settings.CONFIG):
        yield _line("queue", "warning", problem)
    if settings.EMBEDDED_DATABASE:
        if disk_is_encrypted(settings.HUB_DATA_DIR):
            yield _line("database at rest", "ok", "on an encrypted disk")
        else:
            advice = "PostgreSQL holds the texts in plain; have HUB_DATA_DIR on one (LUKS, or the provider's)"
            yield _line("database at rest", "note", f"the disk can't be seen to be encrypted; {advice}")
    else:
        advice = "its server holds the texts in plain; have its disk, its log and its dumps encrypted"
        yield _line("database at rest", "note", advice)


def _parser_children() -> dict[str, object]:
    network, files, is_root = can_refuse_network(), landlock_version() > 0, os.geteuid() == 0
    stays_root = is_root and not can_leave_superuser()
    if network and files and not stays_root:
        return _line("parser children", "ok", "they have no network, are no root, and see their own file alone")
    advice = []
    if stays_root:
        left = "Landlock alone keeps its files from them" if files else "nothing keeps its files from them"
        advice.append(
            f"the hub runs as root, and so do they, without its capabilities: {left}; run it as a user of its own, or "
            "let it have the capabilities chown, dac_override, kill, setgid, setpcap and setuid"
        )
    if not network:
        advice.append(
            "the kernel lets them not give up the network; give the container a seccomp profile that allows seccomp "
            "filters, or close its network but for the servers"
        )
    if not files:
        whose = "all files" if is_root else "what the hub's system user can read"
        advice.append(f"the kernel has no Landlock (Linux 5.13, in `lsm=`), so they can read {whose}")
    return _line("parser children", "note" if files or not is_root else "warning", "; ".join(advice))


def _hub_curators() -> Iterator[dict[str, object]]:
    """Whom an upgrade took what belongs to no collection from, until somebody has the role for it."""
    if people := curators_without_hub_role():
        named = ", ".join(people[:PEOPLE_NAMED]) + (
            f" and {more} more" if (more := len(people) - PEOPLE_NAMED) > 0 else ""
        )
        page = f"{settings.CONFIG.public_url}/admin/access/hubrolegrant/add/"
        detail = "nobody but superusers changes check masters, ontologies, guidelines and prompts, or makes collections"
        yield _line("hub curators", "note", f"{detail}; {named} curate collections only. Give the role at {page}")


def _patterns() -> Iterator[dict[str, object]]:
    """Regular expressions of earlier versions that would be refused now."""
    for refused in refused_patterns():
        yield _line("stored pattern", "note", f"{refused}. It is matched within a limit of time until it is rewritten")


def _parts() -> Iterator[dict[str, object]]:
    """The parts by name; what rests on the tables is not asked before they are there."""
    yield _ask(*BASE_CHECKS[0])
    try:
        yield from _database()
    except DatabaseError:
        return  # the line above says so
    yield _ask(*BASE_CHECKS[1])
    if not _missing_migrations():
        for name, check in READINESS_CHECKS:
            yield _ask(name, check)
    if not _missing_migrations():
        yield from _embeddings()
    if is_configured():
        yield _ask("language model", check_llm)
        yield from _no_training()


def _no_training() -> Iterator[dict[str, object]]:
    """Whether the provider outside is confirmed not to train on what it is sent."""
    if get_provider().is_private or _missing_migrations():
        return
    confirmation = find_confirmation(settings.CONFIG.llm_provider)
    if confirmation is None:
        ceiling = settings.CONFIG.llm_unconfirmed_classification
        detail = f"nobody has confirmed that it does not train on what it is sent: only {ceiling} goes there"
        yield _line("language model confirmation", "note", f"{detail}; run: manage.py llm_confirmation")
        return
    said = f"{confirmation.confirmed_by_name}, {confirmation.confirmed_at:%Y-%m-%d}"
    yield _line("language model confirmation", "ok", f"no training, confirmed by {said}")


def _embeddings() -> Iterator[dict[str, object]]:
    """Whether the provider of embeddings outside is confirmed not to train on what it is sent."""
    config = settings.CONFIG
    service = service_of(config.embedding_backend, config.embedding_base_url)
    if service is None or service.is_trusted or find_confirmation(service.name, service.endpoint):
        return
    detail = f"only {config.llm_unconfirmed_classification} is sent to {service.endpoint}, other documents fail"
    yield _line("embeddings confirmation", "note", f"{detail}; run: manage.py llm_confirmation --embeddings")


def _search_engine() -> Iterator[dict[str, object]]:
    """Whether the search engine has what PostgreSQL has, where there is one."""
    if not has_engine():
        return
    states = list_generations(system_principal("doctor"))
    if not any(state.is_active for state in states):
        advice = "see manage.py search_index"
        yield _line("search engine", "note", f"SEARCH_INDEX names one, and searches ask PostgreSQL; {advice}")
    for state in states:
        name = f"search engine, generation {state.generation.pk}"
        if state.health is None:
            yield _line(name, "error", f"it does not answer: {state.generation.failure or settings.CONFIG.qdrant_url}")
            continue
        told = f"{state.health.passages} of {state.wanted} passages, {state.lag.rows} changes wait, the oldest for "
        told += f"{state.lag.seconds:.0f} s; {state.health.status}, {state.health.thin_shards} shards lack a copy"
        is_well = state.lag.seconds < LATE_S and state.health.status in ("green", "yellow")
        is_whole = state.health.passages == state.wanted or state.lag.rows or state.generation.status != "ready"
        advice = "" if is_whole else "; run: manage.py search_index reconcile"
        status = "ok" if is_well and is_whole and not state.health.thin_shards else "error"
        yield _line(name, status, told + advice)


def _replicas() -> Iterator[dict[str, object]]:
    """Whether replicas serve, how far they are behind, and whether the primary keeps rows that their searches need."""
    for state in replica_states():
        name = f"database replica {state.number}"
        if state.problem is ReplicaProblem.AWAY:
            yield _line(name, "error", f"it does not answer: {state.reason}")
            continue
        told = f"{state.lag_bytes} bytes behind" + (f", {state.lag_s:.1f} s" if state.lag_s is not None else "")
        if state.problem is ReplicaProblem.PROMOTED:
            yield _line(name, "error", "it was promoted and takes writes itself; see DATABASE_REPLICA_URLS")
        elif state.problem is ReplicaProblem.BEHIND:
            yield _line(name, "error", f"left out until it has caught up: {told}")
        elif not state.has_feedback:
            yield _line(name, "note", f"{told}; set hot_standby_feedback = on there, or vacuum ends its searches")
        else:
            yield _line(name, "ok", told)


def _ask(name: str, check: Callable[[], None]) -> dict[str, object]:
    try:
        check()
    except HubError as error:
        return _line(name, "error", str(error))
    return _line(name, "ok")


def _missing_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _database() -> Iterator[dict[str, object]]:
    if missing := _missing_migrations():
        yield _line("migrations", "error", f"{missing} not applied; run: manage.py migrate")
        return
    yield _line("migrations", "ok")
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        row = cursor.fetchone()
    version = row[0] if row else "none"
    new_enough = row is not None and tuple(map(int, version.split(".")[:2])) >= OLDEST_PGVECTOR
    detail = f"pgvector {version}" + ("" if new_enough else "; 0.8 or newer is needed for filtered search")
    yield _line("extension", "ok" if new_enough else "error", detail)
    yield _audit_rights()
    if way_to_warm() is None:
        advice = "CREATE EXTENSION pg_prewarm; as a superuser in the hub's database lets it"
        yield _line("warm-up", "note", f"the search index can't be read into memory after a start; {advice}")


def _audit_rights() -> dict[str, object]:
    """What the hub's own database role could do to the audit trail."""
    advice = "have another role own access_auditevent, access_auditseal and access_auditsealedlines"
    if rights := rights_to_change_events():
        may = f"the hub's database role may {', '.join(rights)} written lines"
        return _line("audit trail", "note", f"{may}; {advice}, and grant the hub's SELECT and INSERT only")
    if owns_trail():
        may = "the hub's database role can only read and add lines, but owns the tables and could change that"
        return _line("audit trail", "note", f"{may}; {advice}")
    return _line("audit trail", "ok", "the hub's database role can only read and add lines")


def _audit_lines() -> Iterator[dict[str, object]]:
    """Whether every line is as it was written."""
    found, unreachable = verify_everything()
    for text in unreachable:
        yield _line("audit anchor", "error", text)
    if problem := found.first:
        more = f" ({len(found.problems)} problems or more)" if len(found.problems) > 1 else ""
        yield _line("audit lines", "error", f"{problem}{more}; see: manage.py audit verify")
    else:
        yield _line("audit lines", "ok", summary_of(found))
    if not found.anchors:
        advice = "name files, S3 or syslog in HUB_AUDIT_ANCHORS"
        yield _line("audit anchor", "note", f"nothing outside the database says how far the trail went; {advice}")


def _index(*, repair: bool, remove_many: bool) -> Iterator[dict[str, object]]:
    found = False
    for problem in check_consistency(repair=repair, remove_many=remove_many):
        detail = f"{problem.count} {problem.detail}; "
        if problem.is_note:
            yield _line(problem.code, "note", detail + problem.remedy)
            continue
        found = True
        detail += problem.remedy if repair else f"run: manage.py doctor --repair ({problem.remedy})"
        yield _line(problem.code, "repaired" if repair and problem.is_repaired else "error", detail)
    if not found:
        yield _line("index", "ok", "rows, vectors, counters and files agree")
