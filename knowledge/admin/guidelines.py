"""Guidelines in the admin: the list, an edition's article tree, what it changed, and putting it into force."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import label_for_field
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from hub.access.principals import Principal
from hub.admin_site.badges import badge, two_lines
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin
from hub.admin_site.callers import errors_as_messages, principal_of
from hub.admin_site.pages import render_page
from hub.core.errors import NotFound
from hub.core.publication import PublicationStatus
from knowledge.admin.guideline_import import CHANGES, import_page
from knowledge.guidelines import editions as guidelines
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyMixin, HubModelAdmin):
    """Everyone reads guidelines; curators of the hub import editions and put them into force."""

    list_display = ("name_and_code", "publisher", "licence", "in_force", "articles_count")
    search_fields = ("code", "name_ja", "name_en")
    change_list_template = "admin/knowledge/guideline/list.html"

    def may_view(self, principal: Principal, obj: Model | None) -> bool:
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Guideline]:
        """Keep what the person may see, with its editions."""
        return guidelines.list_guidelines(principal_of(request))

    def get_urls(self) -> list[URLPattern]:
        """Add the import, and what is done with an edition."""
        view = self.admin_site.admin_view
        own = [
            path("import/", view(import_page), name="knowledge_guideline_import"),
            path("<int:pk>/diff/<int:number>/", view(diff_page), name="knowledge_guideline_diff"),
            path("<int:pk>/publish/<int:number>/", view(_publish), name="knowledge_guideline_publish"),
            path("<int:pk>/retire/<int:number>/", view(_retire), name="knowledge_guideline_retire"),
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Offer the import to curators of the hub."""
        extra = {**(extra_context or {}), "may_curate": principal_of(request).curates_hub()}
        response: HttpResponseBase = super().changelist_view(request, extra)
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show a guideline with its editions and the articles of one."""
        return guideline_page(request, object_id)

    @admin.display(description=_("name"))
    def name_and_code(self, row: Guideline) -> SafeString:
        """Show the name, and the code below it."""
        return two_lines(row.name, row.code)

    @admin.display(description=_("edition in force"))
    def in_force(self, row: Guideline) -> SafeString | str:
        """Show the published edition."""
        edition = _published(row)
        return format_html("v{} {}", edition.number, edition.label) if edition else "-"

    @admin.display(description=_("articles"))
    def articles_count(self, row: Guideline) -> int:
        """Count the articles of the published edition."""
        edition = _published(row)
        return int(edition.__dict__["articles_count"]) if edition else 0


def _published(row: Guideline) -> GuidelineEdition | None:
    editions: list[GuidelineEdition] = row.__dict__["shown_editions"]
    return next((edition for edition in editions if edition.status == PublicationStatus.PUBLISHED), None)


def guideline_page(request: HttpRequest, object_id: str) -> HttpResponseBase:
    """Show the editions and the article tree of the asked, the published or the newest one."""
    principal = principal_of(request)
    guideline = _find(principal, object_id)
    editions: list[GuidelineEdition] = guideline.__dict__["shown_editions"]
    asked = request.GET.get("edition", "")
    shown = next((row for row in editions if str(row.number) == asked), None)
    shown = shown or _published(guideline) or (editions[0] if editions else None)
    articles = list(shown.articles.select_related("parent").order_by("position")) if shown else []
    return render_page(
        request,
        "admin/knowledge/guideline/detail.html",
        title=guideline.name,
        guideline=guideline,
        editions=[(row, badge(row.status, row.get_status_display())) for row in editions],
        shown=shown,
        articles=_tree(articles),
        may_curate=principal.curates_hub(),
    )


def _tree(articles: list[GuidelineArticle]) -> list[tuple[int, GuidelineArticle, list[str]]]:
    """Each article with how deep it stands and the check items that rest on it."""
    items = guidelines.check_items_of([article.code for article in articles])
    depths: dict[int, int] = {}
    for article in articles:
        above = depths.get(article.parent_id) if article.parent_id else None
        depths[article.pk] = 0 if above is None else above + 1
    return [(depths[article.pk], article, items.get(article.code, [])) for article in articles]


def diff_page(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Show what an edition changed against the one before it."""
    principal = principal_of(request)
    guideline = _find(principal, str(pk))
    try:
        before, edition, changes = guidelines.compare_editions(principal, guideline.code, number=number)
    except NotFound as error:
        raise Http404(str(error)) from error
    return render_page(
        request,
        "admin/knowledge/guideline/diff.html",
        title=_("Changes of {edition}").format(edition=edition),
        guideline=guideline,
        before=before,
        edition=edition,
        renamed=_renamed(edition),
        changes=[(change, CHANGES[change.kind]) for change in changes],
    )


def _renamed(edition: GuidelineEdition) -> list[tuple[str, str, str]]:
    """What publishing the draft changes in the guideline itself: the field's name, its text now and then."""
    if edition.status != PublicationStatus.DRAFT:
        return []
    guideline = edition.guideline
    return [
        (str(label_for_field(name, Guideline)), getattr(guideline, name), text)
        for name, text in edition.guideline_changes.items()
    ]


def _find(principal: Principal, pk: str) -> Guideline:
    found = guidelines.list_guidelines(principal).filter(pk=pk).first() if pk.isdecimal() else None
    if found is None:
        raise Http404
    return found


@require_POST
def _publish(request: HttpRequest, pk: int, number: int) -> HttpResponseRedirect:
    principal = principal_of(request)
    guideline = _find(principal, str(pk))
    with errors_as_messages(request):
        edition = guidelines.publish_edition(principal=principal, code=guideline.code, number=number)
        messages.success(request, _("{edition} is in force now.").format(edition=edition))
    return _back(pk, number)


@require_POST
def _retire(request: HttpRequest, pk: int, number: int) -> HttpResponseRedirect:
    principal = principal_of(request)
    guideline = _find(principal, str(pk))
    with errors_as_messages(request):
        edition = guidelines.retire_edition(principal=principal, code=guideline.code, number=number)
        messages.success(request, _("{edition} is retired.").format(edition=edition))
    return _back(pk, number)


def _back(pk: int, number: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:knowledge_guideline_change', args=[pk])}?edition={number}")
