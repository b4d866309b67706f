from __future__ import annotations

import json
from datetime import date

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import InvalidInput
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.evaluation.measuring import score_case, search_of
from knowledge.evaluation.questions import import_retrieval_cases
from knowledge.index.active_embedder import active_embedding_set
from knowledge.models import Collection
from knowledge.types.search import SearchMode
from tests.factories import make_hub_curator
from tests.hub.admin.support import client_of, grant, make_user
from tests.knowledge.admin.search_page import ask, best, fill
from tests.knowledge.search.shelf import Library

pytestmark = pytest.mark.django_db
PAGE = "admin:hub_search"


@pytest.fixture
def curator() -> Client:
    fill(Library(slug="default"))
    return client_of(make_user("佐藤", is_superuser=True), language="en")


def keep(client: Client, chunk_id: str, *, dataset: str = "gold", **more: str) -> str:
    """Press the button beside a passage, and read the page that comes back."""
    asked = {"q": "画面の応答時間", "back": "q=画面の応答時間", "new_dataset": dataset, "keep": chunk_id, **more}
    return client.post(reverse("admin:hub_search_keep"), asked, follow=True).content.decode()


def test_one_click_makes_a_case_that_quotes_the_sentence_and_a_second_one_joins_it(curator: Client) -> None:
    first, second, *_rest = ask(curator)["shown"].hits
    assert "Kept as a right answer in &quot;gold&quot;." in keep(curator, first.hit.chunk_id)
    keep(curator, first.hit.chunk_id)
    case = EvaluationCase.objects.get()
    assert (case.dataset.code, case.kind, case.input) == ("gold", "retrieval", {"query": "画面の応答時間"})
    assert len(case.expected["relevant"]) == 1
    assert case.expected["relevant"][0]["document"] == "基本設計書.md"
    assert case.expected["relevant"][0]["text"].startswith("画面の応答時間は通常時3秒以内とする。")
    keep(curator, second.hit.chunk_id)
    case.refresh_from_db()
    assert len(case.expected["relevant"]) == 2
    assert [one.kept_in for one in ask(curator)["shown"].hits[:2]] == [("gold",), ("gold",)]
    assert AuditEvent.objects.filter(action="EVALUATION_CASE_KEEP", resource="dataset:gold").count() == 3


def test_a_kept_case_measures_search(curator: Client) -> None:
    keep(curator, best(curator).chunk_id)
    scores = score_case(local_operator(), EvaluationCase.objects.get(), active_embedding_set(), SearchMode.HYBRID)
    assert scores == {"ndcg@10": 1.0, "recall@10": 1.0, "mrr@10": 1.0}


def test_an_answer_is_taken_back_and_a_case_without_any_goes(curator: Client) -> None:
    chunk = best(curator).chunk_id
    keep(curator, chunk)
    shown = keep(curator, "", withdraw=f"gold:{chunk}")
    assert "Taken out of &quot;gold&quot;." in shown
    assert not EvaluationCase.objects.exists()
    assert "This passage is not kept as an answer to the question." in keep(curator, "", withdraw=f"gold:{chunk}")


def test_the_dataset_that_was_used_last_is_offered_first(curator: Client) -> None:
    keep(curator, best(curator).chunk_id, dataset="a")
    keep(curator, best(curator).chunk_id, dataset="b")
    context = ask(curator)
    assert (context["datasets"], context["chosen_dataset"]) == (["a", "b"], "b")


def test_a_dataset_without_a_good_code_is_refused_in_words(curator: Client) -> None:
    for dataset in ("", "に本語", "x" * 64):
        assert "expected up to 63 letters" in keep(curator, best(curator).chunk_id, dataset=dataset)
    assert not EvaluationDataset.objects.exists()


def test_saved_queries_are_listed_asked_again_and_deleted(curator: Client) -> None:
    keep(curator, best(curator).chunk_id, collection="default")
    listed = curator.get(reverse("admin:hub_saved_queries"), {"dataset": "gold"})
    (case, again, compared) = listed.context_data["queries"][0]
    assert case.input == {"query": "画面の応答時間", "collection": "default"}
    assert curator.get(again).context_data["shown"].hits[0].kept_in == ("gold",)
    assert curator.get(compared).context_data["columns"][0].hits[0].kept_in == ("gold",)
    curator.post(reverse("admin:hub_saved_query_delete"), {"case": case.pk, "dataset": "gold"})
    assert not EvaluationCase.objects.exists()
    assert curator.post(reverse("admin:hub_saved_query_delete"), {"case": "x"}).status_code == 302


def test_a_case_keeps_how_it_was_asked_and_asks_it_so_again(curator: Client) -> None:
    how = {
        "mode": "lexical",
        "document_type": "basic_design",
        "section": "受発注システム 基本設計書 › 2. 性能要件",
        "per_document": "1",
    }
    context = ask(curator, **how, created_from="2020-04-01", threshold="0.1")
    hits = context["shown"].hits
    keep(curator, hits[0].hit.chunk_id, options=context["options"])
    case = EvaluationCase.objects.get()
    assert case.input == {
        "query": "画面の応答時間",
        "filter": {
            "document_type": ["basic_design"],
            "section_path": ["受発注システム 基本設計書", "2. 性能要件"],
            "created_from": "2020-04-01",
        },
        "mode": "lexical",
        "threshold": 0.1,
        "per_document": 1,
    }
    again = search_of(case.input)
    assert (again.mode, again.threshold, again.per_document) == (SearchMode.LEXICAL, 0.1, 1)
    assert again.filter.section_path == ("受発注システム 基本設計書", "2. 性能要件")
    assert again.filter.created_from == date(2020, 4, 1)
    (_case, address, _compared) = curator.get(reverse("admin:hub_saved_queries")).context_data["queries"][0]
    assert curator.get(address).context_data["options"] == context["options"]
    assert ask(curator)["shown"].hits[0].kept_in == ()


def test_options_that_search_does_not_know_make_no_case(curator: Client) -> None:
    chunk = best(curator).chunk_id
    for options in ("[]", "{", '{"mode": "psychic"}', '{"filter": {"colour": "red"}}', '{"threshold": 7}'):
        keep(curator, chunk, options=options)
    assert not EvaluationCase.objects.exists()


def test_imported_cases_are_asked_as_they_say(curator: Client) -> None:
    line = {"query": "応答時間", "relevant": ["運用設計書.md"], "filter": {"document_type": "detailed_design"}}
    bad = [line | {"filter": {"colour": "red"}}, line | {"mode": 3}, line | {"per_document": 0.5}]
    with override("en"), pytest.raises(InvalidInput, match=r"^3 lines .* 2: filter: .*; 3: .*; 4: per_document: "):
        import_retrieval_cases(principal=local_operator(), dataset="gold", lines=map(json.dumps, [line, *bad]))
    import_retrieval_cases(principal=local_operator(), dataset="gold", lines=[json.dumps(line)])
    scores = score_case(local_operator(), EvaluationCase.objects.get(), active_embedding_set(), SearchMode.HYBRID)
    assert scores["mrr@10"] == 1.0


def test_readers_neither_see_nor_use_the_buttons(curator: Client) -> None:
    chunk = best(curator).chunk_id
    keep(curator, chunk)
    reader = make_user("高橋")
    grant(reader, Role.CURATOR, Collection.objects.get(slug="default"))
    client = client_of(reader, language="en")
    assert "hub-keep" not in client.get(reverse(PAGE), {"q": "画面の応答時間"}).content.decode()
    keep(client, chunk, dataset="mine")
    assert EvaluationDataset.objects.count() == 1
    assert client.get(reverse("admin:hub_saved_queries")).context_data["queries"] == []


def test_a_curator_sees_no_dataset_and_no_passage_of_others(curator: Client) -> None:
    chunk = Library(slug="himitsu").add("秘密.md", ["秘密の画面の応答時間は1秒とする。"])[0].public_id
    keep(curator, chunk)
    other = make_hub_curator(make_user("田中"))
    grant(other, Role.CURATOR, Collection.objects.get(slug="default"))
    client = client_of(other, language="en")
    assert all(one.kept_in == () for one in ask(client)["shown"].hits)
    assert "unknown-chunk" in keep(client, "unknown-chunk", dataset="mine")
    assert chunk in keep(client, chunk, dataset="mine")
    assert "gold" in keep(client, best(client).chunk_id, dataset="gold")
    assert list(EvaluationDataset.objects.values_list("code", flat=True)) == ["gold"]
