"""What a folder or bucket holds, counted and named before it is watched, and what a scan would do; nothing is taken
in.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.core.errors import Unavailable
from hub.core.languages import in_both
from hub.core.texts import Text
from knowledge.collections import get_collection
from knowledge.documents.scan_effects import ScanEffects, effects_of_scan
from knowledge.sources import normal_location, open_source

MOST_NAMES = 50
LONGEST_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePreview:
    """Numbers of files: ``endings`` by the end of their names, the commonest first, ``too_large`` of those that
    would be refused. ``names`` are the first of them; ``unreadable`` the places that can't be looked into, and why.
    """

    location: str
    files: int
    size_bytes: int
    endings: dict[str, int]
    too_large: int
    names: tuple[str, ...]
    unreadable: tuple[tuple[str, Text], ...]
    effects: ScanEffects


def preview_source(*, principal: Principal, kind: str, location: str, collection: str) -> SourcePreview:
    """List what the first scan of a source would go through and do; the files are not opened.

    Who may say what is watched may look, as for :func:`knowledge.documents.sources.create_source`.

    :raises Forbidden, NotFound, InvalidInput: as creating it.
    :raises Unavailable: it can't be read now, or listing takes longer than ``LONGEST_S`` seconds.
    """
    principal.require_hub(HubRight.OPERATION)
    watched = get_collection(principal, collection, scope=Scope.CURATE)
    place = normal_location(kind, location)
    until = time.monotonic() + LONGEST_S

    def stop_in_time() -> None:
        if time.monotonic() > until:
            raise Unavailable(
                _("Listing {location} takes longer than {limit} seconds. Look at a folder inside it."),
                code="listing_too_long",
                location=place,
                limit=int(LONGEST_S),
            )

    listing = open_source(kind, place).list_files(stop_in_time)
    most_bytes = settings.CONFIG.hub_max_upload_bytes
    endings = Counter(PurePosixPath(file.path).suffix.lower().lstrip(".") for file in listing.files)
    return SourcePreview(
        location=place,
        files=len(listing.files),
        size_bytes=sum(file.size_bytes for file in listing.files),
        endings=dict(endings.most_common(MOST_NAMES)),
        too_large=sum(file.size_bytes > most_bytes for file in listing.files),
        names=tuple(file.path for file in listing.files[:MOST_NAMES]),
        unreadable=tuple((path, in_both(error)) for path, error in listing.unreadable[:MOST_NAMES]),
        effects=effects_of_scan(principal, listing, collection=watched.slug, root=place, most_bytes=most_bytes),
    )
