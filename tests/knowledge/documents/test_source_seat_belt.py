"""What may be watched at all, a look before the first scan, and taking back what a scan took in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from hub.access.principals import Classification, HubRole, Principal, Role, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from hub.core.lease import LeaseLost, claim
from knowledge.documents import batches
from knowledge.documents.batches import scan_batch, undo_scan
from knowledge.documents.source_previews import preview_source
from knowledge.documents.source_schemas import scan_undo_out
from knowledge.documents.sources import update_source
from knowledge.models import Collection, Document, Source, UploadBatch
from knowledge.sources import FileUnreadable, FolderReader, SourceUnavailable
from tests.factories import make_holder, new_collection, new_user, principal_with, upload_text
from tests.hub.admin.support import grant
from tests.knowledge.documents.source_support import live_paths, run, state, watch, work_off

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()


@pytest.fixture
def roots(settings: Any) -> Any:
    """A function that sets what may be watched."""

    def allow(*allowed: str) -> None:
        settings.CONFIG = settings.CONFIG.model_copy(update={"hub_source_roots": allowed})

    return allow


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder of three documents, with what systems and programs leave beside them."""
    folder = tmp_path / "共有"
    (folder / "規程").mkdir(parents=True)
    for name in ("案内.md", "規程/旅費.md", "規程/会議.txt"):
        (folder / name).write_text(f"# {name}\n\n{name} の本文。\n", encoding="utf-8")
    for name in (".隠し.md", "Thumbs.db", "desktop.ini", "~$案内.docx"):
        (folder / name).write_bytes(b"x")
    for name in ("$RECYCLE.BIN", "System Volume Information", "__MACOSX", "lost+found"):
        (folder / name).mkdir()
        (folder / name / "残り.md").write_text("# 残り\n", encoding="utf-8")
    return folder


def test_nothing_outside_the_hubs_own_folder_is_watched_until_an_operator_allows_it(roots, desk, settings):
    roots()
    with pytest.raises(InvalidInput, match="HUB_SOURCE_ROOTS"):
        watch(desk)
    own = settings.HUB_DATA_DIR / "sources" / "通達"
    own.mkdir(parents=True)
    watch(own, name="own")
    roots(str(desk.parent))
    watch(desk)
    with pytest.raises(InvalidInput, match="HUB_SOURCE_ROOTS"):
        watch(Path(f"{desk.parent}-other"), name="beside")


@pytest.mark.parametrize(
    ("root", "location", "may"),
    [
        ("s3://archive", "s3://archive/2026", True),
        ("s3://archive/2026", "s3://archive/2026", True),
        ("s3://archive/2026", "s3://archive/20261", False),
        ("s3://archive", "s3://archive2", False),
        ("/", "s3://archive", False),
        ("s3://", "s3://archive", True),
    ],
)
def test_buckets_are_allowed_by_whole_parts_of_their_prefix(roots, root, location, may):
    roots(root)
    if may:
        watch(location, kind="s3")
        return
    with pytest.raises(InvalidInput, match="HUB_SOURCE_ROOTS"):
        watch(location, kind="s3")


def test_a_link_out_of_an_allowed_folder_is_judged_by_where_it_leads(roots, desk, tmp_path):
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(desk)
    roots(str(allowed))
    with pytest.raises(InvalidInput, match="HUB_SOURCE_ROOTS"):
        watch(allowed / "link")


def test_a_folder_that_is_a_link_by_now_is_not_followed(desk, tmp_path):
    source = watch(desk)
    run(source)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "秘密.md").write_text("# 秘密\n\n本文。\n", encoding="utf-8")
    desk.rename(tmp_path / "元")
    desk.symlink_to(secret)
    assert run(source) == (0, 0, 0, 0, 0)
    assert state(source) == "failed"
    assert len(live_paths()) == 3


def test_a_folder_that_becomes_a_link_between_listing_and_reading_is_not_followed(desk, tmp_path):
    (file,) = (one for one in FolderReader(desk).list_files(lambda: None).files if one.path == "規程/旅費.md")
    elsewhere = tmp_path / "elsewhere"
    (desk / "規程").rename(elsewhere)
    (desk / "規程").symlink_to(elsewhere)
    with pytest.raises(FileUnreadable), FolderReader(desk).fetch(file, lambda: None):
        pass


def test_a_link_above_the_folder_that_is_put_there_after_the_look_is_not_followed(desk, tmp_path):
    above = desk.parent / "above"
    (above / "desk").mkdir(parents=True)
    (above / "desk" / "案内.md").write_text("# 案内\n\n本文。\n", encoding="utf-8")
    reader = FolderReader(above / "desk")
    (file,) = reader.list_files(lambda: None).files
    secret = tmp_path / "secret"
    above.rename(secret)
    above.symlink_to(secret)
    with pytest.raises(SourceUnavailable):
        reader.list_files(lambda: None)
    with pytest.raises(FileUnreadable), reader.fetch(file, lambda: None):
        pass


def test_a_folder_that_becomes_a_link_while_it_is_listed_is_not_followed(desk, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "秘密.md").write_text("# 秘密\n\n本文。\n", encoding="utf-8")
    swapped: list[Path] = []

    def swap() -> None:
        if not swapped:
            swapped.append((desk / "規程").rename(tmp_path / "元"))
            (desk / "規程").symlink_to(secret)

    found = FolderReader(desk).list_files(swap)
    assert [file.path for file in found.files] == ["案内.md"]
    assert [path for path, _why in found.unreadable] == ["規程"]


def test_a_scan_under_way_takes_in_no_more_once_its_source_is_switched_off(desk):
    source = watch(desk)
    lease = claim(Source.objects.all(), source.pk)
    assert lease is not None
    update_source(principal=OPERATOR, name=source.name, enabled=False)
    with pytest.raises(LeaseLost), transaction.atomic():
        lease.lock()


def test_a_source_that_is_no_longer_allowed_is_not_read_and_keeps_its_documents(roots, desk):
    source = watch(desk)
    run(source)
    roots()
    assert run(source) == (0, 0, 0, 0, 0)
    assert state(source) == "failed"
    assert "HUB_SOURCE_ROOTS" in source.report["reason_ja"]
    assert len(live_paths()) == 3


def test_a_look_counts_and_names_what_a_scan_then_takes_in(desk):
    seen = preview_source(principal=OPERATOR, kind="folder", location=str(desk), collection="default")
    assert (seen.files, seen.effects.new, seen.too_large) == (3, 3, 0)
    assert seen.endings == {"md": 2, "txt": 1}
    assert set(seen.names) == {"案内.md", "規程/旅費.md", "規程/会議.txt"}
    assert Document.objects.count() == 0
    run(watch(desk))
    assert live_paths() == set(seen.names)
    again = preview_source(principal=OPERATOR, kind="folder", location=str(desk), collection="default").effects
    assert (again.new, again.changed, again.unchanged, again.gone) == (0, 0, 3, 0)


def test_a_look_says_what_a_scan_then_does_to_documents_that_are_there(desk, tmp_path):
    run(watch(desk))
    (desk / "規程" / "旅費.md").write_text("# 旅費\n\n改正した本文。\n", encoding="utf-8")
    (desk / "規程" / "会議.txt").unlink()
    for name in ("通知.md", "様式.md", "新規.md"):
        (desk / name).write_text(f"# {name}\n\n本文。\n", encoding="utf-8")
    person = new_user(username="hsato", last_name="佐藤", first_name="花子")
    grant(person, Role.REVIEWER, Collection.objects.get(slug="default"))
    upload_text(principal_for_user(person), tmp_path, "# 通知\n\n人の文書。\n", name="通知.md")
    left = new_user(username="left")
    grant(left, Role.REVIEWER, Collection.objects.get(slug="default"))
    upload_text(principal_for_user(left), tmp_path, "# 様式\n\n退職した人の文書。\n", name="様式.md")
    left.delete()
    operator = principal_for_user(make_holder(new_user(username="ops"), HubRole.OPERATOR))
    grant(User.objects.get(pk=operator.user_id), Role.CURATOR, Collection.objects.get(slug="default"))
    look = partial(preview_source, principal=operator, kind="folder", location=str(desk), collection="default")
    seen = look().effects
    assert (seen.new, seen.changed, seen.unchanged, seen.left_alone, seen.gone) == (1, 2, 1, 1, 1)
    assert [(one.path, one.owner) for one in seen.others] == [("通知.md", person)]
    assert seen.gone_paths == ("規程/会議.txt",)
    Document.objects.filter(path__in=["通知.md", "規程/会議.txt"]).update(classification=Classification.C3)
    unseen = look().effects  # what the operator may not see is in no figure and has no name
    assert (unseen.new, unseen.left_alone, unseen.others, unseen.gone) == (2, 0, (), 0)
    Document.objects.update(classification=Classification.C2)
    assert run(Source.objects.get()) == (1, 2, 1, 1, 1)  # one fails: the path of somebody else's document


def test_a_scan_that_is_taken_back_in_parts_is_taken_back_once_nothing_is_left(desk, monkeypatch):
    monkeypatch.setattr(batches, "MOST_UNDONE", 2)
    source = watch(desk)
    run(source)
    assert undo_scan(OPERATOR, source.name, scan=scan_batch(source)).left == 1
    source.refresh_from_db()
    assert scan_undo_out(source.report).scan == scan_batch(source)
    assert undo_scan(OPERATOR, source.name, scan=scan_batch(source)).left == 0
    source.refresh_from_db()
    assert (source.report["state"], scan_undo_out(source.report)) == ("taken_back", None)


def test_only_who_says_what_is_watched_may_look(desk):
    collection = new_collection()
    for role in (Role.CURATOR, Role.ADMINISTRATOR):
        with pytest.raises(Forbidden):
            preview_source(
                principal=principal_with(role, collection), kind="folder", location="/etc", collection=collection.slug
            )


def test_a_scan_is_taken_back_as_one_and_not_taken_in_again(desk):
    source = watch(desk)
    run(source)
    work_off()
    (desk / "案内.md").write_text("# 案内\n\n二つ目の版。\n", encoding="utf-8")
    (desk / "新規.md").write_text("# 新規\n\n後から。\n", encoding="utf-8")
    run(source)
    work_off()
    done = undo_scan(OPERATOR, source.name, scan=scan_batch(source))
    assert (done.deleted, done.restored, done.refused, done.left) == (("新規.md",), ("案内.md",), (), 0)
    source.refresh_from_db()
    assert not source.enabled
    assert source.report["state"] == "taken_back"
    assert live_paths() == {"案内.md", "規程/旅費.md", "規程/会議.txt"}
    again = undo_scan(OPERATOR, source.name, scan=scan_batch(source))
    assert (again.deleted, again.restored) == ((), ())


def test_another_scan_than_the_one_that_was_seen_is_not_taken_back(desk):
    source = watch(desk)
    run(source)
    seen = source.report["batch"]
    (desk / "新規.md").write_text("# 新規\n\n後から。\n", encoding="utf-8")
    run(source)
    with pytest.raises(Conflict, match="もう一度走査"):
        batches.undo_scan(OPERATOR, source.name, scan=seen)
    source.refresh_from_db()
    assert source.enabled
    assert len(live_paths()) == 4
    assert batches.undo_scan(OPERATOR, source.name, scan=scan_batch(source)).deleted == ("新規.md",)


def test_a_scan_that_ends_while_an_earlier_one_is_taken_back_keeps_its_report(desk, monkeypatch):
    source = watch(desk)
    run(source)
    real = batches._undo

    def undo_slowly(principal: Principal, batch: UploadBatch) -> batches.Undone:
        done = real(principal, batch)
        update_source(principal=OPERATOR, name=source.name, enabled=True)
        run(source)
        return done

    monkeypatch.setattr(batches, "_undo", undo_slowly)
    batches.undo_scan(OPERATOR, source.name, scan=scan_batch(source))
    scanned = source.report
    source.refresh_from_db()
    assert source.report == scanned
    assert source.report["state"] == "completed"


def test_a_scan_that_takes_nothing_in_leaves_the_one_before_to_be_taken_back(desk):
    source = watch(desk)
    run(source)
    seen = scan_undo_out(source.report)
    assert (seen.scan, seen.new, seen.changed) == (source.report["batch"], 3, 0)
    for _again in range(2):
        assert run(source) == (0, 0, 3, 0, 0)
        assert scan_undo_out(source.report) == seen
    assert len(undo_scan(OPERATOR, source.name, scan=seen.scan).deleted) == 3
    source.refresh_from_db()
    assert (source.report["state"], scan_undo_out(source.report)) == ("completed", None)
    update_source(principal=OPERATOR, name=source.name, enabled=True)
    assert run(source)[0] == 3
    assert scan_undo_out(source.report).scan == source.report["batch"]


def test_a_source_that_moves_keeps_what_can_be_taken_back(desk):
    source = watch(desk)
    run(source)
    seen = scan_undo_out(source.report)
    moved = desk.rename(desk.with_name("移転先"))
    update_source(principal=OPERATOR, name=source.name, location=str(moved))
    run(source)
    assert scan_undo_out(source.report) == seen
    assert len(undo_scan(OPERATOR, source.name, scan=seen.scan).deleted) == 3


def test_only_who_says_what_is_watched_takes_a_scan_back(desk):
    collection = new_collection()
    source = watch(desk, collection=collection.slug)
    with pytest.raises(NotFound, match="取り込んだものはありません"):
        undo_scan(OPERATOR, source.name, scan=scan_batch(source))
    run(source)
    with pytest.raises(Forbidden):
        undo_scan(principal_with(Role.CURATOR, collection), source.name, scan=scan_batch(source))
    assert len(live_paths()) == 3


def test_in_the_admin_a_new_source_is_off_and_shows_what_it_would_take_in(client, desk):
    client.force_login(User.objects.create_superuser("ops"))
    fields = {
        "name": "共有",
        "kind": "folder",
        "location": str(desk),
        "collection": Collection.objects.get(slug="default").pk,
    }
    page = client.post(reverse("admin:knowledge_source_add"), {**fields, "scan_every_minutes": 15}, follow=True)
    source = Source.objects.get(name="共有")
    assert not source.enabled
    text = page.content.decode()
    assert "規程/旅費.md" in text
    assert "新しい文書 3 件" in text
    assert "残り.md" not in text
    update_source(principal=OPERATOR, name=source.name, enabled=True)
    run(source)
    page = client.get(reverse("admin:knowledge_source_change", args=[source.pk]))
    assert "規程/旅費.md" not in page.content.decode()
