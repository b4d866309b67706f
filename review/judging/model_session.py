"""The language model's part in one run of a review: which checks it judges, with what, and what of it is kept."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

from django.conf import settings
from django.db import Error, transaction
from django.db.models import QuerySet

from hub.access.principals import Classification, Principal, system_principal
from hub.access.services import principal_for_user
from hub.core.database import in_one_line, is_connection_lost, unavailable_by
from hub.core.lease import Lease
from hub.llm.budget import Budget, Usage
from hub.llm.errors import AnswerPending
from hub.llm.preparation import Purpose, ceiling_of
from hub.llm.providers.registry import get_provider, is_configured
from hub.llm.types import Provider
from knowledge.models import Document, DocumentVersion
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.engine import NEEDS_LLM, Judgement
from review.judging.excerpts import find_material, harmless, planted_in, question_of
from review.judging.gathering import Gatherer, level_of
from review.judging.judge import Judge
from review.judging.prompts import numbers_in_force, texts_of
from review.judging.sampling import ReplayProvider, SamplingProvider
from review.judging.steps import StepName
from review.judging.supplements import SupplementMaker
from review.judging.types import CheckTask, Consultation, Material, Opinion
from review.judging.unseen import unseen_in
from review.models import CheckItemVersion, CheckResult, Finding, ModelSuggestion, Review
from review.rules.content.curated import rules_of
from review.types import JUDGED_BY_MODEL, JudgedBy, RuleInput, Severity, Span, Verdict

logger = logging.getLogger(__name__)


class Pending(Enum):
    """The caller's model has to be asked before the check can be judged."""

    PENDING = "pending"


PENDING = Pending.PENDING
Outcome: TypeAlias = Opinion | Pending | None


@dataclass(slots=True, kw_only=True)
class ModelSession:
    """Gives a model's opinion on the checks that rules leave open; makes nothing ready before the first of them."""

    review: Review
    target: RuleInput
    lease: Lease
    sampling: SamplingProvider | None = None
    is_waiting: bool = False
    _judge: Judge | None = None
    _planted: tuple[Span, ...] | None = None
    _gatherer: Gatherer | None = None
    _pinned: list[DocumentVersion] | None = None
    _observed: list[tuple[str, str]] | None = None

    def opinion(self, item_version: CheckItemVersion, judgement: Judgement) -> Outcome:
        """What a model says of a check; None where the rules decided, PENDING where the caller has to be asked."""
        if not is_for_model(item_version, judgement):
            return None
        if self.review.options.get("replay_of"):
            return self._replayed(item_version)
        if reason := self._why_not():
            return Opinion(verdict=Verdict.SKIPPED, notices=(reason,))
        task = task_of(item_version, self.target)
        try:
            material = self._own_gatherer().gather(item_version, task, self._observations(judgement))
        except Error as error:
            return _unread(error)
        try:
            return self._own_judge().decide(task, material)
        except AnswerPending:
            self.is_waiting = True
            return PENDING

    def adviser(self) -> Judge | None:
        """Who is asked for suggestions, within the review's own budget; None where no model may be asked.

        What a caller's own model suggested is not repeated, as its judgements are not.
        """
        if self.review.options.get("replay_of"):
            made = suggestions_of(self.review.options["replay_of"]).first()
            if made is None or made.is_by_callers_model:
                return None
            provider = ReplayProvider(name=made.provider, model=made.model, is_private=made.is_private)
            return self._make(provider, is_replay=True)
        return None if self._why_not() else self._own_judge()

    def reader(self, made_by: Mapping[str, Any] | None = None) -> Judge | Notice:
        """Who is asked beside the checks, within the review's own budget, or why nobody is: the hub's model only.

        ``made_by`` tells whose recorded answers a replay repeats.
        """
        if made_by is not None:
            named = {name: made_by[name] for name in ("provider", "model", "is_private")}
            judge = self._make(
                ReplayProvider(name=named["provider"], model=named["model"], is_private=named["is_private"]),
                is_replay=True,
            )
            judge.prompts = texts_of(made_by["prompts"])
            return judge
        if self.sampling or self.review.options.get("judge") == "sampling":
            return notices.NOT_BY_CALLER
        return self._why_not() or self._own_judge()

    def store(self, item_version: CheckItemVersion, opinion: Outcome) -> None:
        """Keep how a check was judged, and what the review has spent. Call it in the result's transaction."""
        if not isinstance(opinion, Opinion):
            return
        if opinion.record:
            CheckResult.objects.filter(review=self.review, item_version=item_version).update(
                method="llm",
                score=opinion.score,
                judgement=opinion.record,
                steps=[*([StepName.RULES.value] if rules_of(item_version.criteria) else []), StepName.JUDGE.value],
            )
        self.store_usage()

    def store_usage(self) -> None:
        """Keep what the review has spent. Call it in a transaction that holds the lease."""
        if self._judge is not None:
            used = self._judge.budget.used
            Review.objects.filter(pk=self.review.pk).update(
                tokens_in=used.tokens_in, tokens_out=used.tokens_out, cost=used.cost
            )

    def _why_not(self) -> Notice | None:
        wanted = self.review.options.get("judge", "auto")
        if wanted == "rules":
            return notices.NOT_WANTED
        if wanted == "sampling":
            return None if self.sampling else notices.NO_SAMPLING
        return None if self._provider_name or is_configured() else NEEDS_LLM

    @property
    def _provider_name(self) -> str:
        return str(self.review.options.get("llm_provider") or "")

    def _own_judge(self) -> Judge:
        if self._judge is None:
            self._judge = self._make(self.sampling or get_provider(self._provider_name))
        return self._judge

    def _make(self, provider: Provider, *, is_replay: bool = False) -> Judge:
        review = self.review
        spent = Usage(tokens_in=review.tokens_in, tokens_out=review.tokens_out, cost=_decimal(review.cost))
        return Judge(
            principal=requester(review),
            provider=provider,
            budget=Budget.configured(spent),
            prompts=texts_of(review.options.get("prompts") or numbers_in_force()),
            purpose=purpose_of(self._version.document, beside=self._shown_to(provider)),
            heartbeat=self._hold,
            is_replay=is_replay,
        )

    def _shown_to(self, provider: Provider) -> list[Document]:
        """The related documents whose passages a provider may be sent."""
        ceiling = max(ceiling_of(provider), level_of(self._version.document)) if self._related else None
        return [one.document for one in self._related if ceiling is not None and level_of(one.document) <= ceiling]

    def suggestions_purpose(self) -> Purpose:
        """What requests for suggestions are for. One query."""
        return self.purpose_beside("suggestions")

    def purpose_beside(self, name: str) -> Purpose:
        """What requests about findings are for: these may hold words of the related documents, too. One query."""
        related = Document.objects.filter(versions__in=self.review.related.values("version")).select_related(
            "collection"
        )
        return purpose_of(self._version.document, name, beside=list(related.order_by("pk")))

    def _hold(self) -> None:
        """A request may wait for a place as long as it may take itself; what the last ones took is kept before it."""
        self.lease.hold_for(2 * settings.CONFIG.llm_timeout_s)
        with transaction.atomic():
            self.lease.lock()
            self.store_usage()

    def _own_gatherer(self) -> Gatherer:
        if self._gatherer is None:
            self._gatherer = Gatherer(
                principal=requester(self.review),
                version=self._version,
                target=self.target,
                planted=self.planted_spans(),
                related=self._related,
                ceiling=max(ceiling_of(self._own_judge().provider), level_of(self._version.document)),
                forced=self.review.options.get("force_strategy"),
            )
        return self._gatherer

    @property
    def _related(self) -> list[DocumentVersion]:
        """The pinned versions of the related documents that are still there. One query where there are any."""
        if self._pinned is None:
            pinned = self.review.related.filter(version__isnull=False).select_related("version__document__collection")
            rows = pinned.order_by("position") if self.target.related else []
            self._pinned = [row.version for row in rows if row.version is not None]
        return self._pinned

    def _observations(self, judgement: Judgement) -> list[tuple[str, str]]:
        """What rules say: why the check's own had nothing to judge, then the most severe of what the others found.

        What rests on related documents is left out: what the model makes of it would not say so. One query.
        """
        if self._observed is None:
            found = Finding.objects.filter(result__review=self.review, rests_on=[]).exclude(rule_id=JUDGED_BY_MODEL)
            rows = found.order_by("result__position", "ordinal").values_list("severity", "rule_id", "message_ja")
            ranked = sorted(rows, key=lambda row: Severity(row[0]).rank)
            self._observed = [(rule_id, message) for _severity, rule_id, message in ranked]
        own = [(notice.code, notice.ja) for notice in judgement.notices if notice != NEEDS_LLM]
        return [*own, *self._observed]

    def material(self, task: CheckTask) -> Material:
        """The document's passages, ranked for a task. :raises django.db.Error: they can't be read."""
        return find_material(self._version, self.target, task, self.planted_spans())

    @property
    def _version(self) -> DocumentVersion:
        if self.review.version is None:
            raise ValueError("a review without a version is not judged")
        return self.review.version

    def planted_spans(self) -> tuple[Span, ...]:
        """The stretches of the document that speak to a model."""
        if self._planted is None:
            self._planted = planted_in(self.target)
        return self._planted

    def _replayed(self, item_version: CheckItemVersion) -> Opinion:
        """The opinion that an earlier review stored, from the recorded answer; what had none then has none now."""
        earlier = CheckResult.objects.filter(
            review__public_id=self.review.options["replay_of"], item_version=item_version
        ).first()
        if earlier is None:
            return Opinion(verdict=Verdict.SKIPPED, notices=(notices.NOT_REPLAYED,))
        record = earlier.judgement
        if not record:  # no model gave a usable answer then; a person's verdict on it is no model's
            verdict = Verdict(earlier.original_verdict or earlier.verdict)
            return Opinion(verdict=verdict, notices=tuple(Notice(**notice) for notice in earlier.notices))
        if earlier.was_judged_by is JudgedBy.CALLERS_MODEL:
            return Opinion(verdict=Verdict.SKIPPED, notices=(notices.NOT_REPEATED,))
        provider = ReplayProvider(name=record["provider"], model=record["model"], is_private=record["is_private"])
        task = task_of(item_version, self.target)
        judge = self._make(provider, is_replay=True)
        judge.prompts = texts_of(record["prompts"])
        maker = SupplementMaker(target=self.target, related={one.document.public_id: one for one in self._related})
        material = Material(
            text=self.target.text,
            ranked=(),
            planted=self.planted_spans(),
            unseen=unseen_in(self.target.text),
            texts=maker.texts,
            consultation=Consultation.from_json(earlier.evidence),
        )
        return judge.replay(task, material, record, maker.again)


def _unread(error: Error) -> Opinion:
    """The opinion on a check whose passages the database did not give. A lost connection passes: the review goes on
    from this check when there is one again.
    """
    meaning = unavailable_by(error)
    if meaning is None or is_connection_lost(error):
        raise error
    logger.error("a check is not judged: %s", in_one_line(error))
    return Opinion(verdict=Verdict.ERROR, notices=(notices.failed(meaning, was_asked=False),))


def suggestions_of(review_id: str) -> QuerySet[ModelSuggestion]:
    """What a model suggested in a review."""
    return ModelSuggestion.objects.filter(finding__result__review__public_id=review_id).order_by("pk")


def is_for_model(item_version: CheckItemVersion, judgement: Judgement) -> bool:
    """Tell whether a check is a model's: it has no rules, or they had nothing to judge and it has a question."""
    criteria = item_version.criteria
    if judgement.is_partial:
        return False
    return not rules_of(criteria) or (judgement.verdict is Verdict.SKIPPED and bool(criteria.get("prompt")))


def with_opinion(judgement: Judgement, opinion: Outcome) -> Judgement:
    """The judgement of a check with a model's opinion in it."""
    if not isinstance(opinion, Opinion):
        return judgement
    own = [notice for notice in judgement.notices if notice != NEEDS_LLM]
    said = tuple(dict.fromkeys([*own, *opinion.notices]))
    consulted = Consultation(consulted=judgement.consulted).and_(opinion.consultation).consulted
    return replace(judgement, verdict=opinion.verdict, findings=opinion.findings, notices=said, consulted=consulted)


def task_of(item_version: CheckItemVersion, target: RuleInput) -> CheckTask:
    """What a check item version asks, of this document."""
    criteria = item_version.criteria
    return CheckTask(
        code=item_version.item.code,
        name=item_version.name_ja,
        description=item_version.description_ja,
        guideline=item_version.guideline_reference,
        prompt=str(criteria.get("prompt") or ""),
        expected_format=str(criteria.get("expected_format") or ""),
        rubric=_in_words(criteria.get("rubric") or criteria.get("scoring_rubric")),
        threshold=_threshold(criteria.get("threshold")),
        required_elements=tuple(
            one if isinstance(one, str) else str(one["name"]) for one in criteria.get("required_elements") or ()
        ),
        document_title=harmless(target.title or target.document_name),
        document_type=target.document_type,
    )


def question_of_item(item_version: CheckItemVersion, target: RuleInput) -> str:
    """What to look for in a document for a check item."""
    return question_of(task_of(item_version, target))


def _in_words(rubric: object) -> str:
    """A rubric is a text, a list of lines, or levels with what they mean."""
    if isinstance(rubric, dict):
        return "; ".join(f"{level}: {meaning}" for level, meaning in rubric.items())
    return "; ".join(map(str, rubric)) if isinstance(rubric, list) else str(rubric or "")


def _threshold(given: object) -> float | None:
    """A threshold above 1 is one of 100."""
    if not isinstance(given, int | float) or isinstance(given, bool):
        return None
    return given / 100 if given > 1 else float(given)


def requester(review: Review) -> Principal:
    """Who asked for a review; the hub itself when that account is gone or there was none."""
    return principal_for_user(review.requested_by) if review.requested_by else system_principal("review")


def purpose_of(document: Document, name: str = "review", *, beside: Sequence[Document] = ()) -> Purpose:
    """What requests about a document, and others ``beside`` it, are for: recorded answers go with each of them."""
    documents = [document, *beside]
    highest = max(max(each.classification, each.collection.classification) for each in documents)
    ids = [each.public_id for each in documents]
    return Purpose(name=name, document_ids=ids, classification=Classification(highest))


def _decimal(cost: Decimal | None) -> Decimal | None:
    return None if cost is None else Decimal(cost)
