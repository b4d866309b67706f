"""What every reader of a source promises (``SourceReader``), asked of each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from knowledge.sources.base import FileUnreadable, SourceFile, SourceReader, SourceUnavailable
from knowledge.sources.folder import FolderReader
from knowledge.sources.s3 import S3Reader

FILES = {"b/設計書.md": "設計".encode(), "a.txt": b"a", "c/d/e.csv": b"1,2\n", "B.md": b"", "b.md": b"x" * 3_000_000}
HIDDEN = {".git/config": b"x", "b/.hidden": b"x", "b/~$設計書.docx": b"x", ".env": b"x"}


class Ended(Exception):
    """What ends a scan from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A source, and how its files are written, taken away, and the whole of it lost."""

    reader: SourceReader
    write: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    lose: Callable[[], object]


def folder_place(folder: Path) -> Place:
    root = folder / "documents"
    root.mkdir()

    def write(name: str, content: bytes) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return Place(
        reader=FolderReader(root),
        write=write,
        remove=lambda name: (root / name).unlink(),
        lose=lambda: root.rename(folder / "elsewhere"),
    )


def s3_place(endpoint: str, folder: Path) -> Place:
    keys: Any = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client: Any = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
    bucket = f"source-{abs(hash(str(folder)))}"
    client.create_bucket(Bucket=bucket)
    client.put_object(Bucket=bucket, Key="documents", Body=b"beside the prefix")

    def lose() -> None:
        for item in client.list_objects_v2(Bucket=bucket).get("Contents", ()):
            client.delete_object(Bucket=bucket, Key=item["Key"])
        client.delete_bucket(Bucket=bucket)

    return Place(
        reader=S3Reader(client, bucket, "documents/"),
        write=lambda name, content: client.put_object(Bucket=bucket, Key=f"documents/{name}", Body=content),
        remove=lambda name: client.delete_object(Bucket=bucket, Key=f"documents/{name}"),
        lose=lose,
    )


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        made = folder_place(tmp_path)
    else:
        made = s3_place(request.getfixturevalue("s3_endpoint"), tmp_path)
    for name, content in {**FILES, **HIDDEN}.items():
        made.write(name, content)
    return made


def alive() -> None:
    """Goes on."""


def listed(place: Place) -> dict[str, SourceFile]:
    return {file.path: file for file in place.reader.list_files(alive).files}


def test_files_are_listed_in_order_with_their_sizes_and_without_hidden_ones(place: Place) -> None:
    listing = place.reader.list_files(alive)
    assert [file.path for file in listing.files] == sorted(FILES)
    assert {file.path: file.size_bytes for file in listing.files} == {name: len(FILES[name]) for name in FILES}
    assert listing.unreadable == ()


def test_root_and_identity_stay(place: Place) -> None:
    assert place.reader.root.endswith(("documents", "documents/"))
    assert place.reader.identity() == place.reader.identity() != ""


def test_a_stamp_changes_with_its_file_only(place: Place) -> None:
    before = listed(place)
    place.write("a.txt", b"another text")
    after = listed(place)
    assert {name for name in FILES if before[name].stamp != after[name].stamp} == {"a.txt"}


@pytest.mark.parametrize("name", FILES)
def test_a_copy_has_the_bytes_and_the_stamp_and_is_gone_afterwards(place: Place, name: str) -> None:
    file = listed(place)[name]
    with place.reader.fetch(file, alive) as fetched:
        copy = fetched.path
        assert copy.read_bytes() == FILES[name]
        assert fetched.stamp == file.stamp
    assert not copy.exists()


def test_a_file_that_changed_since_it_was_listed_has_its_new_stamp(place: Place) -> None:
    file = listed(place)["a.txt"]
    place.write("a.txt", b"another text")
    with place.reader.fetch(file, alive) as fetched:
        assert fetched.path.read_bytes() == b"another text"
        assert fetched.stamp == listed(place)["a.txt"].stamp != file.stamp


def test_a_file_that_is_gone_is_unreadable_and_the_others_are_not(place: Place) -> None:
    files = listed(place)
    place.remove("a.txt")
    with pytest.raises(FileUnreadable), place.reader.fetch(files["a.txt"], alive):
        pass
    with place.reader.fetch(files["B.md"], alive) as fetched:
        assert fetched.path.read_bytes() == b""
    assert "a.txt" not in listed(place)


def test_a_source_that_is_gone_is_unavailable_and_not_empty(place: Place) -> None:
    place.lose()
    with pytest.raises(SourceUnavailable):
        place.reader.list_files(alive)


def test_a_heartbeat_ends_listing_and_copying(place: Place) -> None:
    file = listed(place)["b.md"]

    def end() -> None:
        raise Ended

    with pytest.raises(Ended):
        place.reader.list_files(end)
    with pytest.raises(Ended), place.reader.fetch(file, end):
        pass
