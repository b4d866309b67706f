"""Reviews: the list. The pages about one review are in review_pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from hub.access.names import name_of
from hub.access.principals import Principal, Scope
from hub.admin_site.base import ReadOnlyMixin, everybody
from hub.admin_site.keyset import KeysetChangeList, KeysetModelAdmin
from hub.admin_site.pages import badge, principal_of, progress_bar, two_lines
from knowledge.models import Collection
from review.admin import desk_pages, people_pages, review_pages, start_pages, triage_pages
from review.models import UNFINISHED, Review
from review.runs.reviews import list_reviews
from review.triage.signing import sign_off_labels, with_signatures_noted


class ReviewChangeList(KeysetChangeList):
    """Leads to the desk of a review that is finished, and to the page that shows the progress of one in work."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        reviews = cast(Sequence[Review], self.result_list)
        labels = sign_off_labels(reviews)
        for review in reviews:
            review.__dict__["sign_off_label"] = labels[review.pk]

    def url_for_result(self, result: Review) -> str:
        if result.status in UNFINISHED:
            return str(super().url_for_result(result))
        return reverse("admin:review_review_triage", args=[result.pk])


@admin.register(Review)
class ReviewAdmin(ReadOnlyMixin, KeysetModelAdmin):
    """Reviews are started and cancelled by the services; nothing is edited or deleted here."""

    change_list_template = "admin/review/review/list.html"
    list_display = (
        "document",
        "checklist",
        "state",
        "verdict_badge",
        "sign_off",
        "requester",
        "created_at",
        "finished_at",
    )
    list_filter = ("status", "verdict")
    search_fields = ("public_id",)
    search_help_text = _("Words of the document's title or path, or an id (rev_…, doc_…)")
    pages = {
        "review_review_start": ("start/", start_pages.start),
        "review_review_plan": ("start/plan/", start_pages.plan),
        "review_review_progress": ("progress/", review_pages.progress),
        "review_review_cancel": ("<int:pk>/cancel/", review_pages.cancel),
        "review_review_report": ("<int:pk>/report/<str:report_format>/", review_pages.report),
        "review_review_triage": ("<int:pk>/triage/", triage_pages.triage),
        "review_review_triage_save": ("<int:pk>/triage/save/", triage_pages.save),
        "review_review_triage_check": ("<int:pk>/triage/check/<str:check_item_id>/", desk_pages.check),
        "review_review_triage_finding": ("<int:pk>/triage/<str:finding_id>/", triage_pages.finding),
        "review_review_verdict": ("<int:pk>/verdict/", desk_pages.decide),
        "review_review_take_back": ("<int:pk>/take-back/", desk_pages.take_back),
        "review_review_sign_off": ("<int:pk>/sign-off/", desk_pages.sign),
        "review_review_carry": ("<int:pk>/carry/", people_pages.carry),
        "review_review_promote": ("<int:pk>/promote/<str:finding_id>/", people_pages.promote),
        "review_review_keep": ("<int:pk>/keep/", people_pages.keep),
        "review_review_answers": ("<int:pk>/answers/", people_pages.answers),
        "review_review_diff": ("<int:pk>/diff/", people_pages.diff),
    }

    may_view = everybody  # the queryset holds only what the person may read

    def may_add(self, principal: Principal) -> bool:
        return Collection.objects.visible_to(principal, Scope.REVIEW).exists()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Review]:
        """Keep what the person may read, with all that a row shows."""
        reviews = list_reviews(principal_of(request))
        return with_signatures_noted(reviews).select_related(
            "checklist_version__checklist", "version__document", "requested_by"
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """List the reviews, and take a file in for a new one where the person may upload and ask for reviews."""
        principal = principal_of(request)
        both = Collection.objects.visible_to(principal, Scope.REVIEW).filter(
            pk__in=Collection.objects.visible_to(principal, Scope.UPLOAD).values("pk")
        )
        context = {**(extra_context or {}), "may_upload": both.exists()}
        shown: HttpResponseBase = super().changelist_view(request, context)
        return shown

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:  # noqa: ANN401
        return ReviewChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Review], search_term: str
    ) -> tuple[QuerySet[Review], bool]:
        if not search_term:
            return queryset, False
        is_meant = Q(public_id=search_term) | Q(document_id_text=search_term)
        for name in ("title", "path"):
            is_meant |= Q(**{f"version__document__{name}__icontains": search_term})
        return queryset.filter(is_meant), False

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
            return self.not_found(request, object_id)
        return review_pages.detail(request, review)

    @admin.display(description=_("document"))
    def document(self, review: Review) -> SafeString:
        """Show title and path, or what is left when the document was deleted."""
        if review.version is None:
            return two_lines(_("deleted document"), review.document_id_text)
        return two_lines(review.version.document.title, f"v{review.version_number} · {review.version.document.path}")

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

    @admin.display(description=_("by"))
    def requester(self, review: Review) -> str:
        return name_of(review.requested_by) if review.requested_by else "-"

    @admin.display(description=_("sign-off"))
    def sign_off(self, review: Review) -> str:
        return str(review.__dict__["sign_off_label"]) or "-"
