"""Questions that were asked: one's own, what curators see of those that found nothing, and what is forgotten when."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from hub.access.permissions import Role
from hub.access.principals import Principal, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.models import AskedQuestion, Collection, CollectionGrant
from knowledge.questions import (
    close_question,
    forget_questions,
    keep_questions,
    keeps_questions,
    kept,
    note_question,
    open_questions,
    own_questions,
    prune_questions,
    rate_answer,
    save_question,
)
from knowledge.types.search import SearchFilter
from tests.factories import new_collection, principal_with

pytestmark = pytest.mark.django_db
ANYWHERE = SearchFilter()


@pytest.fixture
def shelf() -> Collection:
    return new_collection()


@pytest.fixture
def reader(shelf: Collection) -> Principal:
    return principal_with(Role.READER, shelf)


@pytest.fixture
def curator(shelf: Collection) -> Principal:
    return principal_with(Role.CURATOR, shelf)


def ask(person: Principal, text: str, *, is_answered: bool = False, asked: SearchFilter = ANYWHERE) -> int:
    key = note_question(person, text, asked, is_answered=is_answered)
    assert key is not None
    return key


def test_the_same_question_is_one_row_however_it_is_typed(reader: Principal) -> None:
    first = ask(reader, "保存期間は何年ですか？")
    assert ask(reader, "保存期間は 何年ですか", is_answered=True) == first
    (row,) = own_questions(reader)
    assert (row.times, row.is_answered, row.text) == (2, True, "保存期間は 何年ですか")


def test_curators_see_what_found_nothing_and_what_was_not_helpful_and_not_who_asked(
    shelf: Collection, reader: Principal, curator: Principal
) -> None:
    other = principal_with(Role.READER, shelf)
    for person in (reader, other):
        ask(person, "保存期間は何年ですか")
    ask(reader, "応答時間は", is_answered=True)
    disliked = ask(reader, "移行の日は", is_answered=True)
    rate_answer(reader, disliked, -1, "去年の日付が出た")
    found = open_questions(curator)
    assert [(one.text, one.people, one.unanswered, one.disliked) for one in found] == [
        ("保存期間は何年ですか", 2, 2, 0),
        ("移行の日は", 1, 0, 1),
    ]
    assert found[1].reasons == ("去年の日付が出た",)
    assert not {"user", "user_id", "username"} & set(found[0].__dataclass_fields__)
    assert open_questions(reader) == []


def test_a_question_is_shown_to_nobody_who_may_not_ask_all_that_it_was_asked_of(
    shelf: Collection, curator: Principal
) -> None:
    secret = new_collection()
    both = principal_with(Role.READER, shelf)
    CollectionGrant.objects.create(collection=secret, user_id=both.user_id, role=Role.READER)
    ask(both, "秘密の予算はいくらか")
    assert open_questions(curator) == []
    ask(both, "公開の予算はいくらか", asked=SearchFilter(collections=(shelf.slug,)))
    assert [one.text for one in open_questions(curator)] == ["公開の予算はいくらか"]
    CollectionGrant.objects.create(collection=secret, user_id=curator.user_id, role=Role.READER)
    assert len(open_questions(curator)) == 2
    CollectionGrant.objects.filter(user_id=curator.user_id).delete()
    assert open_questions(curator) == []


def test_what_is_done_is_off_the_list_until_it_is_asked_again(reader: Principal, curator: Principal) -> None:
    ask(reader, "保存期間は")
    (found,) = open_questions(curator)
    with pytest.raises(NotFound):
        close_question(reader, found.key)
    assert close_question(curator, found.key) == 1
    assert open_questions(curator) == []
    with pytest.raises(NotFound):
        close_question(curator, found.key)
    ask(reader, "保存期間は")
    assert len(open_questions(curator)) == 1
    ask(reader, "保存期間は", is_answered=True)
    assert open_questions(curator) == []


def test_ones_own_questions_are_ones_own(shelf: Collection, reader: Principal, curator: Principal) -> None:
    key = ask(reader, "保存期間は")
    for change in (
        lambda: rate_answer(curator, key, 1),
        lambda: save_question(curator, key, is_saved=True),
        lambda: forget_questions(curator, key),
        lambda: rate_answer(local_operator(), key, 1),
    ):
        with pytest.raises(NotFound):
            change()
    with pytest.raises(InvalidInput):
        rate_answer(reader, key, 2)
    with pytest.raises(InvalidInput):
        rate_answer(reader, key, -1, "長" * 501)
    save_question(reader, key, is_saved=True)
    ask(reader, "あとの質問")
    assert [row.text for row in own_questions(reader)] == ["保存期間は", "あとの質問"]
    assert forget_questions(reader, key) == 1
    assert forget_questions(reader) == 1


def test_nothing_is_kept_of_who_wants_that(reader: Principal) -> None:
    ask(reader, "保存期間は")
    keep_questions(reader, wanted=False)
    keep_questions(reader, wanted=False)
    assert not AskedQuestion.objects.exists()
    assert not keeps_questions(reader)
    assert note_question(reader, "もう一度", ANYWHERE, is_answered=False) is None
    keep_questions(reader, wanted=True)
    assert note_question(reader, "もう一度", ANYWHERE, is_answered=False)
    assert note_question(reader, "長" * 1001, ANYWHERE, is_answered=False) is None
    assert note_question(local_operator(), "操作者", ANYWHERE, is_answered=False) is None
    with pytest.raises(Forbidden):
        keep_questions(local_operator(), wanted=True)


def test_old_questions_are_deleted_and_saved_ones_stay(reader: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("古い", "古くて保存", "新しい"):
        ask(reader, text)
    now = timezone.now()
    old = now - timedelta(days=settings.CONFIG.hub_question_days, minutes=1)
    AskedQuestion.objects.exclude(text="新しい").update(asked_at=old)
    AskedQuestion.objects.filter(text="古くて保存").update(is_saved=True)
    assert prune_questions(now) == 1
    assert {row.text for row in own_questions(reader)} == {"古くて保存", "新しい"}
    monkeypatch.setattr(settings, "CONFIG", settings.CONFIG.model_copy(update={"hub_question_days": 0}))
    assert note_question(reader, "さらに", ANYWHERE, is_answered=False) is None
    assert prune_questions(now) == 2


def test_of_many_questions_the_oldest_go(reader: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_OWN", 3)
    for number in range(5):
        ask(reader, f"質問{number}")
    assert {row.text for row in own_questions(reader)} == {"質問2", "質問3", "質問4"}
