"""Retrieval cases: importing them, and keeping them with the passages that answer them where one searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.core.errors import InvalidInput, NotFound
from hub.evaluation.cases import RETRIEVAL, digest_of, read_retrieval_cases, retrieval_case
from hub.evaluation.datasets import get_dataset, own_dataset, save_case
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.answering import sentences_of, shared_words
from knowledge.evaluation.measuring import is_answer, search_of
from knowledge.search import asked_filter, find_chunk
from knowledge.types.search import Hit, SearchMode, SearchQuery

BAD_LINES_SHOWN = 5
QUOTE_CHARS = 200


def import_retrieval_cases(*, principal: Principal, dataset: str, lines: Iterable[str]) -> dict[str, Any]:
    """Add retrieval cases from JSON Lines to a dataset, which is made if need be. All of them, or none.

    Gives the dataset's code, how many cases were ``created``, and how many ``replaced`` an older answer to the same
    question. Raises InvalidInput naming the lines that can't be read.
    """
    principal.require_hub(HubRight.EVALUATION)
    cases, bad = read_retrieval_cases(lines, check=search_of)
    if bad or not cases:
        shown = "; ".join(f"{line.row}: {line.reason}" for line in bad[:BAD_LINES_SHOWN])
        raise InvalidInput(
            _("{count} lines are no retrieval cases, of {total}. {shown}"),
            code="bad_cases",
            count=len(bad),
            total=len(bad) + len(cases),
            shown=shown,
        )
    with transaction.atomic():
        found = own_dataset(principal, dataset)
        created = sum(save_case(found, case)[1] for case in cases)
        record_event(principal, "EVALUATION_IMPORT", f"dataset:{found.code}", cases=len(cases))
    return {"dataset": found.code, "created": created, "replaced": len(cases) - created}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """What a case asks: a question, the slug of the one collection that it is asked of (or nothing for all), and how.

    ``options`` are filter, mode, threshold and per_document as POST /search takes them; what is as usual is left out.
    """

    text: str
    collection: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def input(self) -> dict[str, Any]:
        """The question as a case holds it."""
        collection = {"collection": self.collection} if self.collection else {}
        return {"query": self.text.strip(), **collection, **self.options}


def question_of(query: SearchQuery) -> AskedQuestion:
    """Write down a search so that a case can ask it again: the question, its filter and its options."""
    restriction = asked_filter(query.filter)
    collection = query.filter.collections[0] if len(query.filter.collections) == 1 else ""
    if collection:
        del restriction["collection"]
    options: dict[str, Any] = {"filter": restriction} if restriction else {}
    if query.mode is not SearchMode.HYBRID:
        options["mode"] = query.mode.value
    if query.threshold:
        options["threshold"] = query.threshold
    if query.per_document:
        options["per_document"] = query.per_document
    return AskedQuestion(text=query.text, collection=collection, options=options)


def keep_answer(*, principal: Principal, question: AskedQuestion, chunk_id: str, dataset: str) -> EvaluationCase:
    """Keep a passage as a right answer to a question, in a dataset that is made if need be. Twice is once.

    A further passage for the same question joins the answers that the case has. The case quotes the sentence of the
    passage that has most of the question's words, not the whole passage: sets that cut documents otherwise find it,
    too. Raises Forbidden, NotFound for a passage or dataset that is not there for the caller, InvalidInput.
    """
    principal.require_hub(HubRight.EVALUATION)
    hit = find_chunk(principal, chunk_id)
    answer = {"document": hit.document_path, "text": quote_for(question.text, hit)}
    try:
        case = retrieval_case({**question.input, "relevant": [answer]})
        search_of(case.input)
    except ValueError as error:
        raise InvalidInput(_("This makes no case: {reason}"), reason=str(error)) from error
    with transaction.atomic():
        found = own_dataset(principal, dataset)
        row, is_new = EvaluationCase.objects.select_for_update().get_or_create(
            dataset=found,
            kind=RETRIEVAL,
            digest=case.digest,
            defaults={"input": case.input, "expected": case.expected, "weight": case.weight},
        )
        if not is_new and not is_kept(row, hit):
            _store_answers(row, [*row.expected["relevant"], answer])
        record_event(principal, "EVALUATION_CASE_KEEP", f"dataset:{found.code}", case=row.pk, chunk=chunk_id)
    return row


def quote_for(question: str, hit: Hit) -> str:
    """Choose the sentence of a passage that stands for it: most of the question's words, of equals the longest.

    At most QUOTE_CHARS characters from its beginning; of a passage without any sentence, its own beginning.
    """
    sentences = [one.text for one in sentences_of(hit)]
    best = max(sentences, key=lambda text: (shared_words(question, text), len(text)), default=hit.content)
    return best[:QUOTE_CHARS].strip()


def withdraw_answer(*, principal: Principal, question: AskedQuestion, chunk_id: str, dataset: str) -> None:
    """Take a passage out of a question's right answers; a case without any goes.

    An answer that names a whole document stays. Raises Forbidden, NotFound.
    """
    principal.require_hub(HubRight.EVALUATION)
    hit = find_chunk(principal, chunk_id)
    found = get_dataset(principal, dataset)
    with transaction.atomic():
        rows = EvaluationCase.objects.select_for_update().filter(dataset=found, kind=RETRIEVAL)
        row = rows.filter(digest=digest_of(question.input)).first()
        relevant = row.expected["relevant"] if row else []
        left = [item for item in relevant if "text" not in item or not is_answer(hit, item)]
        if row is None or left == relevant:
            raise NotFound(_("This passage is not kept as an answer to the question."), code="answer_not_kept")
        if left:
            _store_answers(row, left)
        else:
            row.delete()
        record_event(principal, "EVALUATION_CASE_WITHDRAW", f"dataset:{found.code}", chunk=chunk_id)


def is_kept(row: EvaluationCase, hit: Hit) -> bool:
    """Return whether a passage is one of a case's right answers."""
    return any(is_answer(hit, item) for item in row.expected["relevant"])


def _store_answers(row: EvaluationCase, relevant: Sequence[dict[str, Any]]) -> None:
    row.expected = {**row.expected, "relevant": list(relevant)}
    row.save(update_fields=["expected"])


def cases_of(principal: Principal, question: AskedQuestion) -> list[EvaluationCase]:
    """The cases that ask this very question, in the datasets that the caller may read. One query."""
    return list(saved_queries(principal).filter(digest=digest_of(question.input)))


def saved_queries(principal: Principal, *, dataset: str = "") -> QuerySet[EvaluationCase]:
    """Every question of the datasets that the caller may read, or of one of them, the newest first.

    The dataset comes with each. Raises NotFound for a dataset that is not there for the caller.
    """
    visible = EvaluationDataset.objects.visible_to(principal)
    rows = EvaluationCase.objects.filter(kind=RETRIEVAL, dataset__in=visible).select_related("dataset")
    return rows.filter(dataset=get_dataset(principal, dataset)).order_by("-pk") if dataset else rows.order_by("-pk")


def delete_saved_query(*, principal: Principal, case_id: int) -> None:
    """Forget a question with its right answers. Raises Forbidden, NotFound."""
    principal.require_hub(HubRight.EVALUATION)
    with transaction.atomic():
        row = saved_queries(principal).filter(pk=case_id).first()
        if row is None:
            raise NotFound(_("There is no saved query {case_id}."), code="saved_query_not_found", case_id=case_id)
        record_event(principal, "EVALUATION_CASE_DELETE", f"dataset:{row.dataset.code}", case=case_id)
        row.delete()
