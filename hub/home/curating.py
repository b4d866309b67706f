"""What nothing answered, for those who keep the documents, with what can be done about each question."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.access.names import name_of
from hub.access.principals import HubRight, Principal, Scope
from hub.access.versions import PublicationStatus
from hub.admin_site.pages import principal_of
from hub.core.errors import HubError
from hub.home.pages import home_action, home_page, render_home
from knowledge.answering import read_asked
from knowledge.models import Collection, OntologyClass
from knowledge.ontology.editing import add_synonym
from knowledge.questions import (
    close_question,
    find_open_question,
    open_questions,
    reply_to_request,
    requests_to,
)

MOST_CLASSES = 1_000
MOST_REQUESTS = 100
LONGEST_SYNONYM = 200


@home_page
def unanswered(request: HttpRequest) -> HttpResponseBase:
    """List what people sent to the curator, and what nothing answered, with what can be done about it."""
    principal = principal_of(request)
    curated = Collection.objects.visible_to(principal, Scope.CURATE)
    return render_home(
        request,
        "home/unanswered.html",
        title=_("Questions without an answer"),
        requests=requests_to(principal)[:MOST_REQUESTS],
        questions=open_questions(principal),
        curates=curated.exists(),
        names_concepts=principal.may(HubRight.ONTOLOGIES),
        keeps_cases=principal.may(HubRight.EVALUATION),
    )


@home_action
def close(request: HttpRequest) -> HttpResponseBase:
    """Take a question off the list of those without an answer."""
    close_question(principal_of(request), request.POST.get("key", "")[:64])
    return HttpResponseRedirect(reverse("unanswered"))


@home_action
def reply(request: HttpRequest, request_id: int) -> HttpResponseBase:
    """Reply to a question that somebody sent. :raises NotFound, InvalidInput: see the service."""
    done = reply_to_request(principal_of(request), request_id, request.POST.get("reply", ""))
    messages.success(request, _("The reply stands under the questions of {name}.").format(name=name_of(done.user)))
    return HttpResponseRedirect(reverse("unanswered"))


@home_page
def synonym(request: HttpRequest, key: str) -> HttpResponseBase:
    """Show the form that gives a concept another name, with what a question asks about filled in."""
    principal = principal_of(request)
    principal.require_hub(HubRight.ONTOLOGIES)
    text, _collections = find_open_question(principal, key)
    asked = read_asked(text)
    return _synonym_page(request, key=key, text=text, name=asked.phrase or asked.focus or text)


def _synonym_page(
    request: HttpRequest, *, key: str, text: str, name: str, concept: str = "", error: HubError | None = None
) -> HttpResponseBase:
    published = OntologyClass.objects.filter(ontology__status=PublicationStatus.PUBLISHED)
    listed = published.select_related("ontology").order_by("ontology__domain", "position", "code")[:MOST_CLASSES]
    return render_home(
        request,
        "home/synonym.html",
        title=_("Another name for a concept"),
        status=error.status if error else 200,
        key=key,
        text=text,
        name=name[:LONGEST_SYNONYM],
        longest=LONGEST_SYNONYM,
        concept=concept,
        concepts=[(f"{one.ontology.domain}:{one.code}", one) for one in listed],
        error=str(error) if error else "",
    )


@home_action
def give_synonym(request: HttpRequest, key: str) -> HttpResponseBase:
    """Add the name to a draft, and say what is left to do; what can't be added comes back as it was typed."""
    principal: Principal = principal_of(request)
    text, _collections = find_open_question(principal, key)
    concept, name = request.POST.get("concept", ""), request.POST.get("name", "")
    domain, _colon, code = concept.partition(":")
    try:
        draft = add_synonym(principal=principal, domain=domain, code=code, synonym=name)
    except HubError as error:
        return _synonym_page(request, key=key, text=text, name=name, concept=concept, error=error)
    told = _("“{name}” is in draft {number} of {domain}. Search knows it when somebody with the right publishes it.")
    messages.success(request, told.format(name=name.strip(), number=draft.number, domain=draft.domain))
    return HttpResponseRedirect(reverse("unanswered"))
