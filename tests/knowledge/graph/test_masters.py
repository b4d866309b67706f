"""Masters in the graph: guideline articles and check items, and the documents that name them."""

from __future__ import annotations

import pytest

from knowledge.graph.masters import sync_masters
from knowledge.graph.reading import KnownName, find_names
from knowledge.models import GraphEdge, GraphNode, GuidelineEdition
from tests.knowledge.graph.support import add, edges

pytestmark = pytest.mark.django_db


def test_articles_are_found_by_code_and_number_not_by_title_or_a_longer_code():
    known = [KnownName(key="gl-3.2", node_id="a"), KnownName(key="標準ガイドライン 3.2", node_id="a")]
    text = "GL-3.2 と標準ガイドライン 3.2 による。GL-3.2.1 と AGL-3.2 は別である。ＧＬ－３．２に従う。"
    found = [(text[place.start : place.end], place.node_id) for place in find_names(text, known)]
    assert found == [("GL-3.2", "a"), ("標準ガイドライン 3.2", "a"), ("ＧＬ－３．２", "a")]


def test_an_article_in_force_joins_document_types_check_items_and_texts_that_name_it(tmp_path):
    sync_masters()
    mapped = GraphEdge.objects.filter(type="DEFINES", source__type="GuidelineArticle", target__type="CheckItem").first()
    assert mapped is not None
    article = mapped.source
    assert GraphEdge.objects.filter(type="VALIDATES", source=mapped.target, target=article).exists()
    add(tmp_path, f"# 設計書\n\n## 1. 準拠\n\n本書は {article.code} に従う。\n")
    assert ("1. 準拠", "REFERENCES", article.name) in edges("REFERENCES")
    assert article.contributions.filter(kind="document").count() == 0


def test_a_master_that_comes_back_is_joined_again_by_those_that_name_it():
    sync_masters()
    before = edges("VALIDATES", "DEFINES", "MUST_COMPLY")
    assert before
    GuidelineEdition.objects.filter(status="published").update(status="retired")
    assert sync_masters() >= 1
    assert not GraphNode.objects.filter(type="GuidelineArticle").exists()
    assert {edge for edge in edges("VALIDATES") if edge not in before} == set()
    GuidelineEdition.objects.filter(status="retired").update(status="published")
    assert sync_masters() >= 2
    assert edges("VALIDATES", "DEFINES", "MUST_COMPLY") == before
    assert sync_masters() == 0
