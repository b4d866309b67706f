"""What is taken out of an upload before anything of it is stored: file, title and metadata."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput, Unavailable, not_one_of
from hub.core.hashes import sha256_of_file
from hub.core.languages import shown
from hub.core.masking import Masking, chosen_masking
from hub.core.temporary import temp_dir
from knowledge.ingest.stages import parse_limits
from knowledge.models import Collection
from knowledge.parsers.anonymising.task import RESULT, TASK
from knowledge.parsers.errors import ParseError
from knowledge.parsers.made_files import take_made_file
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.types.anonymising import KINDS, LONGEST_FIELD, MOST_FIELDS, Anonymising, counted_by_kind

if TYPE_CHECKING:
    from knowledge.documents.uploads import Upload


def read_anonymising(kinds: Iterable[str] = (), fields: Iterable[str] = ()) -> Anonymising | None:
    """Read what a caller asks for; None for nothing. Raises InvalidInput for an unknown kind, or too much."""
    kinds, fields = {kind.strip() for kind in kinds} - {""}, {name.strip() for name in fields} - {""}
    for kind in kinds:
        if kind not in KINDS:
            raise not_one_of("anonymise_kinds", kind[:80], KINDS)
    if len(fields) > MOST_FIELDS or any(len(name) > LONGEST_FIELD for name in fields):
        raise InvalidInput(
            _("{field}: at most {most} names of at most {limit} characters."),
            field="anonymise_fields",
            most=MOST_FIELDS,
            limit=LONGEST_FIELD,
        )
    return Anonymising(kinds=frozenset(kinds), fields=frozenset(fields)) or None


def wanted_in(collection: Collection, asked: Anonymising | None) -> Anonymising:
    """Join what the collection's curators chose and what the uploader asks for: an upload takes nothing off."""
    chosen = Anonymising(kinds=frozenset(collection.anonymised_kinds), fields=frozenset(collection.anonymised_fields))
    return chosen | asked if asked else chosen


@contextmanager
def anonymised(upload: Upload, wanted: Anonymising) -> Iterator[tuple[Upload, dict[str, int] | None]]:
    """Have the upload inside the block as it may be stored, and how much of each kind was replaced; None for nothing
    wanted. Its file is gone afterwards.

    :raises InvalidInput: the format can't be rewritten, something can't be replaced, the path shows personal data.
    :raises Unavailable: the child that reads the file was ended from outside.
    """
    if not wanted:
        yield upload, None
        return
    masking = chosen_masking([KINDS[kind] for kind in wanted.kinds], wanted.fields)
    for name in (upload.path, upload.filename):
        _refuse_shown(name, masking)
    file, replaced = _rewritten_file(upload, wanted)
    try:
        title = masking.mask_parts([upload.title])[0]
        metadata = {key: _masked(value, key, masking, wanted) for key, value in upload.metadata.items()}
        counts = counted_by_kind(masking.replaced)
        for kind, number in replaced.items():
            counts[kind] = counts.get(kind, 0) + number
        changed = dataclasses.replace(
            upload,
            file=file,
            sha256=sha256_of_file(file),
            size_bytes=file.stat().st_size,
            title=title,
            metadata=metadata,
        )
        yield changed, counts
    finally:
        file.unlink(missing_ok=True)


def _refuse_shown(name: str, masking: Masking) -> None:
    if found := masking.found(name):
        kinds = ", ".join(counted_by_kind({kind: 1 for *_place, kind in found}))
        raise InvalidInput(
            _(
                "The name or path of the file has personal data in it ({kinds}), which would be stored and shown. "
                "Rename the file and upload it again."
            ),
            code="name_not_anonymised",
            kinds=kinds,
        )


def _rewritten_file(upload: Upload, wanted: Anonymising) -> tuple[Path, dict[str, int]]:
    def load(result: dict[str, Any], folder: Path) -> tuple[Path, dict[str, int]]:
        handle, name = tempfile.mkstemp(dir=temp_dir(), prefix="anonymised-")
        os.close(handle)
        return take_made_file(folder / RESULT, Path(name)), result["replaced"]

    limits = dataclasses.replace(parse_limits(), max_output_bytes=2 * settings.CONFIG.hub_max_upload_bytes)
    arguments = {"kinds": sorted(wanted.kinds), "fields": sorted(wanted.fields)}
    try:
        return run_isolated(TASK, upload.file, load, filename=upload.filename, limits=limits, arguments=arguments)
    except ParseError as error:
        raise InvalidInput("{reason}", code=error.code, reason=shown(error.text)) from error
    except HostLost as error:
        raise Unavailable(_("Reading the file was interrupted. Try again.")) from error


def _masked(value: object, key: str, masking: Masking, wanted: Anonymising) -> Any:  # noqa: ANN401 (JSON)
    """Replace in the texts of a JSON value; under the name of a chosen field, all of it."""
    if key in wanted.fields and value not in ("", None, [], {}):
        return masking.name(str(value), "FIELD")
    if isinstance(value, str):
        return masking.mask_parts([value])[0]
    if isinstance(value, list):
        return [_masked(one, "", masking, wanted) for one in value]
    if isinstance(value, dict):
        return {name: _masked(one, name, masking, wanted) for name, one in value.items()}
    return value
