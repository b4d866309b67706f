"""One's own questions: found again, saved, forgotten, answers rated, and sent to those who keep the documents."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.pages import is_fetched, principal_of
from hub.core.errors import InvalidInput
from hub.home.pages import home_action, home_page, render_home
from knowledge.models import Collection
from knowledge.models.questions import LONGEST_REASON
from knowledge.questions import (
    ask_owner,
    forget_questions,
    keep_questions,
    keeps_questions,
    own_questions,
    own_requests,
    rate_answer,
    save_question,
    withdraw_request,
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
        requests=own_requests(principal),
        keeps=keeps_questions(principal),
        curates=Collection.objects.visible_to(principal, Scope.CURATE).exists(),
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
def ask_those_who_keep(request: HttpRequest) -> HttpResponseBase:
    """Send a question to those who keep a collection, and say what happens with it. Errors: see the service."""
    given = {name: request.POST.get(name, "") for name in ("collection", "question", "message")}
    sent = ask_owner(principal_of(request), given["collection"], given["question"], given["message"])
    text = _("Sent to those who keep {collection}, with your name. Their reply will stand under “Questions”.")
    told = text.format(collection=sent.collection.name)
    if is_fetched(request):
        return HttpResponse(told, content_type="text/plain; charset=utf-8")
    messages.success(request, told)
    return HttpResponseRedirect(reverse("questions"))


@home_action
def withdraw(request: HttpRequest, request_id: int) -> HttpResponseBase:
    """Delete a question that one sent to those who keep a collection."""
    withdraw_request(principal_of(request), request_id)
    return HttpResponseRedirect(reverse("questions"))
