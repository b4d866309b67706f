"""One's own questions: found again, saved, forgotten, answers rated; and those that found nothing, for curators."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.pages import principal_of
from hub.core.errors import InvalidInput
from hub.home.pages import home_action, home_page, is_fetched, render_home
from knowledge.models import Collection
from knowledge.models.questions import LONGEST_REASON
from knowledge.questions import (
    close_question,
    forget_questions,
    keep_questions,
    keeps_questions,
    open_questions,
    own_questions,
    rate_answer,
    save_question,
)

RATINGS = {"good": 1, "bad": -1}


@home_page
def questions(request: HttpRequest) -> HttpResponseBase:
    """List one's own questions, and say whether any are kept."""
    principal = principal_of(request)
    return render_home(
        request,
        "home/questions.html",
        title=_("Questions"),
        questions=own_questions(principal),
        keeps=keeps_questions(principal),
        curates=Collection.objects.visible_to(principal, Scope.CURATE).exists(),
    )


@home_page
def unanswered(request: HttpRequest) -> HttpResponseBase:
    """List what nothing answered in the collections that one curates, with what can be done about it."""
    principal = principal_of(request)
    curated = Collection.objects.visible_to(principal, Scope.CURATE)
    return render_home(
        request,
        "home/unanswered.html",
        title=_("Questions without an answer"),
        questions=open_questions(principal),
        curates=curated.exists(),
    )


@home_action
def rate(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Take what somebody says of an answer to their own question. :raises NotFound, InvalidInput: see the service."""
    rating = RATINGS.get(request.POST.get("rating", ""))
    if rating is None:
        raise InvalidInput(_("{field}: expected one of {allowed}."), field="rating", allowed=", ".join(RATINGS))
    rate_answer(principal_of(request), question_id, rating, request.POST.get("reason", "")[:LONGEST_REASON])
    thanks = _("Thank you. Those who keep the documents see it, without your name.")
    if is_fetched(request):
        return HttpResponse(thanks, content_type="text/plain; charset=utf-8")
    messages.success(request, thanks)
    return HttpResponseRedirect(reverse("questions"))


@home_action
def save(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Save one's own question, or let it go."""
    save_question(principal_of(request), question_id, is_saved="saved" in request.POST)
    return HttpResponseRedirect(reverse("questions"))


@home_action
def forget(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Delete one of one's own questions."""
    forget_questions(principal_of(request), question_id)
    return HttpResponseRedirect(reverse("questions"))


@home_action
def keeping(request: HttpRequest) -> HttpResponseBase:
    """Keep one's questions from now on, or none."""
    keep_questions(principal_of(request), wanted="wanted" in request.POST)
    return HttpResponseRedirect(reverse("questions"))


@home_action
def close(request: HttpRequest) -> HttpResponseBase:
    """Take a question off the list of those without an answer."""
    close_question(principal_of(request), request.POST.get("key", "")[:64])
    return HttpResponseRedirect(reverse("unanswered"))
