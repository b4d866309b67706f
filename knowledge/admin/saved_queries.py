"""Saved queries: keeping a hit as the right answer, taking it back, and the list of what was kept."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from hub.admin_site.keyset import whole_number
from hub.admin_site.pages import admin_page, errors_as_messages, principal_of, render_page
from hub.core.errors import InvalidInput
from hub.core.strict_json import read_json
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.admin.search_form import COMPARE, asked_again
from knowledge.admin.search_page import CHOSEN_DATASET
from knowledge.evaluation import questions
from knowledge.evaluation.questions import AskedQuestion

PER_PAGE = 50


@admin_page("search/keep/", name="hub_search_keep")
@require_POST
def keep(request: HttpRequest) -> HttpResponseRedirect:
    """Keep the hit of the pressed button as a right answer, or take it back, and return to the search."""
    dataset = request.POST.get("new_dataset", "").strip() or request.POST.get("dataset", "")
    with errors_as_messages(request):
        question = _asked_question(request)
        if "withdraw" in request.POST:
            _withdraw(request, question)
        else:
            row = questions.keep_answer(
                principal=principal_of(request),
                question=question,
                chunk_id=request.POST.get("keep", ""),
                dataset=dataset,
            )
            request.session[CHOSEN_DATASET] = row.dataset.code
            messages.success(request, _('Kept as a right answer in "{dataset}".').format(dataset=row.dataset.code))
    back = QueryDict(request.POST.get("back", ""))
    return HttpResponseRedirect(f"{reverse('admin:hub_search')}?{back.urlencode()}")


def _asked_question(request: HttpRequest) -> AskedQuestion:
    """Read what the page was asked. Raises InvalidInput."""
    try:
        options = read_json(request.POST.get("options") or "{}")
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise InvalidInput(_("{field}: expected a JSON object."), field="options")
    text, collection = request.POST.get("q", ""), request.POST.get("collection", "")
    return AskedQuestion(text=text, collection=collection, options=options)


def _withdraw(request: HttpRequest, question: AskedQuestion) -> None:
    """The button's value is the dataset's code and the passage's id with a colon between."""
    dataset, _colon, chunk_id = request.POST["withdraw"].partition(":")
    questions.withdraw_answer(principal=principal_of(request), question=question, chunk_id=chunk_id, dataset=dataset)
    messages.success(request, _('Taken out of "{dataset}".').format(dataset=dataset))


@admin_page("search/saved/", name="hub_saved_queries")
@require_GET
def saved(request: HttpRequest) -> HttpResponseBase:
    """List the questions of the datasets that the person may read, each with links to ask it again."""
    principal = principal_of(request)
    codes = list(EvaluationDataset.objects.visible_to(principal).order_by("code").values_list("code", flat=True))
    chosen = request.GET.get("dataset", "")
    rows = questions.saved_queries(principal, dataset=chosen if chosen in codes else "")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return render_page(
        request,
        "admin/hub/saved_queries.html",
        title=_("Saved queries"),
        datasets=codes,
        chosen=chosen,
        page=page,
        queries=[(row, _asking(row), _asking(row, mode=COMPARE)) for row in page],
    )


def _asking(case: EvaluationCase, **more: str) -> str:
    """The address of the search page that asks a case's question again."""
    asked = {"q": case.input["query"], "collection": case.input.get("collection", "")} | asked_again(case.input) | more
    return f"{reverse('admin:hub_search')}?{urlencode({name: value for name, value in asked.items() if value})}"


@admin_page("search/saved/delete/", name="hub_saved_query_delete")
@require_POST
def delete(request: HttpRequest) -> HttpResponseRedirect:
    """Forget a question, and return to the list."""
    with errors_as_messages(request):
        number = whole_number(request.POST.get("case")) or 0
        questions.delete_saved_query(principal=principal_of(request), case_id=number)
        messages.success(request, _("The saved query was deleted."))
    back = urlencode({"dataset": request.POST.get("dataset", "")})
    return HttpResponseRedirect(f"{reverse('admin:hub_saved_queries')}?{back}")
