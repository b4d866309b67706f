"""The page that tries a draft of an ontology on documents, against the published version."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hub.access.principals import HubRight
from hub.access.versions import PublicationStatus
from hub.admin_site.pages import principal_of, render_page
from hub.core.errors import HubError
from hub.core.languages import in_language
from knowledge.admin.document_picker import document_picker, titles_of
from knowledge.document_checks import try_draft
from knowledge.evaluation.synonyms import questions_read_otherwise
from knowledge.ontology.answers import TopicChange
from knowledge.ontology.coverage import CoverageStatus
from knowledge.ontology.ontologies import list_ontologies

MOST_TRIED = 3
STATUSES: dict[CoverageStatus | None, str | Promise] = {
    CoverageStatus.TREATED: _("treated"),
    CoverageStatus.MENTIONED: _("mentioned only"),
    CoverageStatus.MISSING: _("missing"),
    CoverageStatus.EMPTY: _("heading without content"),
    None: _("not expected"),
}


class TrialForm(forms.Form):
    """The documents that a draft is tried on."""

    documents = forms.CharField(
        label=_("Documents to try it on"), required=False, widget=document_picker("read", most=MOST_TRIED)
    )


@require_http_methods(["GET", "POST"])
@never_cache
def page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show which saved questions a draft reads otherwise, and which topics of the ``documents`` that were sent."""
    principal = principal_of(request)
    principal.require_hub(HubRight.ONTOLOGIES)
    draft = get_object_or_404(list_ontologies(principal), pk=pk, status=PublicationStatus.DRAFT)
    asked = request.POST.get("documents", "").split()[:MOST_TRIED]
    trials, problems = [], []
    for document_id in asked:
        try:
            found = try_draft(principal, document_id, draft)
        except HubError as error:
            problems.append(str(error))
        else:
            parts = (
                (_("Treated newly"), found.found),
                (_("No longer treated"), found.lost),
                (_("Other"), found.others),
            )
            trials.append((found, [(title, _shown(changes)) for title, changes in parts if changes]))
    return render_page(
        request,
        "admin/knowledge/ontology/trial.html",
        title=_("Try {version}").format(version=draft),
        ontology=draft,
        form=TrialForm(initial={"documents": " ".join(asked)}),
        names=titles_of(principal, asked),
        trials=trials,
        problems=problems,
        questions=questions_read_otherwise(principal, draft),
    )


def _shown(changes: Sequence[TopicChange]) -> list[tuple[str, str | Promise, str | Promise, str]]:
    """Each topic's label, what was said of it, what is said now, and why."""
    rows = []
    for one in changes:
        judged = one.after or one.before
        label = in_language(judged.topic.label_ja, judged.topic.label_en) if judged else ""
        reason = in_language(judged.reason_ja, judged.reason_en) if judged else ""
        before, after = (STATUSES[each.status if each else None] for each in (one.before, one.after))
        rows.append((label, before, after, reason))
    return rows
