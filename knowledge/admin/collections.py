"""Collections, who may use them, and the kinds of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models, transaction
from django.db.models import Model, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.access.services import record_event
from hub.admin_site.base import HubModelAdmin, HubTabularInline, column, everybody, hub_curators, nobody
from hub.admin_site.pages import is_staff, principal_of
from knowledge.admin.curated import CuratedAdmin
from knowledge.collections import create_collection, delete_collection, update_collection
from knowledge.models import Collection, CollectionGrant, DocumentType


class GrantInline(HubTabularInline):
    """Who has which role; superusers only."""

    model = CollectionGrant
    fields = ("user", "group", "role")
    autocomplete_fields = ("user", "group")
    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_staff(request) and principal_of(request).is_superuser

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request, obj)


class CollectionForm(forms.ModelForm[Collection]):
    def validate_unique(self) -> None:
        """The service judges: a slug of a deleted collection is refused in the words of one that is taken."""


@admin.register(Collection)
class CollectionAdmin(HubModelAdmin):
    form = CollectionForm
    list_display = ("name", "slug", "classification", "retention_days", "documents_count", "created_at")
    list_filter = ("classification",)
    search_fields = ("slug", "name")
    fields = ("slug", "name", "description", "classification", "retention_days")
    inlines = (GrantInline,)
    fixed_fields = ("slug",)  # its name in programs

    may_view = everybody  # the queryset holds only what the person may see
    may_add = hub_curators

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
                **{name: form.cleaned_data[name] for name in form.changed_data if name in form.cleaned_data},
            )
            return
        made = create_collection(
            principal=principal,
            slug=obj.slug,
            name=obj.name,
            description=obj.description,
            classification=Classification(obj.classification),
            retention_days=obj.retention_days,
        )
        obj.__dict__.update(made.__dict__)

    def save_formset(
        self,
        request: HttpRequest,
        form: forms.ModelForm[Collection],
        formset: BaseInlineFormSet[Any, Any, Any],
        change: bool,
    ) -> None:
        with transaction.atomic():
            super().save_formset(request, form, formset, change)
            if formset.has_changed():
                grants = CollectionGrant.objects.filter(collection=form.instance).select_related("user", "group")
                record_event(
                    principal_of(request),
                    "CONFIG_CHANGE",
                    f"collection:{form.instance.slug}",
                    grants=[f"{grant.user or grant.group}: {grant.role}" for grant in grants],
                )

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


@admin.register(DocumentType)
class DocumentTypeAdmin(CuratedAdmin):
    """Curators may add kinds; a code stays as it is once documents may carry it."""

    list_display = ("code", "name_ja", "name_en")
    search_fields = ("code", "name_ja", "name_en")
    fixed_fields = ("code",)

    may_delete = nobody

    def save_model(
        self, request: HttpRequest, obj: DocumentType, form: forms.ModelForm[DocumentType], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        record_event(principal_of(request), "CONFIG_CHANGE", f"document_type:{obj.code}")
