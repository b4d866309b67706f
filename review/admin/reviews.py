"""Reviews: the list. The pages about one review are in review_pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.admin_site.base import ReadOnlyMixin
from hub.admin_site.keyset import KeysetModelAdmin
from hub.admin_site.pages import badge, principal_of, progress_bar, two_lines
from knowledge.models import Collection
from review.admin import people_pages, review_pages, triage_pages
from review.models import UNFINISHED, Review
from review.runs.reviews import list_reviews


@admin.register(Review)
class ReviewAdmin(ReadOnlyMixin, KeysetModelAdmin):
    """Reviews are started and cancelled by the services; nothing is edited or deleted here."""

    list_display = ("document", "checklist", "state", "verdict_badge", "requested_by", "created_at", "finished_at")
    list_filter = ("status", "verdict")
    search_fields = ("public_id",)
    search_help_text = _("Id of a review (rev_…) or of a document (doc_…)")

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return Collection.objects.visible_to(principal, Scope.REVIEW).exists()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Review]:
        """Keep what the person may read, with all that a row shows."""
        reviews = list_reviews(principal_of(request))
        return reviews.select_related("checklist_version__checklist", "version__document", "requested_by")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Review], search_term: str
    ) -> tuple[QuerySet[Review], bool]:
        if not search_term:
            return queryset, False
        return queryset.filter(public_id=search_term) | queryset.filter(document_id_text=search_term), False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("start/", view(review_pages.start), name="review_review_start"),
            path("progress/", view(review_pages.progress), name="review_review_progress"),
            path("<int:pk>/cancel/", view(review_pages.cancel), name="review_review_cancel"),
            path("<int:pk>/report/<str:report_format>/", view(review_pages.report), name="review_review_report"),
            path("<int:pk>/triage/", view(triage_pages.triage), name="review_review_triage"),
            path("<int:pk>/triage/save/", view(triage_pages.save), name="review_review_triage_save"),
            path("<int:pk>/triage/<str:finding_id>/", view(triage_pages.finding), name="review_review_triage_finding"),
            path("<int:pk>/verdict/<str:check_item_id>/", view(people_pages.decide), name="review_review_verdict"),
            path("<int:pk>/sign-off/", view(people_pages.sign), name="review_review_sign_off"),
            path("<int:pk>/carry/", view(people_pages.carry), name="review_review_carry"),
            path("<int:pk>/keep/", view(people_pages.keep), name="review_review_keep"),
            path("<int:pk>/answers/", view(people_pages.answers), name="review_review_answers"),
            path("<int:pk>/diff/", view(people_pages.diff), name="review_review_diff"),
        ]
        return [*own, *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:review_review_start"))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the review; one that the person may not see answers like one that is not there."""
        review = self.get_object(request, object_id)
        if review is None:
            redirect: HttpResponseBase = self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
            return redirect
        return review_pages.detail(request, review)

    @admin.display(description=_("document"))
    def document(self, review: Review) -> SafeString:
        """Show title and path, or what is left when the document was deleted."""
        if review.version is None:
            return two_lines(_("deleted document"), review.document_id_text)
        return two_lines(review.version.document.title, f"v{review.version_number} {review.public_id}")

    @admin.display(description=_("check list"))
    def checklist(self, review: Review) -> SafeString:
        master = review.checklist_version
        return two_lines(master.checklist, f"{master.checklist.code} v{master.number}")

    @admin.display(description=_("state"))
    def state(self, review: Review) -> SafeString:
        """Show the state, and how far the review is."""
        label, percent = review_pages.state_of(review)
        shown = badge(review.status, label)
        if review.status not in UNFINISHED:
            return shown
        return format_html(
            '<span class="hub-work" data-progress-of="{}">{}{}</span>', review.pk, shown, progress_bar(percent)
        )

    @admin.display(description=_("verdict"))
    def verdict_badge(self, review: Review) -> SafeString | str:
        return badge(review.verdict, review.get_verdict_display()) if review.verdict else "-"
