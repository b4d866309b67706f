"""REST calls about evaluation: datasets, cases, runs. Each handler translates, makes one call, translates back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from ninja import Field, Query, Router, Schema, Status

from hub.access.principals import HubRight
from hub.core.bounds import GIVEN_JSON, PROMPT_TEXT
from hub.core.errors import InvalidInput
from hub.evaluation import datasets as hub_datasets
from hub.evaluation.cases import MOST_ROWS, Row
from hub.rest.auth import HubRequest
from hub.rest.idempotency import reads
from hub.rest.pagination import KeysetPage, cursor_scope, paginate_keyset
from hub.rest.parsing import parse_json
from hub.rest.responses import accepted, created
from hub.rest.schemas import LongText, Page, PageQuery, ShortText, ShortTexts
from hub.rest.uploads import received_file
from review.curation.prompts import PromptOut, draft_prompt, get_prompt, list_prompts, prompt_out, publish_prompt
from review.evaluation import cases, datasets, gate, runs
from review.evaluation import schemas as shapes
from review.evaluation.gate_report import GateOut, gate_out

router = Router(tags=["evaluation"])

CASE = {"type": "object", "maxProperties": GIVEN_JSON.entries}
IMPORT_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary", "description": ".jsonl or .xlsx"}},
                }
            },
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["cases"],
                    "properties": {"cases": {"type": "array", "maxItems": MOST_ROWS, "items": CASE}},
                }
            },
        },
    }
}


class DatasetIn(Schema):
    code: ShortText
    name: LongText = ""


class DatasetPatch(Schema):
    name: LongText | None = None
    is_nightly: bool | None = None
    guards: ShortTexts | None = Field(None, description="checklist:CODE, embedding_set, prompt")
    readers: ShortTexts | None = Field(None, description="as in PUT …/readers, for who may name them")


class ReadersIn(Schema):
    readers: ShortTexts = Field(description="user names: all who may read the dataset, besides superusers")


class CaseQuery(Schema):
    kind: Literal["", "review", "retrieval"] = ""


class ImportQuery(Schema):
    format: ShortText = Field("auto", description="auto, cases or gold_list")


class FromFindingIn(Schema):
    finding_id: ShortText
    expected_verdict: Literal["", "pass", "fail"] = Field(
        "", description="fail: a true finding; pass: a false alarm; default: as the finding was decided"
    )


class FromResultIn(Schema):
    review_id: ShortText
    check_item_id: ShortText


class RunIn(Schema):
    dataset: ShortText
    metrics: ShortTexts = Field([], description="such as precision, recall, f1; default: all")
    compare_baseline: bool = False
    kind: Literal["", "review", "retrieval"] = Field("", description="default: review where there are such cases")
    rounds: int = Field(2, ge=1, le=10, description="how often each document is judged, for the reproducibility")
    asks_model: bool = Field(False, description="have a language model judge what rules leave open")
    candidate: ShortText = Field(
        "",
        description="measured in the place of what is in force, and compared with that: checklist:CODE@NUMBER, "
        "prompt:KIND@NUMBER or embedding_set:NAME",
    )
    wait_seconds: float = Field(20, ge=0, le=50, description="wait this long for the result before answering")


class RunQuery(Schema):
    dataset: ShortText = ""


class MetricsQuery(Schema):
    metrics: ShortTexts = []


@router.post("/evaluation/datasets", response={201: shapes.DatasetOut})
def create_dataset(request: HubRequest, fields: DatasetIn) -> HttpResponse:
    """Make a dataset; only its maker reads it until more readers are named."""
    made = datasets.create_dataset(principal=request.principal, **fields.model_dump())
    return created(request, location=f"/api/v1/evaluation/datasets/{made.code}", body=shapes.dataset_out(made))


@router.get("/evaluation/datasets", response=list[shapes.DatasetOut])
def list_datasets(request: HubRequest) -> list[shapes.DatasetOut]:
    """The datasets that name you among their readers."""
    return [shapes.dataset_out(row) for row in datasets.list_datasets(request.principal)]


@router.get("/evaluation/datasets/{code}", response=shapes.DatasetOut)
def get_dataset(request: HubRequest, code: str) -> shapes.DatasetOut:
    """One dataset."""
    return shapes.dataset_out(datasets.read_dataset(request.principal, code))


@router.put("/evaluation/datasets/{code}/readers", response=shapes.ReadersOut)
def name_readers(request: HubRequest, code: str, fields: ReadersIn) -> shapes.ReadersOut:
    """Name who reads a dataset, all of them; it takes the right to name them, not that to read it."""
    return shapes.readers_out(hub_datasets.name_readers(principal=request.principal, code=code, readers=fields.readers))


@router.patch("/evaluation/datasets/{code}", response=shapes.DatasetOut)
def change_dataset(request: HubRequest, code: str, fields: DatasetPatch) -> shapes.DatasetOut:
    """Change a dataset's name, readers, what it guards, and whether it runs every night."""
    changed = datasets.change_dataset(principal=request.principal, code=code, **fields.model_dump())
    return shapes.dataset_out(changed)


@router.delete("/evaluation/datasets/{code}", response={204: None})
def delete_dataset(request: HubRequest, code: str) -> Status[None]:
    """Delete a dataset with its cases and runs."""
    datasets.delete_dataset(principal=request.principal, code=code)
    return Status(204, None)


@router.get("/evaluation/datasets/{code}/cases", response=Page[shapes.CaseOut])
def list_cases(
    request: HubRequest, code: str, filters: Annotated[CaseQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[shapes.CaseOut]:
    """A dataset's cases, newest first."""
    listed = datasets.list_cases(request.principal, code, kind=filters.kind)
    scope = cursor_scope("evaluation.cases", filters, code=code)
    return paginate_keyset(listed, limit=page.limit, cursor=page.cursor, scope=scope).map(shapes.case_out)


@router.post("/evaluation/datasets/{code}/cases/import", response=shapes.CaseImportOut, openapi_extra=IMPORT_BODY)
def import_cases(request: HubRequest, code: str, filters: Annotated[ImportQuery, Query()]) -> shapes.CaseImportOut:
    """Import cases from a file (JSON Lines, JSON, Excel) or {cases: []}; 422 names the wrong rows, none is stored."""
    request.principal.require_hub(HubRight.EVALUATION)
    done = cases.import_cases(principal=request.principal, dataset=code, rows=_rows(request), row_format=filters.format)
    return shapes.import_out(done)


@router.post(
    "/evaluation/datasets/{code}/cases/import/preview", response=shapes.CaseImportOut, openapi_extra=IMPORT_BODY
)
@reads
def preview_cases(request: HubRequest, code: str, filters: Annotated[ImportQuery, Query()]) -> shapes.CaseImportOut:
    """Say what an import would change, and what is wrong in which row. Nothing is stored."""
    request.principal.require_hub(HubRight.EVALUATION)
    preview = cases.preview_cases(
        principal=request.principal, dataset=code, rows=_rows(request), row_format=filters.format
    )
    return shapes.import_out(preview)


def _rows(request: HttpRequest) -> list[Row]:
    """The cases of the body: a file of a multipart request, {cases: []}, or JSON Lines as they are."""
    if request.content_type == "multipart/form-data":
        file = request.FILES.get("file")
        if file is None:
            raise InvalidInput(_("file: expected a file of cases (.jsonl or .xlsx)."))
        with received_file(file) as received:
            return cases.rows_in_file(received.path, received.filename)
    if request.content_type in ("", "application/json"):
        body = parse_json(request.body)
        given = body.get("cases") if isinstance(body, dict) else body
        if not isinstance(given, list):
            raise InvalidInput(_("cases: expected a list of cases."))
        return cases.rows_of(given)
    return cases.rows_in(request.body, "body")


@router.post("/evaluation/datasets/{code}/cases/from-finding", response={201: shapes.CaseOut})
def case_from_finding(request: HubRequest, code: str, fields: FromFindingIn) -> Status[shapes.CaseOut]:
    """Keep a person's verdict on a finding as a case; the same finding again replaces it."""
    case, _is_new = cases.case_from_finding(principal=request.principal, dataset=code, **fields.model_dump())
    return Status(201, shapes.case_out(case))


@router.post("/evaluation/datasets/{code}/cases/from-result", response={201: shapes.CaseOut})
def case_from_result(request: HubRequest, code: str, fields: FromResultIn) -> Status[shapes.CaseOut]:
    """Keep a person's verdict on a check as a case of its item; the same check again replaces it."""
    case, _is_new = cases.case_from_result(principal=request.principal, dataset=code, **fields.model_dump())
    return Status(201, shapes.case_out(case))


@router.delete("/evaluation/datasets/{code}/cases/{case_id}", response={204: None})
def delete_case(request: HubRequest, code: str, case_id: int) -> Status[None]:
    """Take a case out of a dataset."""
    datasets.delete_case(principal=request.principal, code=code, case_id=case_id)
    return Status(204, None)


@router.post("/evaluation/runs", response={202: shapes.EvaluationOut})
def start_run(request: HubRequest, fields: RunIn) -> HttpResponse:
    """Measure what is in force, or a candidate, on a dataset; poll Location while status is queued or running."""
    metrics = runs.chosen_metrics(fields.metrics)
    run = runs.start_run(principal=request.principal, **fields.model_dump(exclude={"metrics", "wait_seconds"}))
    if fields.wait_seconds:
        runs.wait_for_run(run, timeout_s=fields.wait_seconds)
    body = shapes.evaluation_out(runs.get_run(request.principal, run.public_id), metrics)
    return accepted(request, location=f"/api/v1/evaluation/runs/{run.public_id}", body=body)


@router.get("/evaluation/runs", response=Page[shapes.EvaluationRowOut])
def list_runs(
    request: HubRequest, filters: Annotated[RunQuery, Query()], page: Annotated[PageQuery, Query()]
) -> KeysetPage[shapes.EvaluationRowOut]:
    """Runs, newest first."""
    scope = cursor_scope("evaluation.runs", filters)
    listed = runs.list_runs(request.principal, dataset=filters.dataset)
    found = paginate_keyset(listed, limit=page.limit, cursor=page.cursor, scope=scope)
    return found.map(lambda run: shapes.evaluation_row_out(run, runs.KNOWN_METRICS))


@router.get("/evaluation/runs/{run_id}", response=shapes.EvaluationOut)
def get_run(request: HubRequest, run_id: str, filters: Annotated[MetricsQuery, Query()]) -> shapes.EvaluationOut:
    """A run: figures overall, by check type, document and item, and the comparison with its baseline."""
    run = runs.get_run(request.principal, run_id)
    return shapes.evaluation_out(run, runs.chosen_metrics(filters.metrics))


@router.get("/evaluation/runs/{run_id}/compare", response=shapes.ComparisonOut)
def compare_runs(request: HubRequest, run_id: str, base: ShortText) -> shapes.ComparisonOut:
    """A run held against any other (`base`) of its dataset: what is better, worse, and which cases flipped."""
    return runs.compare_runs(request.principal, run_id, base_id=base)


@router.post("/evaluation/runs/{run_id}/baseline", response=shapes.EvaluationRowOut)
def mark_baseline(request: HubRequest, run_id: str) -> shapes.EvaluationRowOut:
    """Hold later runs of the dataset against this one."""
    run = runs.mark_baseline(principal=request.principal, run_id=run_id)
    return shapes.evaluation_row_out(run, runs.KNOWN_METRICS)


class CandidateIn(Schema):
    candidate: ShortText = Field(description="checklist:CODE@NUMBER, prompt:KIND@NUMBER or embedding_set:NAME")
    wait_seconds: float = Field(20, ge=0, le=50, description="wait this long for the comparison before answering")


class PromptIn(Schema):
    kind: ShortText = Field(description="judge or screen")
    text: str = Field(max_length=PROMPT_TEXT)
    note: str = Field("", max_length=300, description="reason for the change")


@router.get("/evaluation/gate", response=GateOut)
def look_at_gate(request: HubRequest, candidate: ShortText) -> GateOut:
    """What is known of a candidate on the datasets that guard it; nothing is measured."""
    return gate_out(gate.look_at(request.principal, candidate))


@router.post("/evaluation/gate", response=GateOut)
def compare_candidate(request: HubRequest, fields: CandidateIn) -> GateOut:
    """Compare a candidate with what is in force on the datasets that guard it; ask again while one is pending."""
    report = gate.compare(principal=request.principal, name=fields.candidate, wait_s=fields.wait_seconds)
    return gate_out(report)


@router.get("/judge-prompts", response=list[PromptOut])
def list_judge_prompts(request: HubRequest) -> list[PromptOut]:
    """What language models are told beside the fixed rules: every version, newest first."""
    return [prompt_out(prompt) for prompt in list_prompts(request.principal)]


@router.post("/judge-prompts", response={201: PromptOut})
def draft_judge_prompt(request: HubRequest, fields: PromptIn) -> HttpResponse:
    """Store a draft; nobody is judged by it yet."""
    made = draft_prompt(principal=request.principal, **fields.model_dump())
    return created(request, location="/api/v1/judge-prompts", body=prompt_out(made))


@router.post("/judge-prompts/{kind}/{number}/publish", response=PromptOut)
def publish_judge_prompt(request: HubRequest, kind: str, number: int) -> PromptOut:
    """Put a draft in force, if the gate lets it through: 409 with the flipped cases, or why nobody can tell."""
    prompt = get_prompt(request.principal, kind, number)
    published = publish_prompt(principal=request.principal, prompt_id=prompt.pk)
    return prompt_out(published)
