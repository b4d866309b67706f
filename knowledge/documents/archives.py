"""A zip of documents, or a mail with its attachments: each file in it becomes a document of its own."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Conflict, HubError, InvalidInput, Unavailable
from hub.core.languages import shown
from hub.core.temporary import temp_dir
from hub.core.texts import Text
from knowledge.collections import get_collection
from knowledge.documents.documents import check_ceiling, check_document_type
from knowledge.documents.uploads import Upload, UploadOutcome, clean_path, create_document, hash_file
from knowledge.ingest.stages import parse_limits
from knowledge.parsers.errors import ParseError
from knowledge.parsers.made_files import take_made_file
from knowledge.parsers.process.isolation import HostLost, as_it_is, run_isolated
from knowledge.parsers.unpacking import LOOK_TASK, TASK

ARCHIVE_SUFFIXES = frozenset({".zip", ".eml", ".msg"})
"""How the names of files end that may hold documents. What decides is their content."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What became of one file of an archive: an outcome, or the error that refuses it. ``name`` is its path inside."""

    name: str
    outcome: UploadOutcome | None = None
    error: HubError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenArchive:
    """What became of the files of an archive, in its order; ``left_out`` counts what a system hid beside them.

    ``kind`` is zip, eml, msg, or empty for a file that is a document itself.
    """

    kind: str
    files: tuple[TakenIn, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    name: str
    file: Path | None
    error: HubError | None


def is_archive_name(filename: str) -> bool:
    """Whether a file of this name may hold documents."""
    return PurePosixPath(filename).suffix.lower() in ARCHIVE_SUFFIXES


def folder_of_archive(path: str) -> str:
    """Below which path the documents of an archive at a path go: a zip's own name without its ending, a mail's name."""
    return f"{PurePosixPath(path).with_suffix('') if path.lower().endswith('.zip') else path}/"


def refuse_archive(file: Path, filename: str) -> None:
    """Refuse a zip of documents where one document is asked for.

    :raises InvalidInput: ``archive_of_documents``, saying where to send it.
    :raises Unavailable: the child that looks into it was ended from outside.
    """
    if PurePosixPath(filename).suffix.lower() == ".zip" and _run(LOOK_TASK, file, filename, as_it_is)["is_archive"]:
        raise InvalidInput(
            _(
                "{filename} is a zip of documents. Send it by the home page's upload or as an archive, "
                "which takes in each document in it, or unpack it first."
            ),
            code="archive_of_documents",
            filename=filename,
        )


def take_in_archive(*, principal: Principal, upload: Upload) -> TakenArchive:
    """Take in each document of a zip, or a mail and what is attached to it, as :func:`create_document` does with one.

    ``upload`` says what holds for all of them; its ``path`` is the folder that they go below, followed by the zip's
    own name, unless all of it is in one folder of that name already. The zip itself is not stored. A file that can't be
    taken in has its own error, and the others go on. A second call with the same archive changes nothing. Any other
    file is taken in as a document.

    :raises InvalidInput: the archive can't be opened or passes a limit (HUB_MAX_EXPANDED_BYTES, files in it).
    :raises Unavailable: the storage or the child that reads it is away; what was taken in before stays.
    :raises NotFound: the collection. Forbidden: the classification.
    """
    collection = get_collection(principal, upload.collection, scope=Scope.UPLOAD)
    check_document_type(upload.document_type)
    if upload.classification is not None:
        check_ceiling(principal, upload.classification)
    folder = clean_path(upload.path) if upload.path.strip("/ ") else ""
    seen: set[str] = set()
    with _unpacked(upload.file, upload.filename) as (kind, members, left_out):
        if kind == "zip":
            below = _joined(folder, _own_folder(upload.filename, members))
            files = [_take_in(principal, upload, member, below, seen) for member in members]
        else:
            own = _joined(folder, PurePosixPath(upload.filename.replace("\\", "/")).name)
            document = create_document(principal=principal, upload=dataclasses.replace(upload, path=own))
            taken = [_take_in(principal, upload, member, own, seen) for member in _with_own_names(members)]
            files = [TakenIn(name=upload.filename, outcome=document), *taken]
    if kind:
        record_event(
            principal,
            "ARCHIVE_UPLOAD",
            f"collection:{collection.slug}",
            collection=collection.slug,
            kind=kind,
            files=sum(1 for one in files if one.outcome),
            refused=sum(1 for one in files if one.error),
            left_out=left_out,
        )
    return TakenArchive(kind=kind, files=tuple(files), left_out=left_out)


@contextmanager
def _unpacked(file: Path, filename: str) -> Iterator[tuple[str, list[_Member], int]]:
    """Have the members of an archive as files inside the block: its kind, they, and how many were left out.

    :raises InvalidInput: it can't be opened.
    :raises Unavailable: the child that reads it was ended from outside.
    """
    with tempfile.TemporaryDirectory(prefix="unpacked-", dir=temp_dir()) as folder:

        def load(result: dict[str, Any], child: Path) -> tuple[str, list[_Member], int]:
            members = [_member(one, child, Path(folder)) for one in result["members"]]
            return result["kind"], members, result["left_out"]

        yield _run(TASK, file, filename, load)


def _run(task: str, file: Path, filename: str, load: Callable[[dict[str, Any], Path], Result]) -> Result:
    # The limit of output is that of each file that the child writes.
    limits = dataclasses.replace(parse_limits(), max_output_bytes=2 * settings.CONFIG.hub_max_upload_bytes)
    try:
        return run_isolated(task, file, load, filename=filename, limits=limits)
    except ParseError as error:
        raise _refusal(error.code, error.text) from error
    except HostLost as error:
        raise Unavailable(_("Reading the file was interrupted. Try again.")) from error


def _member(told: dict[str, Any], child: Path, folder: Path) -> _Member:
    reason = told["reason"]
    if reason is not None:
        error = _refusal(reason["code"], Text(ja=reason["ja"], en=reason["en"]))
        return _Member(name=told["path"], file=None, error=error)
    number = str(int(told["file"]))
    return _Member(name=told["path"], file=take_made_file(child / number, folder / number), error=None)


def _refusal(code: str, text: Text) -> InvalidInput:
    return InvalidInput("{reason}", code=code, reason=shown(text))


def _own_folder(filename: str, members: list[_Member]) -> str:
    """The zip's name without its ending; empty when all that is in it is in a folder of that name."""
    own = PurePosixPath(filename.replace("\\", "/")).stem
    return "" if all(member.name.startswith(f"{own}/") for member in members) else own


def _with_own_names(members: list[_Member]) -> Iterator[_Member]:
    """The files attached to a mail; of several that have the same name each gets a number."""
    seen: set[str] = set()
    for member in members:
        name, number = PurePosixPath(member.name), 2
        while str(name) in seen:
            name = PurePosixPath(member.name).with_stem(f"{PurePosixPath(member.name).stem} ({number})")
            number += 1
        seen.add(str(name))
        yield dataclasses.replace(member, name=str(name))


def _joined(*parts: str) -> str:
    return "/".join(filter(None, parts))


def _take_in(principal: Principal, upload: Upload, member: _Member, below: str, seen: set[str]) -> TakenIn:
    """Take one file in. ``seen`` are the paths of those before it, and gets its own."""
    if member.file is None:
        return TakenIn(name=member.name, error=member.error)
    sha256, size_bytes = hash_file(member.file)
    try:
        path = clean_path(_joined(below, member.name))
        if path in seen:
            raise Conflict(_("Another file in the archive has the same path. Rename one of them."), code="path_taken")
        seen.add(path)
        one = dataclasses.replace(
            upload,
            file=member.file,
            filename=PurePosixPath(member.name).name,
            sha256=sha256,
            size_bytes=size_bytes,
            path=path,
            title="",
        )
        return TakenIn(name=member.name, outcome=create_document(principal=principal, upload=one))
    except Unavailable:
        raise  # every other file would fail as well
    except HubError as error:
        return TakenIn(name=member.name, error=error)
    finally:
        member.file.unlink()
