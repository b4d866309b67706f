"""Embedding sets: their progress, and each step of their life as a button that asks the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import HubRight, Principal
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin
from hub.admin_site.pages import errors_as_messages, principal_of, render_page
from hub.evaluation.cases import RETRIEVAL
from hub.evaluation.models import UNFINISHED_RUNS, EvaluationDataset, EvaluationRun
from knowledge.admin.fields import ChunkingForm, line_field
from knowledge.embedders import KNOWN_BACKENDS
from knowledge.embedding_sets import comparisons, sets, switching
from knowledge.embedding_sets.schemas import comparison_out
from knowledge.embedding_sets.sets import SetDraft, SetState
from knowledge.models import EmbeddingSet, EmbeddingSetStatus

RUNS_SHOWN = 10


class SetForm(ChunkingForm):
    """What a new set is to be."""

    name = line_field(_("Name"), max_length=100, required=True)
    backend = forms.ChoiceField(
        label=_("Backend"), choices=[(name, name) for name in KNOWN_BACKENDS], widget=UnfoldAdminSelectWidget
    )
    model = line_field(_("Model"), help_text=_("Empty: the backend's own."))
    base_url = line_field(
        _("URL of the backend"),
        max_length=300,
        help_text=_("For openai only. EMBEDDING_API_KEY is sent to EMBEDDING_BASE_URL alone."),
    )
    field_order = ("name", "backend", "model", "base_url")

    def draft(self) -> SetDraft:
        """Give what was entered as the service takes it."""
        asked = {name: self.cleaned_data[name] for name in ("name", "backend", "model", "base_url")}
        return SetDraft(**asked, chunk_options=self.chunk_options())


def _onlooker(request: HttpRequest) -> Principal:
    """The person, who may look at sets. Raises PermissionDenied."""
    principal = principal_of(request)
    if not principal.may_any(*sets.LOOKING):
        raise PermissionDenied
    return principal


def _page(request: HttpRequest, form: SetForm) -> HttpResponseBase:
    principal = _onlooker(request)
    states = sets.list_sets(principal)
    return render_page(
        request,
        "admin/knowledge/embeddingset/sets.html",
        title=_("Embedding sets"),
        states=states,
        building=EmbeddingSetStatus.BUILDING,
        ready=EmbeddingSetStatus.READY,
        dropped=EmbeddingSetStatus.DROPPED,
        datasets=EvaluationDataset.objects.visible_to(principal).filter(cases__kind=RETRIEVAL).distinct(),
        runs=comparisons.list_comparisons(principal)[:RUNS_SHOWN],
        unfinished=UNFINISHED_RUNS,
        may_act=principal.may(HubRight.OPERATION),
        form=form,
    )


@require_GET
@never_cache
def progress(request: HttpRequest) -> JsonResponse:
    """Answer {id: {status, label, progress, reason, done}} for the sets (by number) and comparisons in ``of``."""
    principal, asked = _onlooker(request), request.GET.get("of", "").split(",")
    states = sets.list_sets(principal, with_dropped=False)
    facts = {str(state.embedding_set.pk): _facts(state) for state in states}
    runs = comparisons.list_comparisons(principal).filter(public_id__in=asked)
    facts |= {run.public_id: _run_facts(run) for run in runs}
    return JsonResponse({name: facts[name] for name in asked if name in facts})


def _facts(state: SetState) -> dict[str, object]:
    row, progress = state.embedding_set, state.progress
    return {
        "status": row.status,
        "label": row.get_status_display(),
        "progress": progress.percent if progress else 0,
        "eta_s": progress.eta_s if progress else None,
        "reason": row.status_reason,
        "done": row.status != EmbeddingSetStatus.BUILDING or bool(row.status_reason),
    }


def _run_facts(run: EvaluationRun) -> dict[str, object]:
    shown = comparison_out(run)
    return {
        "status": shown.status,
        "label": run.get_status_display(),
        "progress": shown.progress,
        "reason": run.error,
        "done": run.status not in UNFINISHED_RUNS,
    }


def create(request: HttpRequest) -> HttpResponseBase:
    """Make a set, or show the form again with what is wrong."""
    form = SetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with errors_as_messages(request):
            made = sets.create_set(principal=principal_of(request), draft=form.draft())
            messages.success(request, _('The embedding set "{name}" was made. Build it next.').format(name=made.name))
            return _back()
    return _page(request, form)


def _back() -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:knowledge_embeddingset_changelist"))


def _name_of(pk: int) -> str:
    return EmbeddingSet.objects.filter(pk=pk).values_list("name", flat=True).first() or str(pk)


def _button(act: Callable[..., EmbeddingSet], done: str | Promise) -> Callable[..., HttpResponseRedirect]:
    """A view that has the service ``act`` on a set, and says ``done`` of it."""

    @require_POST
    def press(request: HttpRequest, pk: int) -> HttpResponseRedirect:
        with errors_as_messages(request):
            row = act(principal=principal_of(request), name=_name_of(pk))
            messages.success(request, str(done).format(name=row.name))
        return _back()

    return press


_build = _button(sets.start_build, _('"{name}" is being built.'))
_switch = _button(switching.switch_to, _('Search uses "{name}" now.'))
_drop = _button(sets.drop_set, _('"{name}" was dropped; its vectors are being cleared away.'))


@require_POST
def _roll_back(request: HttpRequest) -> HttpResponseRedirect:
    with errors_as_messages(request):
        row = switching.roll_back(principal=principal_of(request))
        messages.success(request, _('Search uses "{name}" now.').format(name=row.name))
    return _back()


@require_POST
def _compare(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    with errors_as_messages(request):
        run = comparisons.start_comparison(
            principal=principal_of(request), dataset=request.POST.get("dataset", ""), candidate=_name_of(pk)
        )
        messages.success(request, _("The comparison {run} is under way.").format(run=run.public_id))
    return _back()


@admin.register(EmbeddingSet)
class EmbeddingSetAdmin(ReadOnlyMixin, HubModelAdmin):
    """One page with every set; operators act, who evaluates looks."""

    pages = {
        "knowledge_embeddingset_progress": ("progress/", progress),
        "knowledge_embeddingset_create": ("create/", create),
        "knowledge_embeddingset_rollback": ("rollback/", _roll_back),
        "knowledge_embeddingset_build": ("<int:pk>/build/", _build),
        "knowledge_embeddingset_switch": ("<int:pk>/switch/", _switch),
        "knowledge_embeddingset_drop": ("<int:pk>/drop/", _drop),
        "knowledge_embeddingset_compare": ("<int:pk>/compare/", _compare),
    }

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return principal.may_any(*sets.LOOKING)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Show every set with its state; who may not look gets 403."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        return _page(request, SetForm())

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return _back()
