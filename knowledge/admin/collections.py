"""Collections, who may use them, and the kinds of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.db import models, transaction
from django.db.models import Model, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from hub.access.principals import Classification, HubRight, Principal, Scope
from hub.access.services import record_event
from hub.admin_site.asking import ask_first
from hub.admin_site.base import HubModelAdmin, HubTabularInline, column, everybody, nobody
from hub.admin_site.pages import errors_as_messages, is_staff, principal_of
from hub.core.errors import InvalidInput
from knowledge.admin.curated import CuratedAdmin
from knowledge.admin.fields import ChunkingForm, LinesField, kind_choices
from knowledge.collections import create_collection, delete_collection, update_collection
from knowledge.documents.chunking import cut_otherwise, recut_collection, set_chunking
from knowledge.grants import Grantee, find_holder, grant_role, grantee_of, withdraw_role
from knowledge.models import Collection, CollectionGrant, DocumentType
from knowledge.types.chunks import SizeUnit


class GrantForm(forms.ModelForm[CollectionGrant]):
    """A person or a group by name: who administers a collection is shown no list of all people."""

    user = forms.CharField(label=_("user"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget)
    group = forms.CharField(label=_("group"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = CollectionGrant
        fields = ("user", "group", "role", "until", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        holder = {"user": self.instance.user, "group": self.instance.group}
        named = {name: str(row) for name, row in holder.items() if row is not None}
        self.initial = {**self.initial, **named}

    def clean_user(self) -> User | None:
        """Find the person. Raises ValidationError for a name that nobody has."""
        name = self.cleaned_data["user"]
        return self._found(Grantee(user=name)).get("user") if name else None

    def clean_group(self) -> Group | None:
        """Find the group. Raises ValidationError for a name that none has."""
        name = self.cleaned_data["group"]
        return self._found(Grantee(group=name)).get("group") if name else None

    @staticmethod
    def _found(named: Grantee) -> dict[str, Any]:
        try:
            return find_holder(named)
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from error


class GrantInline(HubTabularInline):
    """Who has which role, for who administers the collection."""

    model = CollectionGrant
    form = GrantForm
    fields = ("user", "group", "role", "until", "reason")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[CollectionGrant]:
        """Give the grants; Django asks without a collection whether they may be seen, so it can't say."""
        rows = CollectionGrant.objects.all()
        return rows.select_related("user", "group").order_by("user__username", "group__name", "role")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        administered = Collection.objects.visible_to(principal_of(request), Scope.ADMIN)
        return is_staff(request) and obj is not None and administered.filter(pk=obj.pk).exists()

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request, obj)


CHUNKING = ("chunk_strategy", "chunk_size", "chunk_overlap")


class CollectionForm(ChunkingForm, forms.ModelForm[Collection]):
    anonymised_kinds = forms.MultipleChoiceField(
        label=_("Personal data that is replaced at upload"),
        required=False,
        choices=kind_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Counts from now on; earlier versions of documents stay as they are. PDF files are then refused."),
    )
    anonymised_fields = LinesField(label=_("Fields whose values are replaced at upload"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        policy = self.instance.policy
        if policy is not None and policy.unit == SizeUnit.TOKENS:
            named = {"chunk_strategy": policy.strategy, "chunk_size": policy.size, "chunk_overlap": policy.overlap}
            self.initial = {**self.initial, **named}

    def validate_unique(self) -> None:
        """The service judges: a slug of a deleted collection is refused in the words of one that is taken."""


@admin.register(Collection)
class CollectionAdmin(HubModelAdmin):
    right = HubRight.COLLECTIONS
    form = CollectionForm
    list_display = ("name", "slug", "classification", "retention_days", "documents_count", "created_at")
    list_filter = ("classification",)
    search_fields = ("slug", "name")
    fields = (
        "slug",
        "name",
        "description",
        "classification",
        "retention_days",
        "anonymised_kinds",
        "anonymised_fields",
        *CHUNKING,
    )
    actions = ("cut_anew",)
    inlines = (GrantInline,)
    fixed_fields = ("slug",)  # its name in programs

    may_view = everybody  # the queryset holds only what the person may see

    def may_change(self, principal: Principal, obj: Model | None) -> bool:
        curated = Collection.objects.visible_to(principal, Scope.CURATE)
        return curated.exists() if obj is None else curated.filter(pk=obj.pk).exists()

    may_delete = may_change

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        principal = principal_of(request)
        rows = Collection.objects.visible_to(principal)
        live = models.Q(documents__retired_at__isnull=True, documents__classification__lte=principal.ceiling)
        return rows.annotate(live_documents=models.Count("documents", filter=live)).order_by("slug")

    def save_model(
        self, request: HttpRequest, obj: Collection, form: forms.ModelForm[Collection], change: bool
    ) -> None:
        principal = principal_of(request)
        if change:
            update_collection(
                principal=principal,
                slug=obj.slug,
                **{name: form.cleaned_data[name] for name in form.changed_data if name not in CHUNKING},
            )
            self._chunking(request, obj, form)
            return
        made = create_collection(
            principal=principal,
            slug=obj.slug,
            name=obj.name,
            description=obj.description,
            classification=Classification(obj.classification),
            retention_days=obj.retention_days,
            anonymised_kinds=obj.anonymised_kinds,
            anonymised_fields=obj.anonymised_fields,
        )
        obj.__dict__.update(made.__dict__)
        self._chunking(request, obj, form)

    def _chunking(self, request: HttpRequest, obj: Collection, form: forms.ModelForm[Collection]) -> None:
        if not isinstance(form, CollectionForm) or not set(CHUNKING) & set(form.changed_data):
            return
        principal = principal_of(request)
        changed = set_chunking(principal=principal, slug=obj.slug, chunk_options=form.chunk_options())
        if count := cut_otherwise(principal, changed).count():
            words = _(
                "New documents are cut so. {count} are cut otherwise: “Cut anew” in the list works on them again."
            )
            messages.info(request, words.format(count=count))

    @admin.action(description=_("Cut anew the documents that are cut otherwise than the collection says"))
    def cut_anew(self, request: HttpRequest, queryset: QuerySet[Collection]) -> HttpResponseBase | None:
        principal = principal_of(request)
        line = _("{slug}: {count} documents")
        asked = ask_first(
            request,
            title=_("Cut anew"),
            consequence=_(
                "The documents are cut and embedded again, which takes the workers' time. Until then the old "
                "passages are found."
            ),
            rows=[line.format(slug=row.slug, count=cut_otherwise(principal, row).count()) for row in queryset],
            button=_("Cut anew"),
        )
        if asked is not None:
            return asked
        for slug in queryset.values_list("slug", flat=True):
            with errors_as_messages(request):
                done = recut_collection(principal=principal, collection=slug)
                for _id, refused in done.refused:
                    messages.error(request, str(refused))
                words = _("{slug}: {count} documents are worked on again.")
                messages.success(request, words.format(slug=slug, count=len(done.done)))
        return None

    def save_formset(
        self,
        request: HttpRequest,
        form: forms.ModelForm[Collection],
        formset: BaseInlineFormSet[Any, Any, Any],
        change: bool,
    ) -> None:
        """Give and take roles through the services; what is given is given first, so that somebody administers it."""
        slug, principal = form.instance.slug, principal_of(request)
        removed = [one for one in formset.deleted_forms if one.instance.pk]
        given = [one for one in formset.forms if one.has_changed() and one not in formset.deleted_forms]
        before = {row.pk: row for row in form.instance.grants.select_related("user", "group")}
        with transaction.atomic():
            for one in given:
                grant_role(
                    principal=principal,
                    slug=slug,
                    to=grantee_of(one.instance),
                    role=one.instance.role,
                    until=one.instance.until,
                    reason=one.instance.reason,
                )
            for one in (*removed, *given):
                old = before.get(one.instance.pk)
                if old is not None and (one in removed or _held(old) != _held(one.instance)):
                    withdraw_role(principal=principal, slug=slug, to=grantee_of(old), role=old.role)
        # for the page's history
        formset.new_objects = [one.instance for one in given if one.instance.pk is None]
        formset.changed_objects = [(one.instance, one.changed_data) for one in given if one.instance.pk is not None]
        formset.deleted_objects = [one.instance for one in removed]

    def get_deleted_objects(
        self,
        objs: Iterable[Collection],
        request: HttpRequest,
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Name the collections only: a collection with documents is refused by the service."""
        named = [str(collection) for collection in objs]
        return named, {str(self.opts.verbose_name_plural): len(named)}, set(), []

    def delete_model(self, request: HttpRequest, obj: Collection) -> None:
        """Delete through the service, which refuses while documents are in it."""
        delete_collection(principal=principal_of(request), slug=obj.slug)

    documents_count = column(_("documents"), "live_documents", ordering="live_documents")


def _held(row: CollectionGrant) -> tuple[Grantee, str]:
    return grantee_of(row), row.role


@admin.register(DocumentType)
class DocumentTypeAdmin(CuratedAdmin):
    """Curators may add kinds; a code stays as it is once documents may carry it."""

    right = HubRight.ONTOLOGIES
    list_display = ("code", "name_ja", "name_en")
    search_fields = ("code", "name_ja", "name_en")
    fixed_fields = ("code",)

    may_delete = nobody

    def save_model(
        self, request: HttpRequest, obj: DocumentType, form: forms.ModelForm[DocumentType], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        record_event(principal_of(request), "CONFIG_CHANGE", f"document_type:{obj.code}")
