"""Mappings of check items to articles, what a new edition puts in doubt, and the editions that a review pins."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from hub.access.principals import Role, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.guidelines import editions
from knowledge.models import Collection, Guideline, GuidelineArticle, GuidelineEdition
from review import mappings
from review.models import CheckItem, GuidelineMapping, ReviewEdition, SuspectMark
from review.report import build_report
from review.runs import execution
from review.runs.reviews import start_review
from tests.factories import hub_curator, principal_with
from tests.hub.admin.support import add_document

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
CODE = "public-practice-guides"


def next_edition(**changed: dict[str, object]) -> GuidelineEdition:
    """A draft like the shipped edition, with articles changed by number; None drops one."""
    guideline = Guideline.objects.get(code=CODE)
    draft = GuidelineEdition.objects.create(guideline=guideline, number=guideline.editions.count() + 1)
    for row in GuidelineArticle.objects.filter(edition__guideline=guideline, edition__number=1):
        change = changed.get("a" + row.number.replace(".", "_"), {})
        if change is None:
            continue
        row.pk, row.parent, row.edition, row._state.adding = None, None, draft, True
        for name, value in change.items():
            setattr(row, name, value)
        row.save()
    return draft


def publish(draft: GuidelineEdition) -> None:
    editions.publish_edition(principal=local_operator(), code=CODE, number=draft.number)


def test_shipped_mappings_join_articles_and_items_that_are_there():
    found = mappings.list_mappings(local_operator())
    assert found
    assert all(one.article_title is not None and one.rationale and one.check_item_name for one in found)
    assert ("PG-5.1", "BD-B01") in {(one.article, one.check_item) for one in found}
    assert "BD-B01" in editions.check_items_of(["PG-5.1"])["PG-5.1"]


def test_the_list_takes_the_same_queries_however_long(django_assert_num_queries):
    with django_assert_num_queries(4):
        mappings.list_mappings(local_operator())
    with django_assert_num_queries(4):
        mappings.list_mappings(local_operator(), article="PG-5.1")


def test_unknown_names_are_told_from_those_without_a_mapping():
    assert mappings.list_mappings(local_operator(), article="PG-1.4") == []
    wrongs: Any = ({"article": "PG-99"}, {"check_item": "XX-1"})
    for wrong in wrongs:
        with pytest.raises(NotFound):
            mappings.list_mappings(local_operator(), **wrong)


def test_a_changed_moved_or_dropped_article_puts_its_items_in_doubt_and_no_other():
    publish(next_edition(a5_1={"text": "移行の方法を、段階ごとに書く。"}, a4_2=None, a1_3={"headings": ["API"]}))
    marks = {(mark.article_code, mark.check_item.code): mark for mark in mappings.list_suspects(local_operator())}
    assert {code for code, _item in marks} >= {"PG-5.1", "PG-4.2"}
    assert "PG-1.3" not in {code for code, _item in marks}
    assert "text" in marks["PG-5.1", "BD-B01"].reason_en
    by_article = {one.article: one for one in mappings.list_mappings(local_operator())}
    assert by_article["PG-5.1"].suspect
    assert by_article["PG-4.2"].article_title is None
    assert not by_article["PG-1.9"].suspect


def test_an_edition_taken_out_of_force_puts_all_that_rests_on_it_in_doubt():
    editions.retire_edition(principal=local_operator(), code=CODE, number=1)
    marks = mappings.list_suspects(local_operator())
    assert len(marks) == GuidelineMapping.objects.count()
    assert {mark.reason_en for mark in marks} == {f"{CODE} v1 is no longer in force."}


def test_results_from_before_are_in_doubt_until_a_curator_says_what_was_found(tmp_path):
    document = add_document(tmp_path)
    review = start_review(principal=local_operator(), document_id=document.public_id)
    execution.execute(review.pk)
    assert not mappings.suspect_results(local_operator()).exists()
    publish(next_edition(a5_1={"title": "移行の進め方"}))
    (result,) = mappings.suspect_results(local_operator())
    assert result.item_version.item.code == "BD-B01"
    (reason,) = mappings.suspect_reasons([result])[result.pk]
    for report_format in ("markdown", "html", "json"):
        report = build_report(
            principal=local_operator(), review_id=review.public_id, report_format=report_format, language="en"
        )
        assert report.content.decode().count("PG-5.1 (title)") == 1, reason
    stranger = principal_with(None, Collection.objects.get(slug="default"))
    assert not mappings.suspect_results(stranger).exists()
    (mark,) = mappings.list_suspects(local_operator())
    with pytest.raises(InvalidInput):
        mappings.clear_suspect(principal=local_operator(), mark_id=mark.pk, reason=" ")
    with pytest.raises(Forbidden):
        mappings.clear_suspect(principal=stranger, mark_id=mark.pk, reason="問題なし")
    mappings.clear_suspect(principal=local_operator(), mark_id=mark.pk, reason="題名だけの変更")
    assert not mappings.suspect_results(local_operator()).exists()


def test_a_review_goes_on_with_the_editions_that_it_began_with(tmp_path):
    document = add_document(tmp_path)
    review = start_review(principal=local_operator(), document_id=document.public_id)
    begun = GuidelineEdition.objects.get(guideline__code=CODE, status="published")
    type(review).objects.filter(pk=review.pk).update(started_at=timezone.now())
    ReviewEdition.objects.create(review=review, edition=begun)
    publish(next_edition(a5_1=None))
    execution.execute(review.pk)
    assert [pin.edition for pin in review.guideline_editions.all()] == [begun]


def test_curators_map_items_to_articles_in_force():
    curator = hub_curator()
    reader = principal_with(Role.CURATOR, Collection.objects.get(slug="default"))
    facts = {"article": "PG-1.4", "check_item": "BD-A02", "relation": "derived"}
    mappings.save_mapping(principal=curator, **facts)
    mappings.save_mapping(principal=curator, **{**facts, "relation": "indirect"})
    assert GuidelineMapping.objects.get(article_code="PG-1.4").relation == "indirect"
    with pytest.raises(Forbidden):
        mappings.save_mapping(principal=reader, **facts)
    with pytest.raises(InvalidInput):
        mappings.save_mapping(principal=curator, **{**facts, "relation": "somehow"})
    with pytest.raises(NotFound):
        mappings.save_mapping(principal=curator, **{**facts, "article": "PG-77"})
    SuspectMark.objects.create(
        check_item=CheckItem.objects.get(code="BD-A02"),
        article_code="PG-1.4",
        edition=GuidelineEdition.objects.get(guideline__code=CODE),
        reason_ja="変更",
        reason_en="changed",
    )
    mappings.delete_mapping(principal=curator, article="PG-1.4", check_item="BD-A02")
    assert not SuspectMark.objects.exists()
    with pytest.raises(NotFound):
        mappings.delete_mapping(principal=curator, article="PG-1.4", check_item="BD-A02")
