"""Where a scenario's step is done: the page of the admin, for the document that the person walks through with."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise

from knowledge.models import Document
from review.models import Review, ScenarioStep, StepPage

PAGES = {
    StepPage.OVERVIEW: "index",
    StepPage.SEARCH: "hub_search",
    StepPage.UPLOAD: "knowledge_document_upload",
    StepPage.CHECKLISTS: "review_checklist_changelist",
    StepPage.CHECK_ITEMS: "review_checkitem_changelist",
    StepPage.GUIDELINES: "knowledge_guideline_changelist",
    StepPage.ONTOLOGIES: "knowledge_ontology_changelist",
    StepPage.PROMPTS: "review_judgeprompt_changelist",
    StepPage.EVALUATION: "evaluation_evaluationdataset_changelist",
    StepPage.AUDIT: "access_auditevent_changelist",
}
OF_REVIEW = {
    StepPage.REVIEW: "review_review_change",
    StepPage.TRIAGE: "review_review_triage",
    StepPage.CHANGES: "review_review_diff",
    StepPage.ANSWERS: "review_review_answers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLink:
    """Where to go; ``is_exact`` is False where the list stands in for the document's or review's own page."""

    url: str
    label: str | Promise
    is_exact: bool


def link_of(step: ScenarioStep, document: Document | None, review: Review | None) -> StepLink | None:
    """Find the page of a step; None when it has none. Without a document or review their lists stand in."""
    if not step.page:
        return None
    page = StepPage(step.page)
    url, is_exact = _address(page, document, review)
    return StepLink(url=url, label=page.label, is_exact=is_exact)


def _address(page: StepPage, document: Document | None, review: Review | None) -> tuple[str, bool]:
    if page in PAGES:
        return reverse(f"admin:{PAGES[page]}"), True
    if page in OF_REVIEW:
        if review is not None:
            return reverse(f"admin:{OF_REVIEW[page]}", args=[review.pk]), True
        return reverse("admin:review_review_changelist"), False
    if page == StepPage.START_REVIEW:
        chosen = f"?{urlencode({'document': document.public_id})}" if document else ""
        return reverse("admin:review_review_start") + chosen, True
    if document is not None:
        return reverse("admin:knowledge_document_by_id", args=[document.public_id]), True
    return reverse("admin:knowledge_document_changelist"), False
