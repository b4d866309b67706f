"""The front page: what state the documents are in, what failed and why, what was reviewed, whether the hub works."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.admin.operation import operation_context
from hub.admin_site.keyset import count_rows
from hub.admin_site.pages import KINDS, principal_of
from hub.backups.runs import backup_state
from hub.rest.readiness import BASE_CHECKS, run_checks
from hub.version import hub_version
from knowledge.documents.reading import list_documents
from knowledge.documents.workers import worker_is_alive
from knowledge.models import Blob, Chunk, Document, DocumentStatus, WorkerHeartbeat
from knowledge.models.documents import IN_WORK
from review.runs.reviews import list_reviews

FAILURES_SHOWN = 8
REVIEWS_SHOWN = 8
FAILED = (DocumentStatus.FAILED, DocumentStatus.NEEDS_OCR)


def dashboard_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the front page's facts, as far as the person may see them.

    About a dozen queries, whatever is stored; eight more for who runs the hub.
    """
    principal = principal_of(request)
    live = list_documents(principal).filter(retired_at__isnull=True)
    states = dict(
        live.order_by()
        .values_list("latest_version__status")
        .annotate(number=Count("pk"))
        .values_list("latest_version__status", "number")
    )
    failed = live.filter(latest_version__status__in=FAILED)
    reviews = list_reviews(principal).select_related("version__document", "checklist_version__checklist")
    waiting = live.filter(latest_version__status__in=IN_WORK)
    return {
        **context,
        "states": [
            (state.value, state.label, states.get(state.value, 0), KINDS.get(state.value, "plain"))
            for state in DocumentStatus
            if state is not DocumentStatus.RETIRED
        ],
        "documents_total": sum(states.values()),
        "chunks_total": count_rows(Chunk.objects.filter(version__document__in=Document.objects.visible_to(principal))),
        "waiting": sum(states.get(state, 0) for state in IN_WORK),
        "oldest_waiting": waiting.order_by("latest_version__queued_at").first(),
        "failures": failed.order_by("-latest_version_id")[:FAILURES_SHOWN],
        "reviews": reviews[:REVIEWS_SHOWN],
        "health": _health(),
        "backup": backup_state() if principal.may(HubRight.OPERATION) else None,
        "storage": _storage() if principal.may(HubRight.OPERATION) else None,
        "version": hub_version(),
        **(_operation(request, principal) if principal.may(HubRight.OPERATION) else {}),
    }


def _operation(request: HttpRequest, principal: Principal) -> dict[str, Any]:
    shown = operation_context(principal, now=timezone.now(), period=request.GET.get("period", ""))
    return {**shown, "unseen": _unseen(principal)}


def _unseen(principal: Principal) -> dict[str, int]:
    """How many documents the person may not read, and how many of them failed; no names, for who runs the hub."""
    seen = Document.objects.order_by().visible_to(principal).values("pk")
    return (
        Document.objects.filter(retired_at__isnull=True)
        .exclude(pk__in=seen)
        .aggregate(documents=Count("pk"), failed=Count("pk", filter=Q(latest_version__status__in=FAILED)))
    )


def _health() -> list[tuple[Any, bool, str]]:
    """Name, whether it works, and what is wrong, of what the hub runs on."""
    _all_well, report = run_checks(BASE_CHECKS)
    alive = worker_is_alive()
    workers = WorkerHeartbeat.objects.count() if alive else 0
    names = {"database": _("Database"), "queue": _("Queue")}
    found = [(names[name], state["status"] == "ok", state["detail"]) for name, state in report.items()]
    detail = "" if alive else str(_("No worker gave a sign of life in the last 10 seconds; documents wait."))
    return [*found, (_("Workers: {count}").format(count=workers), alive, detail)]


def _storage() -> str:
    return str(filesizeformat(Blob.objects.aggregate(total=Sum("size_bytes"))["total"] or 0))
