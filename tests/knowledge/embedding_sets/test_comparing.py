"""Two embedding sets compared on the same questions, and the command that leads through all steps."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from knowledge.embedding_sets import comparisons
from knowledge.evaluation import questions
from tests.knowledge.embedding_sets.sets import ME, build, make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("corpus", "queue")]

CASES = [
    {"query": "画面は何秒で応答するか", "relevant": ["性能.md"]},
    {"query": "責任者は誰か", "relevant": [{"document": "性能.md", "text": "責任者は情報システム部長"}]},
    {"query": "記録をどれだけ保存するか", "relevant": [{"document": "認証.md", "text": "一年間保存"}], "weight": 2},
]


def import_cases() -> None:
    questions.import_retrieval_cases(
        principal=ME, dataset="gold", lines=[json.dumps(case, ensure_ascii=False) for case in CASES]
    )


def test_two_sets_are_compared_on_the_same_questions() -> None:
    import_cases()
    again = questions.import_retrieval_cases(
        principal=ME, dataset="gold", lines=[json.dumps(CASES[0], ensure_ascii=False)]
    )
    assert again == {"dataset": "gold", "created": 0, "replaced": 1}
    build(make("fp32").name)
    run = comparisons.start_comparison(principal=ME, dataset="gold", candidate="fp32")
    assert (run.status, run.baseline.status) == ("queued", "queued")
    run = comparisons.wait_for_comparison(ME, run)
    assert (run.status, run.baseline.status) == ("completed", "completed")
    assert (run.subject, run.baseline.subject) == ("fp32", "multilingual-e5-small-q4 1")
    assert run.metrics["cases"] == len(run.scores) == 3
    for name in ("ndcg@10", "recall@10", "mrr@10"):
        assert 0.5 < run.metrics[name]["low"] <= run.metrics[name]["value"] <= 1.0
        assert run.metrics["delta"][name]["low"] <= 0 <= run.metrics["delta"][name]["high"]
    assert run.metrics["improved"] is None
    assert run.flips == []


def run_command(*arguments: str) -> dict:
    out = StringIO()
    call_command("embedding_set", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_each_step_has_a_command(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in CASES), encoding="utf-8")
    assert (
        run_command("create", "small", "--backend", "bundled", "--chunk-size", "60", "--chunk-overlap", "0")["done"]
        == 0
    )
    built = run_command("build", "small")
    assert (built["status"], built["done"]) == ("ready", built["total"])
    assert run_command("import-cases", "--dataset", "gold", "--file", str(file))["created"] == 3
    assert run_command("compare", "small", "--dataset", "gold")["subject"] == "small"
    assert run_command("switch", "small")["is_active"]
    assert run_command("rollback")["name"] == "multilingual-e5-small-q4 1"
    assert run_command("drop", "small")["status"] == "dropped"
    names = [row["name"] for row in run_command("list")["embedding_sets"]]
    assert names == ["small", "multilingual-e5-small-q4 1"]
