"""Guidelines in the admin: the list, an edition's article tree, its changes, putting it in force; importing a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import label_for_field
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminDateWidget, UnfoldAdminTextInputWidget

from hub.access.principals import HubRight, Principal
from hub.access.version_people import people_of_versions
from hub.access.versions import PublicationStatus, refusals
from hub.admin_site.base import HubModelAdmin, ReadOnlyMixin, everybody
from hub.admin_site.carried_file import carry_file, chosen_file
from hub.admin_site.pages import badge, errors_as_messages, principal_of, render_page, two_lines
from hub.core.errors import HubError, NotFound
from knowledge.admin.changed_fields import changed_fields
from knowledge.admin.fields import line_field, type_names
from knowledge.guidelines import editions as guidelines
from knowledge.guidelines.diff import ArticleChange
from knowledge.guidelines.drafts import ImportPreview
from knowledge.guidelines.imports import GuidelineImport, import_edition, preview_import
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition

SALT = "knowledge.guideline_import"
CHANGES_SHOWN = 200
CHANGES = {"added": _("added"), "removed": _("removed"), "changed": _("changed"), "moved": _("moved")}


class ImportForm(forms.Form):
    """Which guideline the file is an edition of; the file itself is read from the request."""

    code = forms.SlugField(
        label=_("Code"),
        max_length=60,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Of a guideline that is there, or of a new one."),
    )
    label = line_field(_("Edition"), max_length=100, help_text=_("As people call it, for instance 2026-04."))
    effective_date = forms.DateField(label=_("In force from"), required=False, widget=UnfoldAdminDateWidget)
    article_prefix = line_field(
        _("Prefix of article codes"), max_length=11, help_text=_("New guidelines only, for instance GL-.")
    )
    name_ja = line_field(_("Name (ja)"))
    name_en = line_field(_("Name (en)"))
    publisher = line_field(_("Publisher"))
    licence = line_field(_("Licence"))
    source = forms.CharField(label=_("Source"), required=False, widget=UnfoldAdminTextInputWidget)


def import_page(request: HttpRequest) -> HttpResponseBase:
    """Show the form; a POST shows what the file would change, and with ``store`` stores it as a draft."""
    form = ImportForm(request.POST or None, initial={"code": request.GET.get("code", "")})
    preview: ImportPreview | None = None
    carried = ""
    if request.method == "POST" and form.is_valid():
        try:
            asked = _asked(request, form.cleaned_data)
            if "store" in request.POST:
                return _store(request, asked)
            preview = preview_import(principal=principal_of(request), asked=asked)
            carried = carry_file(request, asked.filename, asked.content, salt=SALT)
        except HubError as error:
            form.add_error(None, str(error))
    return render_page(
        request,
        "admin/knowledge/guideline/import.html",
        title=_("Import a guideline"),
        form=form,
        preview=preview,
        changes=_in_words(preview.changes[:CHANGES_SHOWN]) if preview else [],
        carried=carried,
    )


def _store(request: HttpRequest, asked: GuidelineImport) -> HttpResponseRedirect:
    edition = import_edition(principal=principal_of(request), asked=asked)
    messages.success(request, _("{edition} is stored as a draft. Publish it when it is right.").format(edition=edition))
    return _to_edition(edition.guideline_id, edition.number)


def _asked(request: HttpRequest, facts: dict[str, Any]) -> GuidelineImport:
    # A form's own attribute "prefix" is Django's.
    given = {"prefix" if name == "article_prefix" else name: value for name, value in facts.items()}
    filename, content = chosen_file(request, salt=SALT)
    return GuidelineImport(**given, filename=filename, content=content)


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
    people = people_of_versions(editions)
    articles = list(shown.articles.select_related("parent").order_by("position")) if shown else []
    return render_page(
        request,
        "admin/knowledge/guideline/detail.html",
        title=guideline.name,
        guideline=guideline,
        editions=[
            (
                row,
                badge(row.status, row.get_status_display()),
                people[row.audited].get(row.published_by, row.published_by),
                *refusals(principal, row).values(),
            )
            for row in editions
        ],
        shown=shown,
        articles=_tree(articles),
        types=type_names() if articles else {},
        may_curate=principal.may(HubRight.ONTOLOGIES),
    )


def _tree(articles: list[GuidelineArticle]) -> list[tuple[int, GuidelineArticle, list[str]]]:
    """Each article with how deep it is and the check items that rest on it."""
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
        changes=_in_words(changes),
    )


def _in_words(changes: Sequence[ArticleChange]) -> list[tuple[ArticleChange, Promise, list[tuple[str, str, str]]]]:
    """Each change with what it is, and the fields that differ, in words."""
    return [(one, CHANGES[one.kind], changed_fields(GuidelineArticle, one.fields)) for one in changes]


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


def _to_edition(pk: int, number: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:knowledge_guideline_change', args=[pk])}?edition={number}")


def _button(act: Callable[..., GuidelineEdition], done: str | Promise) -> Callable[..., HttpResponseRedirect]:
    """A view that has the service ``act`` on an edition, and says ``done`` of it."""

    @require_POST
    def press(request: HttpRequest, pk: int, number: int) -> HttpResponseRedirect:
        principal = principal_of(request)
        guideline = _find(principal, str(pk))
        with errors_as_messages(request):
            edition = act(principal=principal, code=guideline.code, number=number)
            messages.success(request, str(done).format(edition=edition))
        return _to_edition(pk, number)

    return press


_publish = _button(guidelines.publish_edition, _("{edition} is in force now."))
_retire = _button(guidelines.retire_edition, _("{edition} is retired."))


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyMixin, HubModelAdmin):
    """Everyone reads guidelines; curators of the hub import editions and put them into force."""

    list_display = ("name_and_code", "publisher", "licence", "in_force", "articles_count")
    search_fields = ("code", "name_ja", "name_en")
    change_list_template = "admin/knowledge/guideline/list.html"
    pages = {
        "knowledge_guideline_import": ("import/", import_page),
        "knowledge_guideline_diff": ("<int:pk>/diff/<int:number>/", diff_page),
        "knowledge_guideline_publish": ("<int:pk>/publish/<int:number>/", _publish),
        "knowledge_guideline_retire": ("<int:pk>/retire/<int:number>/", _retire),
    }

    may_view = everybody

    def get_queryset(self, request: HttpRequest) -> QuerySet[Guideline]:
        return guidelines.list_guidelines(principal_of(request))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        extra = {**(extra_context or {}), "may_curate": principal_of(request).may(HubRight.ONTOLOGIES)}
        response: HttpResponseBase = super().changelist_view(request, extra)
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        return guideline_page(request, object_id)

    @admin.display(description=_("name"))
    def name_and_code(self, row: Guideline) -> SafeString:
        return two_lines(row.name, row.code)

    @admin.display(description=_("edition in force"))
    def in_force(self, row: Guideline) -> SafeString | str:
        edition = _published(row)
        return format_html("v{} {}", edition.number, edition.label) if edition else "-"

    @admin.display(description=_("articles"))
    def articles_count(self, row: Guideline) -> int:
        edition = _published(row)
        return int(edition.__dict__["articles_count"]) if edition else 0
