"""The tool of smartreviewer-core that measures the reviewer on a dataset."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from hub.access.principals import HubRight, Scope
from hub.evaluation.models import EvaluationRun
from mcp_bridge.caller import current_caller, principal_now
from mcp_bridge.events import have_queue
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers.waiting import wait_or_leave_running
from mcp_bridge.threads import in_thread
from review.evaluation import runs
from review.evaluation.schemas import EvaluationOut, evaluation_out

DEFAULT_METRICS = ("precision", "recall", "f1")


async def run_evaluation(
    dataset_id: Annotated[
        str, Field(min_length=1, max_length=63, description="code of the evaluation dataset", examples=["gold"])
    ],
    ctx: Context[Any, Any],
    metrics: Annotated[
        list[Annotated[str, Field(max_length=60)]],
        Field(max_length=20, description="precision, recall, f1 and others; these three are always given"),
    ] = list(DEFAULT_METRICS),  # noqa: B006 (never changed; pydantic shows it as the default)
    compare_baseline: Annotated[
        bool, Field(description="compare with the baseline run (delta, improved, flips)")
    ] = False,
    wait_seconds: Annotated[float, Field(ge=0, le=300, description="wait this long for the result")] = 45,
    evaluation_id: Annotated[
        str, Field(max_length=60, description="wait for this run, which was started before, instead of starting one")
    ] = "",
) -> EvaluationOut:
    """Measure the reviewer on an evaluation dataset (精度の評価・回帰テスト): judged cases against its verdicts.

    Use it to learn how well the hub judges (精度、再現率、正解との一致), and before and after a change of check lists,
    prompts or models (変更の影響、判定の悪化). Gives metrics with intervals, and with compare_baseline which cases
    flipped. While status is queued or running, call it again with its evaluation_id.
    """
    chosen = await in_thread(runs.chosen_metrics, (*DEFAULT_METRICS, *metrics))
    if evaluation_id:
        run = await in_thread(_take_up, evaluation_id)
    else:
        run = await in_thread(_start, dataset_id, compare_baseline)
    await wait_or_leave_running(
        ctx,
        name=f"evaluation-{run.public_id}",
        wait=lambda seconds: runs.wait_for_run(run, timeout_s=seconds),
        progress=lambda: EvaluationRun.objects.values_list("progress", "status").get(pk=run.pk),
        limit_s=wait_seconds,
    )
    principal = await principal_now()
    return await in_thread(lambda: evaluation_out(runs.get_run(principal, run.public_id), chosen))


def _take_up(evaluation_id: str) -> EvaluationRun:
    have_queue()
    return runs.get_run(current_caller().principal, evaluation_id)


def _start(dataset: str, compare_baseline: bool) -> EvaluationRun:
    have_queue()
    principal = current_caller().principal
    return runs.start_run(principal=principal, dataset=dataset, compare_baseline=compare_baseline)


TOOL: HubTool = hub_tool(
    run_evaluation,
    title="Evaluate the reviewer (評価)",
    scope=Scope.CURATE,
    right=HubRight.EVALUATION,
    picture="check",
    read_only=False,
    idempotent=False,
)
