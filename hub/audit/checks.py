"""Sealing and verifying the audit trail with what is noted of it outside, for commands and scheduled tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hub.access.audit_retention import periods, remove_expired
from hub.access.audit_seals import seal_lines
from hub.access.audit_verification import Anchor, Verification, verify_trail
from hub.access.principals import system_principal
from hub.audit.anchors import note_head, read_anchors
from hub.core.scheduled_rows import keep_failures

TASK = "hub.verify_audit"
ANCHORS = "hub.seal_audit"


def seal_and_note() -> int:
    """Seal what is complete, and note the newest seal outside; gives how many seals were made.

    Places that can't be reached are kept for the alerts, and tried again at the next call.
    """
    made = seal_lines()
    keep_failures(ANCHORS, note_head())
    return len(made)


def verify_everything(
    given: Sequence[Anchor] = (), *, progress: Callable[[int], None] | None = None
) -> tuple[Verification, list[str]]:
    """Verify the trail against all anchors, ``given`` ones too, and say which could not be read."""
    anchors, unreachable = read_anchors()
    return verify_trail([*anchors, *given], progress=progress), unreachable


def verify_and_alert() -> Verification:
    """Verify the trail and keep what is wrong for the alerts, until it is well."""
    found, unreachable = verify_everything()
    first = [str(found.first)] if found.first else []
    keep_failures(TASK, [*first, *unreachable])
    return found


def remove_what_is_expired() -> dict[str, int]:
    """Remove lines whose time is over, in the name of the hub; nothing, without a query, where all are kept."""
    return remove_expired(system_principal("retention")) if periods() else {}


def summary_of(found: Verification) -> str:
    """Say in a line what was verified."""
    text = f"{found.lines} lines in {found.seals} seals are as they were written, {found.unsealed} wait to be sealed"
    text += f", {found.before} are from before the chain" if found.before else ""
    text += "".join(f", {count} ({kind}) removed by retention" for kind, count in sorted(found.removed.items()))
    return f"{text}; compared with {found.anchors} notes outside"
