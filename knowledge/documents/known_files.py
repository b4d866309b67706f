"""The documents that came from a source before, by path, and those of others at the paths of its files."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from hub.access.principals import Principal, Scope
from knowledge.models import ChunkPolicy, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A document that came from a source, and whether it is still up to date."""

    pk: int
    stamp: str
    is_retired: bool
    chosen_policy: ChunkPolicy | None
    version_id: int | None
    version_policy_id: int | None
    has_own_policy: bool | None
    status: str | None


def load_known_files(principal: Principal, *, collection: str, root: str) -> dict[str, KnownFile]:
    """The documents of one source by path, in one query."""
    documents = (
        Document.objects.visible_to(principal, Scope.UPLOAD)
        .filter(collection__slug=collection, source_root=root)
        .select_related("chosen_policy", "latest_version")
        .only(
            "path",
            "source_stamp",
            "retired_at",
            "chosen_policy",
            "latest_version__policy_id",
            "latest_version__has_own_policy",
            "latest_version__status",
        )
    )
    return {
        document.path: KnownFile(
            pk=document.pk,
            stamp=document.source_stamp,
            is_retired=document.retired_at is not None,
            chosen_policy=document.chosen_policy,
            version_id=document.latest_version_id,
            version_policy_id=version.policy_id if (version := document.latest_version) else None,
            has_own_policy=version.has_own_policy if version else None,
            status=version.status if version else None,
        )
        for document in documents
    }


def documents_of_others(principal: Principal, *, collection: str, root: str) -> QuerySet[Document]:
    """The documents of a collection that a scan of one of its sources leaves alone: people uploaded them, or another
    source holds them. The permission filter is applied.
    """
    in_collection = Document.objects.visible_to(principal, Scope.UPLOAD).filter(collection__slug=collection)
    of_another_source = Q(retired_at__isnull=True) & ~Q(source_root="")
    return in_collection.exclude(source_root=root).filter(Q(owner__isnull=False) | of_another_source)
