"""What a filter lets through."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from knowledge.models import DocumentType
from knowledge.search.hybrid import search
from knowledge.types.search import SearchFilter, SearchMode, SearchQuery
from tests.knowledge.search.shelf import Library, Passage

pytestmark = pytest.mark.django_db
SECTIONS = (
    ("3 機能設計", "3.2 性能"),
    ("3 機能設計", "3.2 性能", "3.2.1 応答"),
    ("3 機能設計", "3.20 保守"),
    ("第４章 移行", "４．１ 移行方針"),
    ("第十二章 付則",),
    (),
)


@pytest.fixture
def library() -> Library:
    DocumentType.objects.get_or_create(code="guideline", defaults={"name_ja": "ガイドライン", "name_en": "Guideline"})
    made = Library()
    passages = [Passage(text=f"性能の記述その{n}", section_path=path) for n, path in enumerate(SECTIONS)]
    made.add("設計書.md", passages, metadata={"system": {"name": "税務"}, "tags": ["a", "b"]})
    made.add("guide.md", [Passage(text="性能 performance guide", language="en")], document_type_id="guideline")
    Library(slug="other").add("設計書.md", ["性能の別の記述"])
    return made


def found(mode: SearchMode = SearchMode.HYBRID, **restriction: object) -> set[str]:
    query = SearchQuery(text="性能", limit=50, mode=mode, filter=SearchFilter(**restriction))  # type: ignore[arg-type]
    return {hit.content for hit in search(local_operator(), query).hits}


def sections(*titles: str) -> set[int]:
    return {int(text[-1]) for text in found(section_path=titles) if text[-1].isdigit()}


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (("3.2",), {0, 1}),
        (("３．２",), {0, 1}),
        (("3.20",), {2}),
        (("3",), {0, 1, 2}),
        (("3 機能設計",), {0, 1, 2}),
        (("3 機能設計", "3.2 性能"), {0, 1}),
        (("3 機能設計", "3.2"), {0, 1}),
        (("3 機能設計", "3.2.1"), set()),
        (("3.2 性能",), set()),
        (("4",), {3}),
        (("第4章 移行",), {3}),
        (("第４章",), {3}),
        (("4.1",), {3}),
        (("12",), {4}),
        (("2",), set()),
        (("性能.*",), set()),
        (("機能設計",), {0, 1, 2}),
        (("機能設計", "性能"), {0, 1}),
        (("移行",), {3}),
        (("付則",), {4}),
        (("能設計",), set()),
        (("性能",), set()),
    ],
)
def test_section_path_matches_from_the_top_and_numbers_alone_at_any_depth(
    library: Library, titles: tuple[str, ...], expected: set[int]
) -> None:
    assert sections(*titles) == expected


@pytest.mark.parametrize("mode", list(SearchMode))
def test_every_filter_restricts_every_mode(library: Library, mode: SearchMode) -> None:
    assert found(mode, collections=("other",)) == {"性能の別の記述"}
    assert found(mode, document_types=("guideline",)) == {"性能 performance guide"}
    assert found(mode, language="en") == {"性能 performance guide"}
    assert found(mode, document_ids=(library.made["guide.md"].public_id,)) == {"性能 performance guide"}
    assert len(found(mode, metadata={"system": {"name": "税務"}})) == len(SECTIONS)
    assert len(found(mode, metadata={"tags": ["b"]})) == len(SECTIONS)
    assert found(mode, metadata={"tags": ["c"]}) == set()


def test_filters_combine_with_and(library: Library) -> None:
    assert found(collections=("design",), language="en", document_types=("guideline",)) == {"性能 performance guide"}
    assert found(collections=("other",), language="en") == set()


def test_values_of_one_filter_combine_with_or(library: Library) -> None:
    assert len(found(collections=("design", "other", "nowhere"))) == len(SECTIONS) + 2
