"""What a scan of a source would do to which documents, as far as a caller may know of them."""

from __future__ import annotations

from dataclasses import dataclass

from hub.access.principals import Principal, Scope
from hub.core.errors import HubError
from knowledge.documents.known_files import documents_of_others, load_known_files
from knowledge.documents.uploads import clean_path
from knowledge.models import Document
from knowledge.sources import Listing

MOST_NAMED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanEffects:
    """Numbers of files and documents: ``new`` files would be new documents, ``changed`` ones new versions, as far as
    stamps tell, and ``unchanged`` ones nothing. ``left_alone`` are at the paths of documents that people uploaded or
    another source holds; ``others`` are the first of these documents, each with its ``owner``, None for a source's.
    ``gone`` documents came from there before and would be retired; ``gone_paths`` are the first of them.
    """

    new: int
    changed: int
    unchanged: int
    left_alone: int
    others: tuple[Document, ...]
    gone: int
    gone_paths: tuple[str, ...]


def effects_of_scan(
    principal: Principal, listing: Listing, *, collection: str, root: str, most_bytes: int
) -> ScanEffects:
    """Sort the files of a source into what a scan would do with them; larger ones than ``most_bytes`` are in no number.

    Documents that the caller may not see count as not there. Four queries, whatever is listed.
    """
    known = load_known_files(principal, collection=collection, root=root)
    in_collection = Document.objects.visible_to(principal, Scope.UPLOAD).filter(collection__slug=collection)
    others = documents_of_others(principal, collection=collection, root=root)
    read = {
        path: file.stamp for file in listing.files if file.size_bytes <= most_bytes and (path := _path_of(file.path))
    }
    elsewhere = read.keys() - known.keys()
    left_alone = sorted(elsewhere & set(others.values_list("path", flat=True)))
    taken_over = elsewhere & set(in_collection.values_list("path", flat=True)) - set(left_alone)
    unchanged = [path for path, row in known.items() if row.stamp == read.get(path) and not row.is_retired]
    there = {_path_of(file.path) for file in listing.files}
    is_whole = not listing.unreadable  # else nothing is retired
    gone = sorted(path for path, row in known.items() if is_whole and path not in there and not row.is_retired)
    return ScanEffects(
        new=len(elsewhere) - len(left_alone) - len(taken_over),
        changed=len(taken_over) + len(read.keys() & known.keys()) - len(unchanged),
        unchanged=len(unchanged),
        left_alone=len(left_alone),
        others=tuple(others.filter(path__in=left_alone[:MOST_NAMED]).select_related("owner").order_by("path", "pk")),
        gone=len(gone),
        gone_paths=tuple(gone[:MOST_NAMED]),
    )


def _path_of(name: str) -> str:
    """The path that the document of a file has; empty where it can have none."""
    try:
        return clean_path(name)
    except HubError:
        return ""
