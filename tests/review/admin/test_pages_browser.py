"""Every page around reviews, triage, evaluation, prompts and scenarios in a real browser: nothing runs off the screen.

With HUB_SCREENSHOTS each page is also stored in that folder as a picture.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from selenium.webdriver.remote.webdriver import WebDriver

from hub.access.principals import local_operator
from hub.evaluation.models import EvaluationDataset, EvaluationRun
from mcp_bridge.models import PromptVersion
from mcp_bridge.prompts.services import new_prompt_version, save_prompt_draft
from review.evaluation import cases
from review.models import Finding, JudgePrompt, Review
from review.triage.decisions import TriageChange, triage_finding
from tests.review.conftest import DESIGN, review_text

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDE, NARROW = 1280, 390
OPERATOR = local_operator()
EDITED = DESIGN.replace("- 版数: 1.2", "- 版数: 1.1").replace("適切に対応する。", "適切に対処し、結果を記録する。")


def decide(review: Review, at: int, **change: Any) -> Finding:
    finding = Finding.objects.filter(result__review=review)[at]
    return triage_finding(principal=OPERATOR, finding_id=finding.public_id, change=TriageChange(**change))


def measured(dataset: EvaluationDataset, value: float, **fields: Any) -> EvaluationRun:
    names = ("precision", "recall", "f1_score", "agreement", "false_positive_rate", "false_negative_rate")
    metrics: dict[str, Any] = {name: {"value": value, "low": value - 0.1, "high": value} for name in names}
    metrics |= {"reproducibility": {"value": 1.0, "low": None, "high": None}}
    if "baseline" in fields:
        metrics |= {"delta": dict.fromkeys(names, -0.05), "improved": False, "regression": True, "baseline": {}}
    flip = {
        "case": 1,
        "document": "基本設計書_図書予約システム.md",
        "item": "FR-006 が定義されていない",
        "decided_by": "traceability.undefined_reference",
        "expected": "fail",
        "before": "fail",
        "after": "pass",
        "is_worse": True,
    }
    return EvaluationRun.objects.create(
        dataset=dataset,
        kind="review",
        subject="basic-design v1, test-plan v1",
        principal="夜間",
        metrics=metrics,
        flips=[flip] if "baseline" in fields else [],
        **fields,
    )


@pytest.fixture
def pages(tmp_path: Path) -> dict[str, str]:
    """The addresses by short names, with something to see on each page."""
    first = review_text(tmp_path, DESIGN)
    ends = timezone.now() + timedelta(days=90)
    decide(first, 0, triage="waived", reason="次期更改で対応することを定例会で合意した", expires_at=ends)
    decide(first, 1, triage="rejected", reason="別冊に定めている", comment="設計担当に確認中")
    second = review_text(tmp_path, EDITED)
    offered = reverse("admin:review_review_triage", args=[second.pk])
    code = EvaluationDataset.objects.create(code="triage-set", name="裁定から作った正解データ").code
    cases.case_from_finding(principal=OPERATOR, finding_id=decide(first, 2, triage="accepted").public_id, dataset=code)
    dataset = EvaluationDataset.objects.get(code=code)
    baseline = measured(dataset, 0.9, is_baseline=True)
    run = measured(dataset, 0.85, baseline=baseline)
    prompt = JudgePrompt.objects.first()
    assert prompt is not None
    shipped = PromptVersion.objects.filter(status="published").order_by("template")[0]
    draft = new_prompt_version(principal=OPERATOR, version_id=shipped.pk)
    draft.text_ja += "\n{知らない箇所}を、長い行になるまで続けて書いたときにも画面からはみ出さないことを確かめる。" * 3
    save_prompt_draft(principal=OPERATOR, version=draft)
    return {
        "reviews": reverse("admin:review_review_changelist"),
        "review": reverse("admin:review_review_change", args=[second.pk]),
        "triage": reverse("admin:review_review_triage", args=[first.pk]),
        "triage-offer": offered,
        "diff": reverse("admin:review_review_diff", args=[second.pk]),
        "answers": reverse("admin:review_review_answers", args=[second.pk]),
        "start": reverse("admin:review_review_start"),
        "datasets": reverse("admin:evaluation_evaluationdataset_changelist"),
        "dataset": reverse("admin:evaluation_evaluationdataset_change", args=[dataset.pk]),
        "run": reverse("admin:evaluation_evaluationrun_page", args=[run.public_id]),
        "trend": reverse("admin:evaluation_evaluationdataset_trend", args=[code]),
        "prompts": reverse("admin:review_judgeprompt_changelist"),
        "bench": reverse("admin:review_judgeprompt_bench", args=[prompt.pk]),
        "mcp-prompts": reverse("admin:mcp_bridge_promptversion_changelist"),
        "mcp-prompt": reverse("admin:mcp_bridge_promptversion_change", args=[draft.pk]),
        "mcp-bench": reverse("admin:mcp_bridge_promptversion_bench", args=[draft.pk]),
        "scenarios": reverse("admin:review_scenario_changelist"),
        "walk": reverse("admin:review_scenario_walk", args=["pjmo-self-review"]),
    }


def resize(browser: WebDriver, width: int) -> None:
    """A window can't be made narrower than 500 px; the device that is emulated can."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def picture(browser: WebDriver, name: str) -> None:
    if folder := os.environ.get("HUB_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(Path(folder) / f"{name}.png"))


RUNS_OFF = """
const limit = document.documentElement.clientWidth;
const main = document.getElementById("main");
const clipped = (one) => {
  for (let at = one.parentElement; at && at !== main; at = at.parentElement)
    if (getComputedStyle(at).overflowX !== "visible") return true;
  return false;
};
return [...document.querySelectorAll("#main *")].filter((one) => one.getBoundingClientRect().width > 0
  && one.getBoundingClientRect().right > limit + 1 && !clipped(one)).slice(0, 5)
  .map((one) => `${one.tagName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`);
"""


# Each width and language once; the other two pairs with ``--long``.
LOOKS = [(WIDE, "ja"), (NARROW, "en")]
OTHER_LOOKS = [(WIDE, "en"), (NARROW, "ja")]


@pytest.mark.timeout(600)  # sixty pages
@pytest.mark.parametrize("looks", [LOOKS, pytest.param(OTHER_LOOKS, marks=pytest.mark.long)], ids=["quick", "others"])
def test_nothing_runs_off_the_screen_narrow_or_wide_in_both_languages(
    page: Any,
    pages: dict[str, str],
    live_server: Any,
    looks: list[tuple[int, str]],
) -> None:
    browser = page("admin:index")
    problems = []
    try:
        for width, language in looks:
            resize(browser, width)
            browser.add_cookie({"name": "django_language", "value": language})
            for name, address in pages.items():
                browser.get(live_server.url + address)
                picture(browser, f"{name}-{language}-{width}")
                if found := browser.execute_script(RUNS_OFF):
                    problems.append((name, language, width, found))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert problems == []
