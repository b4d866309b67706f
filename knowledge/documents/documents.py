"""Finding a document, and what each service checks of it: ceilings, places, filters, chunking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.errors import Conflict, Forbidden, HubError, InvalidInput, NotFound
from knowledge.collections import collection_not_found
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import ChunkPolicy, Collection, Document, DocumentType
from knowledge.types.chunks import ChunkOptions, SizeUnit
from knowledge.types.search import SearchFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneToEach:
    """The ids of the documents with which something was done, and those that were refused, each with the reason."""

    done: tuple[str, ...]
    refused: tuple[tuple[str, HubError], ...]


def do_to_each(document_ids: Iterable[str], act: Callable[[str], object]) -> DoneToEach:
    """Do something with each document, once; one that is refused does not keep the others from it."""
    done: list[str] = []
    refused: list[tuple[str, HubError]] = []
    for document_id in dict.fromkeys(document_ids):
        try:
            act(document_id)
        except HubError as error:
            refused.append((document_id, error))
        else:
            done.append(document_id)
    return DoneToEach(done=tuple(done), refused=tuple(refused))


def get_document(principal: Principal, document_id: str, *, scope: Scope = Scope.READ) -> Document:
    """Find a document with its collection and versions in one query. Raises NotFound, also for what one may not see."""
    principal.require(scope)
    document = (
        Document.objects.visible_to(principal, scope)
        .select_related("collection", "latest_version__blob", "current_version")
        .filter(public_id=document_id)
        .first()
    )
    if document is None:
        raise document_not_found(document_id)
    return document


def document_not_found(document_id: str) -> NotFound:
    """Make the error for a document that is not there, and for one that the caller may not see."""
    return NotFound(_('There is no document "{document_id}".'), code="document_not_found", document_id=document_id)


def curates(principal: Principal, document: Document) -> bool:
    """Return whether the caller curates the document's collection. One query."""
    return Collection.objects.visible_to(principal, Scope.CURATE).filter(pk=document.collection_id).exists()


def changeable_document(principal: Principal, document_id: str) -> Document:
    """Find a document the caller may change: a curator of its collection, or who uploaded it and still may.

    Raises NotFound, Forbidden.
    """
    document = get_document(principal, document_id)
    if not is_changeable(principal, document):
        raise Forbidden(_("Only a curator of the collection, or who uploaded the document, may do this."))
    return document


def is_changeable(principal: Principal, document: Document) -> bool:
    """Whether the caller, who may read the document, may change it. One query."""
    uploads = document.owner_id is not None and document.owner_id == principal.user_id
    return curates(principal, document) or (uploads and principal.allows(Scope.UPLOAD))


def check_document_type(code: str) -> None:
    """Raise InvalidInput, naming the known ones, for a document type that is not there; empty means not said."""
    known = sorted(DocumentType.objects.values_list("code", flat=True))
    if code and code not in known:
        raise InvalidInput(
            _('There is no document type "{given}". Known: {known}.'),
            code="unknown_document_type",
            given=code,
            known=", ".join(known),
        )


def check_ceiling(principal: Principal, wanted: Classification) -> None:
    """Raise Forbidden when the caller may not handle documents of this classification."""
    if wanted > principal.ceiling:
        raise Forbidden(
            _("You may handle documents up to {ceiling}; this one would be {wanted}."),
            ceiling=principal.ceiling.short,
            wanted=wanted.short,
        )


def path_taken(path: str) -> Conflict:
    """The error for a path that a document of somebody else holds, which the caller may see."""
    return Conflict(
        _(
            "{path} was uploaded by somebody else. Choose another folder or file name, or let a curator of the "
            "collection upload it and replace the document."
        ),
        code="path_taken",
        path=path,
    )


def check_place(document: Document, wanted: Classification) -> None:
    """Raise Conflict when another document of that classification has the path; the caller may see both."""
    others = Document.objects.filter(collection_id=document.collection_id, path=document.path, classification=wanted)
    if others.exclude(pk=document.pk).exists():
        raise path_taken(document.path)


def check_filters(
    principal: Principal,
    *,
    scope: Scope = Scope.READ,
    collections: Iterable[str] = (),
    document_types: Iterable[str] = (),
) -> None:
    """Raise NotFound for a collection that the caller may not use with ``scope``, as for one that is not there.

    Raises InvalidInput for a document type that is not there. Empty names are no filter. A query for all collections
    together, and one for each document type.
    """
    named = [slug for slug in collections if slug]
    if named:
        usable = Collection.objects.visible_to(principal, scope).filter(slug__in=named)
        known = set(usable.values_list("slug", flat=True))
        for slug in named:
            if slug not in known:
                raise collection_not_found(slug)
    for document_type in document_types:
        if document_type:
            check_document_type(document_type)


def check_search_filter(principal: Principal, asked: SearchFilter) -> None:
    """Raise what ``check_filters`` raises for what a search is restricted to; Forbidden without the scope search."""
    principal.require(Scope.SEARCH)
    check_filters(principal, scope=Scope.SEARCH, collections=asked.collections, document_types=asked.document_types)


SMALLEST_SIZE, LARGEST_SIZE = 50, 100_000


def chunk_policy(options: ChunkOptions | None) -> ChunkPolicy:
    """The policy row for ``options``, or the active embedding set's own. Raises InvalidInput for impossible sizes."""
    embedding_set = active_embedding_set()
    return embedding_set.policy if options is None else policy_row(options, token_limit=embedding_set.max_tokens)


def policy_row(options: ChunkOptions, *, token_limit: int) -> ChunkPolicy:
    """The policy row for ``options`` with a model that reads ``token_limit`` tokens. Raises InvalidInput."""
    if options.unit is SizeUnit.TOKENS and options.size > token_limit:
        raise InvalidInput(
            _("chunk_size {size} is above the embedding model's limit of {limit} tokens."),
            code="chunk_size_above_limit",
            size=options.size,
            limit=token_limit,
        )
    if not SMALLEST_SIZE <= options.size <= LARGEST_SIZE or not 0 <= options.overlap <= options.size // 2:
        raise InvalidInput(
            _(
                "chunk_size must be from {smallest} to {largest}, and chunk_overlap between 0 and half of it; "
                "got {size} and {overlap}."
            ),
            smallest=SMALLEST_SIZE,
            largest=LARGEST_SIZE,
            size=options.size,
            overlap=options.overlap,
        )
    policy, _created = ChunkPolicy.objects.get_or_create(
        strategy=options.strategy, size=options.size, overlap=options.overlap, unit=options.unit
    )
    return policy
