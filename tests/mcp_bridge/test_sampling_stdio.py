"""The client's model as a judge over stdio, in both eras: results of a provider's kind, which nobody can repeat."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.llm_server import llm_server
from tests.mcp_bridge.conftest import DESIGN, stdio_session
from tests.mcp_bridge.test_http import upload
from tests.mcp_bridge.test_sampling import ERAS, GROUND, answering

pytestmark = pytest.mark.anyio
ITEMS = ["BD-C01", "BD-C02"]
ANSWER = {
    "reason": "本文に定めがある。",
    "grounds": [{"passage": "p1", "quote": GROUND}],
    "findings": [],
    "score": 90,
    "verdict": "pass",
}
# One process for what needs no client: the review by a provider, then both reviews again without any model.
AGAIN = """
import json, sys
import django
django.setup()
from django.conf import settings
from hub.access.principals import local_operator
from hub.llm.providers.registry import close_provider
from review.runs.execution import execute
from review.runs.reviews import replay_review
from review.runs.reviews import ReviewOptions, get_review, ordered_findings, start_review
from review.runs.schemas import review_out
document_id, sampled, *items = sys.argv[1:]
def finished(review):
    assert execute(review.pk)
    return show(review.public_id)
def show(review_id):
    review = get_review(local_operator(), review_id)
    return review_out(review, ordered_findings(list(review.results.all()))).model_dump(mode="json")
options = ReviewOptions(judge="server", check_items=tuple(items), second_opinion="off", sweep="off")
asked = {"principal": local_operator(), "document_id": document_id, "options": options}
provided = finished(start_review(**asked))
close_provider()
settings.CONFIG = settings.CONFIG.model_copy(update={"llm_provider": "none", "llm_model": "", "llm_base_url": ""})
ids = (sampled, provided["review_id"])
replays = [finished(replay_review(principal=local_operator(), review_id=one)) for one in ids]
print(json.dumps([show(sampled), provided, *replays]))
"""


async def sample(hub: Any, mode: str, asked: list[str]) -> tuple[str, str]:
    """The ids of a document and of its review, judged by the client's model."""
    text = f"{DESIGN}\n標準入出力（{mode}）で受け取った版である。\n"
    async with stdio_session(hub.stdio("core"), mode=mode, sampling_callback=answering(GROUND, asked)) as client:
        document = await upload(client, f"標準入出力-{mode}.md", content=text, wait_seconds=0)
        steps = {"second_opinion": "off", "sweep": "off"}
        told = {"document_id": document["document_id"], "check_items": ITEMS, "options": steps}
        result = await client.call_tool("review_document", told)
    assert not result.is_error, result.content
    return document["document_id"], result.structured_content["review_id"]


def verdicts(facts: dict[str, Any]) -> str:
    """All that a verdict consists of, as bytes would be compared."""
    results = [{**one, "execution_time_ms": 0} for one in facts["results"]]
    findings = [{**one, "id": ""} for one in facts["findings"]]
    return json.dumps([facts["verdict"], results, findings], ensure_ascii=False, sort_keys=True)


def without_names(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The results without who judged, what is said of it, and how long it took."""
    names = {"provider": "", "model": ""}
    gone = {"execution_time_ms": 0, "judged_by": "", "notices": []}
    return [{**one, **gone, "judgement": {**one["judgement"], **names}} for one in facts["results"]]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_clients_model_and_a_provider_store_the_same_and_only_the_providers_is_replayed(hub, model_items, mode):
    asked: list[str] = []
    document_id, review_id = await sample(hub, mode, asked)
    with llm_server(json.dumps(ANSWER, ensure_ascii=False)) as server:
        provider = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": server.url, "LLM_MODEL": "strong"}
        done = subprocess.run(
            [sys.executable, "-c", AGAIN, document_id, review_id, *ITEMS],
            env={**hub.environment, **provider},
            cwd=REPOSITORY,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
    sampled, provided, sampled_again, provided_again = json.loads(done.stdout)
    assert len(asked) == len(server.requests) == len(ITEMS)
    assert {one["judgement"]["provider"] for one in sampled["results"]} == {"sampling"}
    assert {one["judgement"]["provider"] for one in provided["results"]} == {"openai"}
    assert {(one["verdict"], one["method"]) for one in sampled["results"]} == {("pass", "llm")}
    assert without_names(sampled) == without_names(provided)
    assert {one["verdict"] for one in sampled_again["results"]} == {"skipped"}
    assert {notice["code"] for one in sampled_again["results"] for notice in one["notices"]} == {
        "callers_model_not_repeated"
    }
    assert verdicts(provided_again) == verdicts(provided)
