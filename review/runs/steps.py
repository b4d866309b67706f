"""The steps of a review beside its checks: who is asked, and what is written of what they say.

They come once all checks are judged. A review without a model asks the database nothing more than it did without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction

from hub.core.errors import HubError
from hub.core.lease import Lease
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.asking import Reader
from review.judging.judge import Judge
from review.judging.model_session import ModelSession
from review.judging.second_opinion.asking import SecondOpinion, doubts_about
from review.judging.steps import StepName, StepOutcome, StepState, stored_outcome
from review.judging.sweep.asking import Sweep, rule_findings
from review.judging.sweep.reading import CATEGORIES
from review.models import Review
from review.runs.reading_results import points_of, store_reading
from review.types import Severity

CHOICES = ("auto", "on", "off")
"""What a review may ask of a step: as the hub is configured, or one way or the other."""


def is_wanted(name: StepName, asked: str) -> bool:
    """Tell whether a step is to be done, by what a review asks of it."""
    if asked != "auto":
        return asked == "on"
    config = settings.CONFIG
    return bool({StepName.SECOND_OPINION: config.llm_second_opinion, StepName.SWEEP: config.llm_sweep}[name])


def wanted_categories(asked: Sequence[str]) -> tuple[str, ...]:
    """The categories that a document is read for, in their order: those asked for, or all."""
    return tuple(one for one in CATEGORIES if one in asked) or CATEGORIES


@dataclass(slots=True, kw_only=True)
class ModelSteps:
    """The steps of one run. What they came to is kept in ``outcomes`` and, as it comes, with the review."""

    session: ModelSession
    lease: Lease
    outcomes: dict[StepName, StepOutcome] = field(default_factory=dict)
    _earlier: Mapping[str, Any] | None = None

    def run(self) -> tuple[Notice, ...]:
        """Do the steps that are wanted and not done; gives what people should know of the review."""
        review = self.session.review
        if replayed := review.options.get("replay_of"):
            self._earlier = Review.objects.filter(public_id=replayed).values_list("steps", flat=True).first() or {}
        self._run(
            StepName.SECOND_OPINION,
            self._second_opinion,
            failed=notices.second_opinion_failed,
            budget=notices.SECOND_OPINION_BUDGET,
        )
        self._run(StepName.SWEEP, self._sweep, failed=notices.sweep_failed, budget=notices.SWEEP_BUDGET)
        return tuple(dict.fromkeys(notice for one in self.outcomes.values() for notice in one.notices))

    def as_json(self) -> dict[str, Any]:
        """What the review keeps of its steps."""
        return {name.value: outcome.as_json() for name, outcome in self.outcomes.items()}

    def _run(
        self,
        name: StepName,
        work: Callable[[StepName, Reader], StepOutcome],
        *,
        failed: Callable[[HubError], Notice],
        budget: Notice,
    ) -> None:
        done = self.session.review.steps.get(name.value)
        if done is not None:
            self.outcomes[name] = stored_outcome(done)
            return
        judge = self._judge(name)
        if isinstance(judge, StepOutcome):
            self.outcomes[name] = judge
            return
        reader = Reader(
            session=self.session,
            judge=judge,
            purpose=self.session.purpose_beside(name.value),
            failed=failed,
            budget_notice=budget,
            earlier=self._recorded(name),
        )
        self.outcomes[name] = work(name, reader)

    def _judge(self, name: StepName) -> Judge | StepOutcome:
        """Who is asked in a step, or what becomes of it without anybody."""
        if self._earlier is not None:
            if name.value not in self._earlier:
                return StepOutcome(state=StepState.OFF)
            record = self._recorded(name)
            asked = self.session.reader(record) if record else stored_outcome(self._earlier[name.value])
        elif not is_wanted(name, str(self.session.review.options.get(name.value, "off"))):
            return StepOutcome(state=StepState.OFF)
        else:
            asked = self.session.reader()
        if isinstance(asked, Notice):
            is_left_out = asked in (notices.NOT_WANTED, notices.NOT_BY_CALLER)
            return StepOutcome(state=StepState.OFF if is_left_out else StepState.NO_MODEL)
        return asked

    def _recorded(self, name: StepName) -> Mapping[str, Any] | None:
        """What the review that is replayed kept of a step that asked somebody."""
        return (self._earlier or {}).get(name.value, {}).get("record") or None

    def _second_opinion(self, name: StepName, reader: Reader) -> StepOutcome:
        review = self.session.review
        opinion = SecondOpinion(reader=reader, doubts=doubts_about(review), document_id=review.document_id_text)
        outcome = opinion.ask()
        self._store(name, outcome, opinion.store)
        return outcome

    def _sweep(self, name: StepName, reader: Reader) -> StepOutcome:
        options = self.session.review.options
        sweep = Sweep(
            reader=reader,
            limit=int(options["sweep_limit"]),
            least=Severity(options["sweep_severity"]),
            rules=lambda: rule_findings(self.session.review),
            points=lambda: points_of(self.session.review),
            categories=wanted_categories(options.get("sweep_categories", ())),
        )
        outcome = sweep.ask()
        self._store(name, outcome, lambda: store_reading(self.session, sweep))
        return outcome

    def _store(self, name: StepName, outcome: StepOutcome, write: Callable[[], object]) -> None:
        """Write what a step changes, and that it is done, in one transaction."""
        review = self.session.review
        with transaction.atomic():
            self.lease.lock()
            write()
            review.steps = {**review.steps, name.value: outcome.as_json()}
            Review.objects.filter(pk=review.pk).update(steps=review.steps)
            self.session.store_usage()
