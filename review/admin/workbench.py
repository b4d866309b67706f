"""The curator's workbench: a draft of a check item beside documents that it is tried on, until it is published."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hub.access.principals import HubRight, Principal
from hub.access.versions import may_publish, may_publish_own
from hub.admin_site.overtaken import digest_of
from hub.admin_site.pages import admin_page, badge, errors_as_messages, principal_of, render_page
from hub.core.errors import HubError, NotFound
from hub.core.languages import in_language
from knowledge.admin.document_picker import titles_of
from review.admin.workbench_form import KEPT, ROW_FIELDS, WorkbenchForm, line_parts, rules_to_pick
from review.curation.master_versions import (
    approve_checklist_version,
    is_stored,
    put_in_force_since,
    put_into_checklist,
    save_draft,
)
from review.curation.trying import compare_verdicts, reviews_to_compare, try_item, unusable
from review.masters.content import LIST_CRITERIA
from review.masters.listing import content_of, list_checklists
from review.models import (
    VERDICTS,
    CheckItemVersion,
    CheckList,
    CheckType,
    MasterStatus,
    Strategy,
)
from review.report.facts import label


@admin_page("workbench/", name="review_workbench")
@never_cache
def workbench(request: HttpRequest) -> HttpResponseBase:
    """Show a draft beside what it is tried on; store it, and publish it where asked for.

    ``draft`` names a draft, ``item`` an item whose newest version a new draft starts from; without both it is a new
    item's.
    """
    principal = curator_of(request)
    version = _draft_of(request)
    form = _form(request, principal, version)
    if request.method == "POST" and form.is_valid() and _is_up_to_date(form) and _may_go_on(request, form):
        is_changed = not is_stored(form.instance)
        try:
            stored = _store(principal, form)
        except HubError as error:
            form.add_error(None, str(error))
        else:
            if is_changed or "publish" not in request.POST:
                messages.success(request, _("{version} is stored as a draft.").format(version=stored))
            if "publish" in request.POST:
                _publish(request, principal, stored, form.cleaned_data["checklist"])
            return _onwards(stored, form)
    return render_page(
        request,
        "admin/review/checkitem/workbench.html",
        title=_("Workbench: {code}").format(code=version.item.code) if version.item_id else _("Workbench: new item"),
        form=form,
        version=version,
        lists=[form[name] for name in LIST_CRITERIA],
        texts=[form[name] for name in ("prompt", "rubric", "expected_format", "threshold")],
        rules=rules_to_pick(),
        parts=line_parts(),
        seen=_digest(version),
        names=titles_of(principal, form.document_ids),
        may_publish=_may_publish(principal, version),
        may_publish_own=may_publish_own(principal),
    )


@admin_page("workbench/trial/", name="review_workbench_trial")
@require_POST
def trial(request: HttpRequest) -> HttpResponse:
    """Try what is typed on the documents that are chosen, as a part of the page; nothing is stored."""
    principal = curator_of(request)
    form = _form(request, principal, _draft_of(request))
    form.full_clean()
    problems = _problems(form)
    trials = []
    if not problems:
        content = content_of(form.instance)
        for document_id in form.document_ids:
            try:
                found = try_item(principal=principal, content=content, document_id=document_id)
            except HubError as error:
                problems.append(str(error))
            else:
                badges = [verdict_badge(each) for each in (found.before, found.after)]
                trials.append((found, badges, [in_language(each.ja, each.en) for each in found.notices]))
    context = {"problems": list(dict.fromkeys(problems)), "trials": trials, "chosen": form.document_ids}
    return render(request, "admin/review/checkitem/workbench_trial.html", context)


@admin_page("workbench/reviews/", name="review_workbench_reviews")
@require_GET
@never_cache
def reviews(request: HttpRequest) -> JsonResponse:
    """The reviews whose verdicts are to be compared: {reviews: [{id, title}]}."""
    principal, checklist = curator_of(request), request.GET.get("checklist", "")
    try:
        found = reviews_to_compare(principal, checklist) if checklist else []
    except NotFound as error:
        return JsonResponse({"error": str(error)}, status=error.status)
    rows = [
        {"id": one.public_id, "title": one.version.document.title if one.version else one.document_id_text}
        for one in found
    ]
    return JsonResponse({"reviews": rows})


@admin_page("workbench/verdict/", name="review_workbench_verdict")
@require_POST
def verdict(request: HttpRequest) -> JsonResponse:
    """Compare the verdicts on one review, ``review``: {before, after, is_change}, or {error}."""
    principal = curator_of(request)
    form = _form(request, principal, _draft_of(request))
    form.full_clean()
    if problems := _problems(form):
        return JsonResponse({"error": "; ".join(problems)})
    try:
        found = compare_verdicts(
            principal=principal, content=content_of(form.instance), review_id=request.POST.get("review", "")
        )
    except HubError as error:
        return JsonResponse({"error": str(error)})
    return JsonResponse(
        {
            "before": verdict_badge(found.before),
            "after": verdict_badge(found.after),
            "is_change": found.is_change,
        }
    )


def curator_of(request: HttpRequest) -> Principal:
    """Who is signed in, if they keep check masters. :raises PermissionDenied: they do not."""
    principal = principal_of(request)
    if not principal.may(HubRight.MASTERS):
        raise PermissionDenied
    return principal


def verdict_badge(verdict: str | None) -> str:
    """A verdict as a badge; words where there is none."""
    return badge(verdict, label(VERDICTS, verdict)) if verdict else str(_("not in force yet"))


def _problems(form: WorkbenchForm) -> list[str]:
    """Why what is typed can't be tried; what else is missing stands in no way of that."""
    wrong = {name: errors for name, errors in form.errors.items() if name in (*LIST_CRITERIA, "threshold")}
    unread = [str(error) for errors in wrong.values() for error in errors]
    return unread or unusable(content_of(form.instance))


def _form(request: HttpRequest, principal: Principal, version: CheckItemVersion) -> WorkbenchForm:
    lists = [(row.code, f"{row} ({row.code})") for row in list_checklists(principal)]
    holding = CheckList.objects.filter(versions__entries__item_version__item_id=version.item_id or 0)
    initial = {
        "documents": request.GET.get("documents", ""),
        "checklist": request.GET.get("checklist") or holding.values_list("code", flat=True).first() or "",
    }
    return WorkbenchForm(request.POST or None, instance=version, checklists=lists, initial=initial)


def _draft_of(request: HttpRequest) -> CheckItemVersion:
    """The draft that the address names; a new one of the item that it names; or of a new item. Raises Http404."""
    named = {name: request.GET.get(name, "") for name in ("draft", "item")}
    if any(value and not (value.isascii() and value.isdigit() and len(value) < 10) for value in named.values()):
        raise Http404
    versions = CheckItemVersion.objects.select_related("item").order_by("-number")
    if named["draft"]:
        draft = versions.filter(pk=named["draft"], status=MasterStatus.DRAFT).first()
        if draft is None:
            raise Http404
        return draft
    if not named["item"]:
        return CheckItemVersion(check_type=CheckType.STYLE, strategy=Strategy.HYBRID)
    newest = versions.filter(item__pk=named["item"]).first()
    if newest is None:
        raise Http404
    if newest.status == MasterStatus.DRAFT:
        return newest
    values = {name: getattr(newest, name) for name in (*KEPT, "criteria")}
    return CheckItemVersion(item=newest.item, **values)


def _digest(version: CheckItemVersion) -> str:
    return digest_of(version, ROW_FIELDS) if version.pk else ""


def _is_up_to_date(form: WorkbenchForm) -> bool:
    """Whether nobody stored the draft since the page was opened; else the form says so and takes the next save."""
    stored = CheckItemVersion.objects.filter(pk=form.instance.pk).first() if form.instance.pk else None
    if stored is None or form.cleaned_data["seen"] == _digest(stored):
        return True
    form.add_error(
        None,
        _("This draft was stored meanwhile, by somebody else or in another tab. Yours is kept below: store it again."),
    )
    return False


def _may_publish(principal: Principal, version: CheckItemVersion) -> bool:
    """Whether the person may publish a draft as it is stored; what is not stored yet would be theirs."""
    return may_publish(principal, version) if version.pk else may_publish_own(principal)


def _may_go_on(request: HttpRequest, form: WorkbenchForm) -> bool:
    """Whether a draft that is to be published with changes may be published by who makes them; else the form says so.

    Stored first, it would be a draft that nobody of its writers may publish.
    """
    if "publish" not in request.POST or may_publish_own(principal_of(request)) or is_stored(form.instance):
        return True
    form.add_error(
        None,
        _(
            "Nothing is stored yet: who changes a draft cannot publish it. Publish it without a change, or store it as "
            "a draft and ask another curator to publish it."
        ),
    )
    return False


def _store(principal: Principal, form: WorkbenchForm) -> CheckItemVersion:
    """Store what is typed as a draft, with its item when that is new."""
    version: CheckItemVersion = form.instance
    for name in ("name_en", "check_type", "strategy"):
        setattr(version, name, form.cleaned_data[name])
    with transaction.atomic():
        if version.item._state.adding:
            version.item.save()
            version.item_id = version.item.pk
        save_draft(principal=principal, version=version)
    return version


def _publish(request: HttpRequest, principal: Principal, version: CheckItemVersion, checklist: str) -> None:
    """Publish a draft with the check list; the page says why not, and the drafts stay."""
    with errors_as_messages(request):
        master = put_into_checklist(principal=principal, item=version, code=checklist)
        since = put_in_force_since(master)  # a draft of before that is the version in force with this item
        approve_checklist_version(principal=principal, version=master, replaces=since.number if since else None)
        messages.success(request, _("{item} is published with {checklist}.").format(item=version, checklist=master))


def _onwards(version: CheckItemVersion, form: WorkbenchForm) -> HttpResponseRedirect:
    """Back to the workbench: at the draft, or at the next version of what is published now."""
    version.refresh_from_db()
    named = {"draft": version.pk} if version.status == MasterStatus.DRAFT else {"item": version.item_id}
    kept = {"documents": " ".join(form.document_ids), "checklist": form.cleaned_data["checklist"]}
    return HttpResponseRedirect(f"{reverse('admin:review_workbench')}?{urlencode({**named, **kept})}")
