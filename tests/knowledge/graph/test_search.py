from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from hub.access.principals import Classification, Role, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.graph.search import GraphQuery, Traversal, graph_search, similarity
from knowledge.graph.walk import Direction
from knowledge.models import GraphNode
from tests.factories import new_collection, principal_with
from tests.knowledge.graph.support import add

pytestmark = pytest.mark.django_db


def search(entity: str, principal=None, **more):
    return graph_search(principal or local_operator(), GraphQuery(entity=entity, **more))


def names(result) -> list[str]:
    return [node.name for node in result.nodes]


def test_a_requirement_leads_to_what_defines_it_and_what_traces_to_it(project):
    found = search("FR-001", relation_types=("TRACES_TO",), direction=Direction.IN, max_depth=1)
    assert names(found)[0] == "FR-001"
    assert set(names(found)[1:]) == {"C-001", "TC-001", "3.1 コンポーネント一覧", "2. テスト項目"}
    assert {edge.type for edge in found.edges} == {"TRACES_TO"}
    assert (found.max_depth_reached, found.nodes_visited) == (1, 5)


def test_every_path_is_a_chain_of_edges_from_the_start_to_its_node(project):
    found = search("FR-001", max_depth=3, limit=500)
    joined = {(edge.source, edge.target) for edge in found.edges}
    assert {path[-1] for path in found.paths} == {node.id for node in found.nodes if node.depth > 0}
    for path in found.paths:
        assert path[0] in found.starts
        for before, after in pairwise(path):
            assert (before, after) in joined or (after, before) in joined
    depths = {node.id: node.depth for node in found.nodes}
    assert all(depths[path[-1]] == len(path) - 1 for path in found.paths)


def test_bfs_gives_the_nearest_first_and_dfs_goes_branch_by_branch(project):
    near = search("図書館システム 基本設計書", max_depth=3, limit=500)
    deep = search("図書館システム 基本設計書", max_depth=3, limit=500, traversal=Traversal.DFS)
    assert [node.depth for node in near.nodes] == sorted(node.depth for node in near.nodes)
    assert {node.id for node in near.nodes} == {node.id for node in deep.nodes}
    assert [node.depth for node in deep.nodes] != sorted(node.depth for node in deep.nodes)
    parents = {path[-1]: path[-2] for path in deep.paths}
    for before, node in pairwise(deep.nodes):
        if node.depth == before.depth + 1:
            assert parents[node.id] == before.id


def test_an_entity_is_found_by_id_code_alias_and_similar_name(project):
    design = project[1]
    for entity in (
        design.public_id,
        "DES-100",
        "des‐100",
        "基本設計書",
        "図書館システム　基本設計書",
        "図書館システムの基本設計",
    ):
        assert search(entity, max_depth=1).nodes[0].id == design.public_id, entity
    assert search("蔵書検索機能 FR-001", max_depth=1).nodes


def test_types_may_be_named_in_japanese(project):
    found = search("図書館システム 基本設計書", relation_types=("節を持つ", "追跡"), node_types=("要件",), max_depth=2)
    assert {node.type for node in found.nodes if node.depth} == {"Requirement"}


def test_an_unknown_entity_type_or_depth_is_told(project):
    with pytest.raises(NotFound, match="存在しない名前"):
        search("存在しない名前")
    with pytest.raises(InvalidInput, match="TRACES_TO"):
        search("FR-001", relation_types=("なにか",))
    for bad in ({"max_depth": 0}, {"max_depth": 6}, {"limit": 0}, {"limit": 501}):
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            search("FR-001", **bad)
    for entity in ("", "  ", "x" * 501, "a\x00b"):
        with pytest.raises(InvalidInput, match="entity"):
            search(entity)


def test_the_limit_keeps_the_nearest_and_the_answer_says_that_there_is_more(project):
    found = search("図書館システム 基本設計書", max_depth=3, limit=4)
    assert len(found.nodes) == 4
    assert not found.is_complete
    assert search("TC-002", max_depth=5, limit=500).is_complete


def test_nobody_walks_through_what_they_may_not_see(project, tmp_path):
    other = new_collection(slug="other")
    add(tmp_path, "# 別件設計書\n\n## 1. FR-001 別件\n\n基本設計書に関する本文。\n", name="別件.md", collection="other")
    reader = principal_with(Role.READER, other)
    found = search("FR-001", reader, max_depth=5, limit=500)
    shown = [node.id for node in found.nodes]
    collections = set(GraphNode.objects.filter(public_id__in=shown).values_list("collection__slug"))
    assert collections <= {("other",), (None,)}
    similar = search("図書館システム 要件定義書 FR-003", reader)
    assert {node.collection for node in similar.nodes} <= {"other", None}
    both = search("FR-001", max_depth=1)
    assert len(both.starts) == 2
    assert len(search("FR-001", max_depth=1, collection="other").starts) == 1


def test_a_secret_document_is_no_bridge_between_open_ones(project, tmp_path):
    secret = "# 秘密対応表\n\n| 設計ID | 要件ID | 理由 |\n|---|---|---|\n| C-002 | NFR-001 | 秘密 |\n"
    add(tmp_path, secret, name="秘密.md", classification=Classification.C3)
    reader = principal_with(Role.READER, project[0].collection)
    pair = {"C-002", "NFR-001"}
    everyone = search("C-002", relation_types=("TRACES_TO",), max_depth=1)
    assert pair <= set(names(everyone))
    mine = search("C-002", reader, relation_types=("TRACES_TO",), max_depth=1)
    assert "NFR-001" not in names(mine)


def test_without_the_scope_search_nothing_is_walked(project):
    stranger = principal_with(None, project[0].collection)
    with pytest.raises(NotFound):
        search("DES-100", stranger)
    with pytest.raises(Forbidden):
        search("DES-100", replace(local_operator(), scopes=frozenset()))


def test_the_number_of_queries_does_not_grow_with_the_answer(project, django_assert_max_num_queries):
    with django_assert_max_num_queries(9):
        search("図書館システム 基本設計書", max_depth=3, limit=500)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("基本設計書", "基本設計書", True),
        ("基本設計", "基本設計書", True),
        ("サーバ", "サーバー", True),
        ("予約", "貸出", False),
        ("req-901", "req-902", False),
        ("req-901", "req-0901", True),
        ("性能要件", "3.2 性能要件", True),
    ],
)
def test_similar_names_are_similar(one, other, alike):
    assert (similarity(one, other) >= 0.45) is alike
    assert similarity(one, other) == similarity(other, one)


def test_a_document_keeps_the_walk_to_what_it_speaks_of(project):
    requirements, design, _plan = (document.public_id for document in project)
    everywhere = search("FR-001", max_depth=3, limit=500)
    inside = search("FR-001", max_depth=3, limit=500, document_id=design)
    other = search("FR-001", max_depth=3, limit=500, document_id=requirements)
    assert set(names(inside)) < set(names(everywhere))
    assert {node.properties.get("document_id", design) for node in inside.nodes} == {design}
    assert {node.properties.get("document_id", requirements) for node in other.nodes} == {requirements}
    assert inside.edges
    with pytest.raises(NotFound):
        search("FR-001", document_id="doc_00000000000000000000")
    with pytest.raises(NotFound):
        search("FR-001", document_id=design, principal=principal_with(Role.READER, new_collection()))


def test_an_empty_walk_says_which_relations_there_are(project):
    (notice,) = search("FR-001", relation_types=("MUST_COMPLY",)).notices
    assert notice.code == "relation_not_around"
    assert "TRACES_TO" in notice.ja
    assert search("FR-001", relation_types=("TRACES_TO",)).notices == ()
    (notice,) = search("FR-001", document_id=project[0].public_id, relation_types=("VALIDATES",)).notices
    assert "VALIDATES" not in notice.en.partition("Relations at the start:")[2]
