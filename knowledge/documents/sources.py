"""Watched sources: which folders and buckets are scanned into which collection."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, InvalidInput, NotFound
from hub.core.queue import enqueue_on_commit
from knowledge.collections import get_collection
from knowledge.documents.documents import chunk_policy
from knowledge.models import Collection, Document, Source
from knowledge.sources import normal_location
from knowledge.types.chunks import ChunkOptions

LONGEST_NAME = 100
LONGEST_LOCATION = 1000
MOST_MINUTES = 366 * 24 * 60


class SourceChanges(TypedDict, total=False):
    """What may change of a source; what is left out stays. None for ``chunk_options`` is the default chunking."""

    location: str
    chunk_options: ChunkOptions | None
    enabled: bool
    scan_every_minutes: int


def visible_sources(principal: Principal, scope: Scope = Scope.CURATE) -> QuerySet[Source]:
    """The sources of the collections where the caller may do what ``scope`` names, by name."""
    principal.require(scope)
    collections = Collection.objects.visible_to(principal, scope).values("pk")
    return Source.objects.filter(collection__in=collections).select_related("collection", "policy").order_by("name")


def get_source(principal: Principal, name: str) -> Source:
    """Find a source of a collection that the caller curates. Raises NotFound, also for what they may not see."""
    source = visible_sources(principal).filter(name=name).first()
    if source is None:
        raise NotFound(_('There is no source "{name}".'), code="source_not_found", name=name)
    return source


def create_source(
    *,
    principal: Principal,
    name: str,
    location: str,
    kind: str = Source.Kind.FOLDER,
    collection: str,
    chunk_options: ChunkOptions | None = None,
    enabled: bool = True,
    scan_every_minutes: int = 15,
) -> Source:
    """Watch a folder or bucket from now on; the first scan is due at once.

    The hub reads it with its own rights, so only an operator who curates the collection may say what it reads. Raises
    Forbidden, InvalidInput, NotFound (collection), Conflict (the name or place is taken).
    """
    principal.require_hub(HubRight.OPERATION)
    row = Source(
        name=_clean_name(name),
        kind=_check_kind(kind),
        location=_location_there(kind, location),
        collection=get_collection(principal, collection, scope=Scope.CURATE),
        policy=chunk_policy(chunk_options) if chunk_options else None,
        enabled=enabled,
        scan_every_minutes=_check_minutes(scan_every_minutes),
    )
    _refuse_second(row)
    try:
        with transaction.atomic():
            row.save()
            place = {"location": row.location, "collection": collection}
            _record(principal, "SOURCE_CREATE", row, **place, enabled=row.enabled)
            enqueue_on_commit("knowledge.scan_source", source_id=row.pk)
    except IntegrityError as error:
        raise Conflict(_('There is already a source "{name}".'), name=name) from error
    return row


def update_source(*, principal: Principal, name: str, **changes: Unpack[SourceChanges]) -> Source:
    """Change a source; its documents follow it to a new location. What decides on documents makes a scan due at once.

    Raises Forbidden, InvalidInput, NotFound, Conflict.
    """
    source = get_source(principal, name)
    principal.require_hub(HubRight.OPERATION)
    with transaction.atomic():
        source = Source.objects.select_for_update(of=["self"]).select_related("collection").get(pk=source.pk)
        was_enabled = source.enabled
        if "enabled" in changes:
            source.enabled = changes["enabled"]
            if not source.enabled:  # a scan that is under way ends before it takes in more
                source.lease_token, source.lease_expires_at = "", None
        if "scan_every_minutes" in changes:
            source.scan_every_minutes = _check_minutes(changes["scan_every_minutes"])
        if "chunk_options" in changes:
            source.policy = chunk_policy(changes["chunk_options"]) if changes["chunk_options"] else None
        if "location" in changes:
            _move(source, _location_there(source.kind, changes["location"]))
        if {"location", "chunk_options"} & changes.keys():
            _scan_afresh(source)
        source.save()
        switched = {} if source.enabled == was_enabled else {"enabled": source.enabled}
        _record(principal, "SOURCE_CHANGE", source, changed=sorted(changes), **switched)
    return source


def _scan_afresh(source: Source) -> None:
    """Make a scan due that begins at the first file; one that is under way with the old settings loses its lease."""
    source.scanned_at, source.lease_token, source.lease_expires_at = None, "", None
    source.report = {name: value for name, value in source.report.items() if name in ("identity", "undo")}
    enqueue_on_commit("knowledge.scan_source", source_id=source.pk)


def delete_source(*, principal: Principal, name: str) -> None:
    """Watch a source no longer; its documents stay as they are."""
    source = get_source(principal, name)
    principal.require_hub(HubRight.OPERATION)
    with transaction.atomic():
        _record(principal, "SOURCE_DELETE", source, location=source.location)
        source.delete()


def request_scan(*, principal: Principal, name: str) -> Source:
    """Have a source scanned now; a scan that is under way goes on instead. Raises NotFound, Conflict (switched off)."""
    source = get_source(principal, name)
    if not source.enabled:
        raise Conflict(_('The source "{name}" is switched off. Switch it on first.'), code="source_off", name=name)
    with transaction.atomic():
        Source.objects.filter(pk=source.pk).update(scanned_at=None)
        _record(principal, "SOURCE_SCAN", source)
        enqueue_on_commit("knowledge.scan_source", source_id=source.pk)  # lost, the next tick of beat finds it
    return source


def _clean_name(name: str) -> str:
    cleaned = unicodedata.normalize("NFC", name).strip()
    odd = any(char in "/\\" or unicodedata.category(char)[0] == "C" for char in cleaned)
    if not cleaned or odd or len(cleaned) > LONGEST_NAME:
        raise InvalidInput(
            _("name: give 1 to {limit} characters without / and control characters."), field="name", limit=LONGEST_NAME
        )
    return cleaned


def _check_kind(kind: str) -> str:
    if kind not in Source.Kind.values:
        raise InvalidInput(
            _('kind: "{given}" is not one of {known}.'), field="kind", given=kind, known=", ".join(Source.Kind.values)
        )
    return kind


def _clean_location(kind: str, location: str) -> str:
    cleaned = normal_location(_check_kind(kind), location)
    if len(cleaned) > LONGEST_LOCATION:
        raise InvalidInput(
            _("location: at most {limit} characters, got {length}."),
            field="location",
            limit=LONGEST_LOCATION,
            length=len(cleaned),
        )
    return cleaned


def _location_there(kind: str, location: str) -> str:
    """As :func:`_clean_location`; a folder has to be there, too: it is a slip of the pen else, or is not mounted."""
    cleaned = _clean_location(kind, location)
    if kind == Source.Kind.FOLDER and not Path(cleaned).is_dir():
        raise InvalidInput(
            _("location: there is no folder {location}, or it is not mounted or not open to the hub."),
            field="location",
            location=cleaned,
        )
    return cleaned


def _check_minutes(minutes: int) -> int:
    if not 1 <= minutes <= MOST_MINUTES:
        raise InvalidInput(
            _("scan_every_minutes: give 1 to {limit}, got {given}."),
            field="scan_every_minutes",
            limit=MOST_MINUTES,
            given=minutes,
        )
    return minutes


def _refuse_second(source: Source) -> None:
    """Two sources at one place of one collection would be scanned twice for nothing."""
    twins = Source.objects.filter(location=source.location, collection=source.collection).exclude(pk=source.pk)
    if twin := twins.first():
        raise Conflict(
            _('{location} is watched for this collection already, by the source "{name}".'),
            code="source_exists",
            location=source.location,
            name=twin.name,
        )


def _move(source: Source, location: str) -> None:
    """Take the documents along: what is not at the new location is retired by the next scan, what is there is kept."""
    documents = Document.objects.filter(collection=source.collection, source_root=source.location)
    source.location, before = location, source.location
    if location != before:
        _refuse_second(source)
        source.report = {name: value for name, value in source.report.items() if name == "undo"}
        documents.update(source_root=location, source_stamp="")


def _record(principal: Principal, action: str, source: Source, **details: object) -> None:
    record_event(principal, action, f"source:{source.name}", **details)
