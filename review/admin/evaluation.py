"""Evaluation in the admin: datasets, imports with a preview, runs, the choice of the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import HubRight, Principal
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin
from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.core.errors import HubError, NotFound
from hub.evaluation.datasets import name_readers, named_readers
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationDataset, EvaluationRun, RunStatus
from hub.rest.uploads import received_file
from knowledge.admin.document_picker import titles_of
from review.admin.evaluation_trend import LABELS, trend_page
from review.admin.master_pages import ask_about_later_version, replaced_by
from review.curation.master_versions import put_in_force_since
from review.curation.prompts import publish_candidate, refusal_to_publish
from review.evaluation import cases, datasets, gate, runs
from review.evaluation.candidates import Candidate, find_candidate, open_candidates
from review.evaluation.gate_report import MEASURED, Comparison, GateReport, Standing
from review.evaluation.schemas import CaseImportOut, deltas_of, evaluation_out, import_out
from review.models import VERDICTS, CheckListVersion, CheckType, JudgePrompt

# The words for each standing, and the colour of its badge.
STANDINGS = {
    Standing.NOT_MEASURED: (_("not measured yet"), "skipped"),
    Standing.PENDING: (_("being measured"), "running"),
    Standing.BETTER: (_("better"), "pass"),
    Standing.SAME: (_("no worse"), "pass"),
    Standing.WORSE: (_("worse"), "fail"),
    Standing.UNKNOWN: (_("unknown"), "warning"),
}
# A page does not wait for a comparison; it looks again.
NO_WAIT_S = 0.0
RUNS_SHOWN = 30
CASES_SHOWN = 100
DEFAULT_ROUNDS = 2


@require_GET
def show(request: HttpRequest) -> HttpResponseBase:
    """Show a candidate on each dataset that guards it: measures, intervals, flipped cases."""
    principal, name = principal_of(request), request.GET.get("candidate", "")
    try:
        report, candidate = gate.look_at(principal, name), find_candidate(principal, name)
    except HubError as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:index"))
    return render_page(
        request,
        "admin/evaluation/gate.html",
        title=_("Before publishing {candidate}").format(candidate=_title_of(candidate)),
        report=report,
        candidate=_title_of(candidate),
        publisher_refused=refusal_to_publish(principal, candidate),
        version=candidate.version,
        since=put_in_force_since(candidate.version) if isinstance(candidate.version, CheckListVersion) else None,
        verdicts=dict(VERDICTS),
        guards=[_shown(report, one) for one in report.comparisons],
        is_doubtful=bool(report.of(Standing.WORSE) or report.of(Standing.UNKNOWN)),
        is_open=any(one.standing in (Standing.NOT_MEASURED, Standing.UNKNOWN) for one in report.comparisons),
    )


def _title_of(candidate: Candidate) -> str:
    """What a candidate is called on pages: by its name and, of check lists and prompts, its version."""
    match candidate.version:
        case CheckListVersion() as version:
            return f"{version.checklist} v{version.number}"
        case JudgePrompt() as prompt:
            return f"{prompt.get_kind_display()} v{prompt.number}"
    return str(candidate.version)


def _shown(report: GateReport, one: Comparison) -> dict[str, Any]:
    """A dataset's part of the page."""
    word, colour = STANDINGS[one.standing]
    return {
        "dataset": one.dataset,
        "word": word,
        "colour": colour,
        "is_pending": one.standing is Standing.PENDING,
        "reason": one.reason,
        "run": one.run,
        "rows": _rows(one.run) if one.run and "delta" in one.run.metrics else [],
        "flips": report.flips_of(one),
        "is_readable": report.is_readable(one),
    }


def _rows(run: EvaluationRun) -> list[dict[str, Any]]:
    """Each measure: before, now with its interval, and the difference."""
    metrics, delta = run.metrics, deltas_of(run)
    return [
        {
            "label": LABELS[name],
            "before": metrics["baseline"].get(name),
            "now": metrics[name],
            "delta": delta.get(name),
        }
        for name in MEASURED
        if name in metrics
    ]


@require_POST
def compare(request: HttpRequest) -> HttpResponseRedirect:
    """Start what has to be measured, and come back to the page."""
    candidate = request.POST.get("candidate", "")
    with errors_as_messages(request):
        gate.compare(principal=principal_of(request), name=candidate, wait_s=NO_WAIT_S)
    return _to_gate(candidate)


@require_POST
def publish(request: HttpRequest) -> HttpResponseBase:
    """Publish a candidate, if the gate lets it through; what a check list's would take back is asked about first."""
    name = request.POST.get("candidate", "")
    with errors_as_messages(request):
        candidate = find_candidate(principal_of(request), name)
        version = candidate.version
        if isinstance(version, CheckListVersion) and (asked := ask_about_later_version(request, version)):
            return asked
        publish_candidate(principal=principal_of(request), name=name, replaces=replaced_by(request))
        messages.success(request, _("{candidate} is in force.").format(candidate=_title_of(candidate)))
    return _to_gate(name)


@require_GET
@never_cache
def progress(request: HttpRequest) -> JsonResponse:
    """Answer {run id: {status, label, progress, done}} for the runs in ``of`` that the person may read."""
    asked = request.GET.get("of", "").split(",")
    found = runs.list_runs(principal_of(request)).filter(public_id__in=asked)
    return JsonResponse(
        {
            run.public_id: {
                "status": run.status,
                "label": run.get_status_display(),
                "progress": run.progress,
                "reason": run.error,
                "done": run.status not in UNFINISHED_RUNS,
            }
            for run in found
        }
    )


def _to_gate(candidate: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:evaluation_gate')}?{urlencode({'candidate': candidate})}")


def _dataset_page(request: HttpRequest, code: str, preview: CaseImportOut | None = None) -> HttpResponseBase:
    principal = principal_of(request)
    dataset = datasets.read_dataset(principal, code)
    found = list(runs.list_runs(principal, dataset=code)[:RUNS_SHOWN])
    return render_page(
        request,
        "admin/evaluation/dataset.html",
        title=dataset.name,
        dataset=dataset,
        readers=readers_of(dataset),
        cases=datasets.list_cases(principal, code)[:CASES_SHOWN],
        runs=found,
        measured=any(run.status == RunStatus.COMPLETED for run in found),
        candidates=open_candidates(principal) if principal.may(HubRight.EVALUATION) else (),
        preview=preview,
        may_change=principal.may(HubRight.EVALUATION),
        may_name=principal.may(HubRight.APPROVERS),
    )


def run_page(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """Show a run's figures, groups and flips."""
    try:
        run = runs.get_run(principal_of(request), run_id)
    except NotFound as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("admin:evaluation_evaluationdataset_changelist"))
    facts = evaluation_out(run, runs.KNOWN_METRICS)
    if base := request.GET.get("base", ""):
        with errors_as_messages(request):
            found = runs.compare_runs(principal_of(request), run_id, base_id=base)
            facts = facts.model_copy(update={"comparison": found})
    delta = facts.comparison.delta if facts.comparison else {}
    return render_page(
        request,
        "admin/evaluation/run.html",
        title=run.public_id,
        run=run,
        facts=facts,
        measures=[(name, label, run.metrics[name]) for name, label in LABELS.items() if name in run.metrics],
        deltas=[(label, change) for name, label in LABELS.items() if (change := delta.get(name)) is not None],
        others=runs.comparable_runs(principal_of(request), run)[:RUNS_SHOWN],
        verdicts=dict(VERDICTS),
        check_types=dict(CheckType.choices),
        documents=_titled(principal_of(request), facts.by_document),
        may_change=principal_of(request).may(HubRight.EVALUATION),
    )


def _titled(principal: Principal, groups: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Groups by document, each with the title of its document where the person may read it, and the version."""
    named = [(key, *key.partition("#")[::2]) for key in groups]
    titles = titles_of(principal, [document_id for _key, document_id, _version in named])
    return [(f"{titles.get(one, one)} {version}".strip(), groups[key]) for key, one, version in named]


@require_POST
def _create(request: HttpRequest) -> HttpResponseBase:
    code, name = request.POST.get("code", "").strip(), request.POST.get("name", "")
    with errors_as_messages(request):
        datasets.create_dataset(principal=principal_of(request), code=code, name=name)
    return _back(request, code)


@require_POST
def _import(request: HttpRequest, code: str) -> HttpResponseBase:
    """Show what a file would change, or import it; what is wrong in which row stands on the page."""
    principal = principal_of(request)
    with errors_as_messages(request):
        principal.require_hub(HubRight.EVALUATION)
        file = request.FILES.get("file")
        if file is None:
            messages.error(request, _("Choose a file first."))
            return _back(request, code)
        with received_file(file) as received:
            rows = cases.rows_in_file(received.path, received.filename)
        preview = cases.preview_cases(principal=principal, dataset=code, rows=rows)
        if "preview" in request.POST or preview.bad:
            return _dataset_page(request, code, import_out(preview))
        done = cases.import_cases(principal=principal, dataset=code, rows=rows)
        messages.success(
            request,
            _("Imported: {created} new, {replaced} replaced.").format(created=done.created, replaced=done.replaced),
        )
    return _back(request, code)


@require_POST
def _run(request: HttpRequest, code: str) -> HttpResponseBase:
    with errors_as_messages(request):
        run = runs.start_run(
            principal=principal_of(request),
            dataset=code,
            candidate=request.POST.get("candidate", ""),
            compare_baseline=True,
            rounds=whole_number(request.POST.get("rounds", ""), digits=3) or DEFAULT_ROUNDS,
            asks_model="asks_model" in request.POST,
        )
        messages.success(request, _("The run {run} was started.").format(run=run.public_id))
    return _back(request, code)


@require_POST
def _change(request: HttpRequest, code: str) -> HttpResponseBase:
    with errors_as_messages(request):
        datasets.change_dataset(
            principal=principal_of(request),
            code=code,
            name=request.POST.get("name", ""),
            is_nightly="is_nightly" in request.POST,
            guards=_names(request.POST.get("guards", "")),
        )
        messages.success(request, _("Saved."))
    return _back(request, code)


@require_POST
def _readers(request: HttpRequest, code: str) -> HttpResponseBase:
    """Name who reads a dataset."""
    with errors_as_messages(request):
        name_readers(principal=principal_of(request), code=code, readers=_names(request.POST.get("readers", "")))
        messages.success(request, _("Saved."))
    return _back(request, code)


@require_POST
def _baseline(request: HttpRequest, run_id: str) -> HttpResponseBase:
    with errors_as_messages(request):
        runs.mark_baseline(principal=principal_of(request), run_id=run_id)
    return HttpResponseRedirect(reverse("admin:evaluation_evaluationrun_page", args=[run_id]))


def readers_of(dataset: EvaluationDataset) -> str:
    """The user names of a dataset's readers, as the form takes them. One query, none where they are at hand."""
    return ", ".join(sorted(user.get_username() for user in dataset.readers.all()))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.replace("、", ",").split(",") if name.strip()]


def _back(request: HttpRequest, code: str) -> HttpResponseRedirect:
    found = EvaluationDataset.objects.visible_to(principal_of(request)).filter(code=code).first()
    if found is None:
        return HttpResponseRedirect(reverse("admin:evaluation_evaluationdataset_changelist"))
    return HttpResponseRedirect(reverse("admin:evaluation_evaluationdataset_change", args=[found.pk]))


@admin.register(EvaluationDataset)
class EvaluationDatasetAdmin(ReadOnlyMixin, HubModelAdmin):
    """A page with all datasets, and one for each; what is changed is asked of the services."""

    pages = {
        "evaluation_gate": ("gate/", show),
        "evaluation_gate_compare": ("gate/compare/", compare),
        "evaluation_gate_publish": ("gate/publish/", publish),
        "evaluation_gate_progress": ("gate/progress/", progress),
        "evaluation_evaluationdataset_create": ("create/", _create),
        "evaluation_evaluationrun_page": ("run/<str:run_id>/", run_page),
        "evaluation_evaluationrun_baseline": ("run/<str:run_id>/baseline/", _baseline),
        "evaluation_evaluationdataset_trend": ("<slug:code>/trend/", trend_page),
        "evaluation_evaluationdataset_import": ("<slug:code>/import/", _import),
        "evaluation_evaluationdataset_run": ("<slug:code>/run/", _run),
        "evaluation_evaluationdataset_change_dataset": ("<slug:code>/change-dataset/", _change),
        "evaluation_evaluationdataset_readers": ("<slug:code>/readers/", _readers),
    }

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        is_let_in = principal.may(HubRight.EVALUATION) or principal.may(HubRight.APPROVERS)
        return is_let_in or EvaluationDataset.objects.visible_to(principal).exists()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        principal = principal_of(request)
        may_name = principal.may(HubRight.APPROVERS)
        return render_page(
            request,
            "admin/evaluation/datasets.html",
            title=_("Evaluation datasets"),
            datasets=datasets.list_datasets(principal),
            may_change=principal.may(HubRight.EVALUATION),
            named=[(row.code, readers_of(row)) for row in named_readers(principal)] if may_name else None,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show one dataset; one that the person may not read answers like one that is not there."""
        row = self.get_object(request, object_id)  # None for what is no key
        if row is None or not EvaluationDataset.objects.visible_to(principal_of(request)).filter(pk=row.pk).exists():
            return self.not_found(request, object_id)
        return _dataset_page(request, row.code)
