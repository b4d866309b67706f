"""Earlier reviews are found through the list of documents and the list of resources, by those who may read them."""

from __future__ import annotations

import pytest

from hub.access.principals import ALL_SCOPES, Classification, Principal, local_operator
from hub.core.errors import HubError
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.errors import in_words
from mcp_bridge.servers import core, listing, rag, resources
from mcp_bridge.servers.schemas import FilterIn
from review.models import CheckListVersion, Review
from tests.factories import new_user, upload_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewed(tmp_path, queue):
    """Three documents with five reviews each; gives the ids of each document's reviews, oldest first."""
    found = {}
    for number in range(3):
        made = upload_text(local_operator(), tmp_path, f"# 設計書 {number}", name=f"{number}.md").document
        facts = {
            "version": made.latest_version,
            "document_id_text": made.public_id,
            "version_number": 1,
            "checklist_version": CheckListVersion.objects.first(),
        }
        found[made.public_id] = [Review.objects.create(**facts).public_id for _ in range(5)]
    return found


def test_each_document_is_listed_with_its_newest_reviews(reviewed, django_assert_max_num_queries):
    with caller_context(Caller(principal=local_operator())), django_assert_max_num_queries(4):
        page = listing.list_documents()
    newest = {item.document_id: [review.review_id for review in item.reviews] for item in page.items}
    assert newest == {document: reviews[:1:-1] for document, reviews in reviewed.items()}


def test_the_newest_reviews_stand_before_the_documents_among_the_resources(reviewed, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        uris = [str(item.uri) for item in resources._page(local_operator(), None).items]
    expected = [
        f"smartreviewer://results/{one}" for reviews in reversed(reviewed.values()) for one in reversed(reviews)
    ]
    assert uris[:15] == expected
    assert len(uris) == 18


def test_earlier_reviews_follow_the_documents_page_by_page(reviewed, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(resources, "NEWEST_REVIEWS", 4)
    monkeypatch.setattr(resources, "PAGE_SIZE", 2)
    pages: list[list[str]] = []
    cursor = None
    while cursor or not pages:
        with django_assert_max_num_queries(4):
            page = resources._page(local_operator(), cursor)
        pages.append([str(item.uri).removeprefix("smartreviewer://") for item in page.items])
        cursor = page.next_cursor
    newest_first = [f"results/{one}" for reviews in reversed(reviewed.values()) for one in reversed(reviews)]
    documents = [f"documents/{one}" for one in reversed(reviewed)]
    assert [uri for page in pages for uri in page] == newest_first[:4] + documents + newest_first[4:]
    assert [len(page) for page in pages] == [6, 1, 2, 2, 2, 2, 2, 1]


def test_who_may_not_read_a_document_hears_nothing_of_its_reviews(reviewed):
    user = new_user()
    stranger = Principal(name="x", user_id=user.pk, scopes=ALL_SCOPES, ceiling=Classification.C2)
    with caller_context(Caller(principal=stranger)):
        assert listing.list_documents().items == []
    assert resources._page(stranger, None).items == []
    assert resources._state(stranger) != resources._state(local_operator())


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (listing.list_documents, {"collection": "nowhere"}, 'no collection "nowhere"'),
        (listing.list_documents, {"document_type": "basic-design"}, "Known: basic_design"),
        (core.get_check_items, {"document_type": "basic-design"}, "Known: basic_design"),
        (rag.get_document_count, {"collection": "nowhere"}, 'no collection "nowhere"'),
        (rag.search, {"query": "応答時間", "collection": "nowhere"}, 'no collection "nowhere"'),
        (
            rag.vector_search,
            {"query": "応答時間", "filter": FilterIn(document_type="basic-design")},
            "Known: basic_design",
        ),
        (rag.answer, {"query": "応答時間", "collection": "nowhere"}, 'no collection "nowhere"'),
    ],
)
def test_a_filter_that_names_what_is_not_there_is_refused_in_words(tool, arguments, words):
    with caller_context(Caller(principal=local_operator())), pytest.raises(HubError) as caught:
        tool(**arguments)
    assert words in in_words(caught.value, "en")
