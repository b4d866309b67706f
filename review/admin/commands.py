"""What Ctrl-K finds of reviews and documents: their titles, and what can be begun."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.access.principals import Scope
from hub.admin_site.commands import MOST_OF_A_KIND, Command, command_finder, has_words
from hub.admin_site.pages import principal_of
from knowledge.documents.reading import list_documents
from knowledge.models import Collection
from review.models import UNFINISHED
from review.runs.reviews import list_reviews


@command_finder
def actions(request: HttpRequest, words: str) -> Iterator[Command]:
    """What may be begun from anywhere. One query for each that is named."""
    offered = (
        (_("Upload documents"), reverse("upload"), "upload", Scope.UPLOAD),
        (_("Start a review"), reverse("admin:review_review_start"), "rate_review", Scope.REVIEW),
        (_("Ask a question"), reverse("home"), "forum", Scope.SEARCH),
    )
    for title, link, icon, scope in offered:
        if has_words(title, words) and Collection.objects.visible_to(principal_of(request), scope).exists():
            yield Command(title=title, description=_("Action"), link=link, icon=icon)


@command_finder
def documents(request: HttpRequest, words: str) -> Iterator[Command]:
    """Documents by title and path, the latest first."""
    found = list_documents(principal_of(request), query=words).filter(retired_at__isnull=True)
    for one in found[:MOST_OF_A_KIND]:
        link = reverse("admin:knowledge_document_change", args=[one.pk])
        yield Command(title=one.title, description=f"{_('Document')} · {one.path}", link=link, icon="description")


@command_finder
def reviews(request: HttpRequest, words: str) -> Iterator[Command]:
    """Reviews by the title of their document, the latest first: the desk, or the progress of one in work."""
    found = list_reviews(principal_of(request)).filter(version__document__title__icontains=words)
    for one in found.select_related("version__document")[:MOST_OF_A_KIND]:
        page = "change" if one.status in UNFINISHED else "triage"
        version = one.version
        if version is not None:
            yield Command(
                title=version.document.title,
                description=f"{_('Review')} v{one.version_number} · {one.checklist_version.checklist}",
                link=reverse(f"admin:review_review_{page}", args=[one.pk]),
                icon="rate_review",
            )
