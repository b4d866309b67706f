"""What may be watched, under which name, and by whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.documents import sources
from tests.factories import new_collection, principal_with
from tests.knowledge.documents.source_support import live_paths, run, watch

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("location", ["relative/folder", "", "s3://bucket/x", "\x00"])
def test_a_location_that_is_no_absolute_folder_is_refused(location):
    with pytest.raises(InvalidInput):
        sources.create_source(principal=local_operator(), name="x", location=location, collection="default")


def test_a_folder_that_is_not_there_is_no_source(folder):
    with pytest.raises(InvalidInput, match="フォルダー"):
        watch(folder / "無い課")
    source = watch(folder)
    with pytest.raises(InvalidInput, match="無い課"):
        sources.update_source(principal=local_operator(), name=source.name, location=str(folder / "無い課"))


@pytest.mark.parametrize("location", ["", "bucket", "s3://", "s3://UPPER", "http://bucket/x"])
def test_a_location_that_is_no_bucket_is_refused(location):
    with pytest.raises(InvalidInput, match="s3://"):
        sources.create_source(principal=local_operator(), name="x", kind="s3", location=location, collection="default")


def test_the_hubs_own_data_is_never_a_source(settings):
    for folder in (settings.HUB_DATA_DIR, settings.HUB_DATA_DIR / "blobs", settings.HUB_DATA_DIR.parent, Path("/")):
        with pytest.raises(InvalidInput, match=str(settings.HUB_DATA_DIR)):
            watch(folder)


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\nb", "x" * 101])
def test_names_that_can_not_stand_in_a_url_are_refused(folder, name):
    with pytest.raises(InvalidInput, match="name"):
        watch(folder, name=name)


def test_a_second_source_of_the_same_name_or_place_is_a_conflict(source, folder, tmp_path):
    with pytest.raises(Conflict):
        watch(tmp_path)
    with pytest.raises(Conflict):
        watch(folder, name="もう一つ")


def test_only_an_administrator_says_what_is_watched_and_a_curator_sees_and_scans_it(folder):
    collection = new_collection()
    curator = principal_with(Role.CURATOR, collection)
    with pytest.raises(Forbidden):
        sources.create_source(principal=curator, name="x", location="/etc", collection=collection.slug)
    administrator = principal_with(Role.ADMINISTRATOR, collection)
    with pytest.raises(Forbidden):
        sources.create_source(principal=administrator, name="x", location="/etc", collection=collection.slug)
    source = watch(folder, collection=collection.slug)
    assert sources.request_scan(principal=curator, name=source.name).pk == source.pk
    with pytest.raises(Forbidden):
        sources.update_source(principal=curator, name=source.name, location="/etc")
    with pytest.raises(Forbidden):
        sources.delete_source(principal=curator, name=source.name)
    with pytest.raises(NotFound):
        sources.get_source(principal_with(Role.CURATOR, new_collection()), source.name)


def test_a_deleted_source_leaves_its_documents(source):
    run(source)
    sources.delete_source(principal=local_operator(), name=source.name)
    assert len(live_paths()) == 3
