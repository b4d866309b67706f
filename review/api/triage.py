"""REST calls about what people decide: findings, verdicts, answers, signing off."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from django.utils import timezone
from ninja import Field, File, Router, Schema, UploadedFile
from pydantic import BeforeValidator

from hub.core.moments import Moment, end_of_day
from hub.core.shapes import TextOrNone, filled
from hub.rest.auth import HubRequest
from hub.rest.schemas import Integer, LongText, ShortText
from review.report.answers import MOST_COPY_BYTES, apply_answers, preview_answers
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import get_review, review_facts, show_findings
from review.runs.schemas import ResultOut
from review.triage import carry_over, decisions, signing, verdicts
from review.triage.comparing import show_difference
from review.triage.decisions import MAX_BULK, Answer, TriageChange, finding_history
from review.triage.schemas import CarryOut, DiffOut, HistoryLineOut, SignOffOut, history_line_out
from review.triage.signing import sign_off_state

router = Router()

CHANGED_MEANWHILE = "when somebody else was faster, the answer is 409 changed_meanwhile"
REVISION = f"the revision that you have seen; {CHANGED_MEANWHILE}"


def _end_of_day(value: object) -> object:
    """A day alone means until its end, in the hub's time zone; a time without a zone is meant there, too."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return value  # pydantic says what was expected
        if len(value) <= len("2026-03-31"):
            return end_of_day(moment.date())
        return moment if moment.tzinfo else timezone.make_aware(moment)
    return value


class FindingAnswerIn(Schema):
    plan: LongText = ""
    text: LongText = ""
    answered_by: str = Field("", max_length=150)
    answered_on: date | None = None


class TriageIn(Schema):
    """What to change; a field that is left out stays as it is."""

    triage: ShortText | None = Field(None, description="open, accepted, rejected, fixed or waived")
    reason: LongText = Field("", description="why; a waiver needs it")
    comment: LongText = ""
    expires_at: Annotated[Moment | None, BeforeValidator(_end_of_day)] = Field(
        None, description="when a waiver ends (it needs one): 2026-03-31, or a time with its zone"
    )
    assignee: ShortText | None = Field(None, description="user name; empty takes the assignment away")
    due_on: date | Literal[""] | None = Field(
        None, description="the last day on which it is to be settled; empty takes it away"
    )
    answer: FindingAnswerIn | None = None
    revision: Integer | None = Field(None, description=REVISION)


class BulkTriageIn(TriageIn):
    finding_ids: list[ShortText] = Field(min_length=1, max_length=MAX_BULK)


class FindingsOut(Schema):
    findings: list[FindingOut]


class HistoryOut(Schema):
    finding_id: str
    history: list[HistoryLineOut]


class VerdictIn(Schema):
    verdict: ShortText = Field(description="pass, warning, fail or not_applicable")
    reason: LongText = Field(description="why; it stands in the reports")
    revision: Integer | None = Field(None, description=REVISION)


class SignOffIn(Schema):
    comment: LongText = ""
    revision: Integer | None = Field(
        None, description="that of GET …/sign-off, read before the review was looked at; " + CHANGED_MEANWHILE
    )


def _change(asked: TriageIn) -> TriageChange:
    values = asked.model_dump(exclude={"finding_ids"})
    answer = values.pop("answer")
    return TriageChange(**values, answer=Answer(**answer) if answer else None)


@router.patch("/findings/{finding_id}", response=FindingOut)
def triage_finding(request: HubRequest, finding_id: str, asked: TriageIn) -> FindingOut:
    """Decide on a finding, comment it, or assign it with its due day. Verdicts of the check and the review follow."""
    finding = decisions.triage_finding(principal=request.principal, finding_id=finding_id, change=_change(asked))
    return show_findings(request.principal, [finding])[0]


class PromoteIn(Schema):
    reason: LongText = ""
    revision: Integer | None = Field(None, description=REVISION)


@router.post("/findings/{finding_id}/promote", response=FindingOut)
def promote_finding(request: HubRequest, finding_id: str, asked: PromoteIn) -> FindingOut:
    """Say that a finding counts that a language model overturned or only proposed. Verdicts follow."""
    finding = decisions.promote_finding(principal=request.principal, finding_id=finding_id, **asked.model_dump())
    return show_findings(request.principal, [finding])[0]


@router.patch("/findings", response=FindingsOut)
def triage_findings(request: HubRequest, asked: BulkTriageIn) -> FindingsOut:
    """Change several findings alike, all or none; all are answered as they are now."""
    findings = decisions.triage_findings(
        principal=request.principal, finding_ids=asked.finding_ids, change=_change(asked)
    )
    return FindingsOut(findings=show_findings(request.principal, findings))


@router.get("/findings/{finding_id}/history", response=HistoryOut)
def get_finding_history(request: HubRequest, finding_id: str) -> HistoryOut:
    """Who changed what of a finding, oldest first."""
    events = finding_history(request.principal, finding_id)
    return HistoryOut(finding_id=finding_id, history=[history_line_out(event) for event in events])


@router.patch("/reviews/{review_id}/results/{check_item_id}", response=ResultOut)
def decide_result(request: HubRequest, review_id: str, check_item_id: str, asked: VerdictIn) -> ResultOut:
    """Record a person's verdict on a check (method human); what the run said is kept beside it."""
    verdicts.decide_result(
        principal=request.principal, review_id=review_id, check_item_id=check_item_id, **asked.model_dump()
    )
    return _result(request, review_id, check_item_id)


class TakeBackIn(Schema):
    revision: Integer | None = Field(None, description=REVISION)


@router.post("/reviews/{review_id}/results/{check_item_id}/take-back", response=ResultOut)
def take_back_verdict(request: HubRequest, review_id: str, check_item_id: str, asked: TakeBackIn) -> ResultOut:
    """Take back the last verdict that a person gave on a check: what stood before stands again."""
    check = verdicts.CheckToDecide(check_item_id=check_item_id, revision=asked.revision)
    verdicts.take_back_verdicts(principal=request.principal, review_id=review_id, checks=[check])
    return _result(request, review_id, check_item_id)


def _result(request: HubRequest, review_id: str, check_item_id: str) -> ResultOut:
    results = review_facts(get_review(request.principal, review_id)).results
    return next(result for result in results if result.check_item_id == check_item_id)


@router.get("/reviews/{review_id}/sign-off", response=SignOffOut)
def get_sign_off(request: HubRequest, review_id: str) -> SignOffOut:
    """Who has signed, how many people must, and what has to be decided first."""
    return sign_off_state(request.principal, review_id)


@router.post("/reviews/{review_id}/sign-off", response=SignOffOut)
def sign_off(request: HubRequest, review_id: str, asked: SignOffIn) -> SignOffOut:
    """Sign a review. With enough signatures it is final; 409 `sign_off_blocked` tells what is to be decided first.

    With `revision` only what was seen is signed: 409 `changed_meanwhile` tells what signing would freeze now.
    """
    return signing.sign_off(principal=request.principal, review_id=review_id, **asked.model_dump())


class CarryIn(Schema):
    base: ShortText = Field("", description="the earlier review; default: the newest completed one of the document")


@router.post("/reviews/{review_id}/carry-triage", response=CarryOut)
def carry_triage(request: HubRequest, review_id: str, asked: CarryIn) -> CarryOut:
    """Carry what people decided over from an earlier review: states, assignees, comments; close what is gone there.

    Other evidence than was decided about stays open and is marked. Doing it twice changes nothing.
    """
    return carry_over.carry_triage(principal=request.principal, review_id=review_id, base_id=asked.base)


@router.get("/reviews/{review_id}/diff", response=DiffOut)
def get_diff(request: HubRequest, review_id: str, base: ShortText) -> DiffOut:
    """What became of the findings of an earlier review (`base`) of the same document."""
    return show_difference(request.principal, review_id, base_id=base)


class AnswerFieldOut(Schema):
    field: str
    before: str
    after: str


class AnswerChangeOut(Schema):
    row: int
    number: int
    finding_id: str
    fields: list[AnswerFieldOut]


class AnswerErrorOut(Schema):
    row: int
    message: str


class AnswersOut(Schema):
    """What a table of findings or an annotated copy changes. Rows with errors are left out, and say why."""

    applied: bool
    is_copy: bool = Field(False, description="an annotated copy: `next_version` can take it in")
    next_review: TextOrNone = Field(None, description="the review of the next version that the copy became")
    changes: list[AnswerChangeOut]
    errors: list[AnswerErrorOut]
    unchanged: int


@router.post("/reviews/{review_id}/answers", response=AnswersOut)
def read_answers(
    request: HubRequest,
    review_id: str,
    file: Annotated[UploadedFile, File()],
    apply: bool = False,
    next_version: bool = False,
) -> AnswersOut:
    """Read the answers of a 指摘管理表 (report in xlsx, filled in) or of an annotated copy (replies, resolved comments,
    changed words); without `apply` only tell what would change.

    With `apply` and `next_version` the copy becomes the document's next version, which is reviewed at once.
    """
    content = file.read(MOST_COPY_BYTES + 1)
    if apply:
        found = apply_answers(request.principal, review_id, content, next_version=next_version)
    else:
        found = preview_answers(request.principal, review_id, content)
    changes = [
        filled(
            AnswerChangeOut,
            change,
            fields=[AnswerFieldOut(field=name, before=old, after=new) for name, old, new in change.shown],
        )
        for change in found.changes
    ]
    return filled(AnswersOut, found, applied=apply, changes=changes)
