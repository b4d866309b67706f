"""Asking a language model for suggestions, once all checks of a review are judged.

Nothing here changes a verdict or a finding, and no failure ends a review: what a model does not give has a notice, and
the suggestions that rules make stay. Killed in the middle, it is asked again and answers from its recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction

from hub.core.errors import HubError
from hub.llm import client
from hub.llm.errors import AnswerPending, BudgetExceeded
from knowledge.types.notices import Notice
from review.evidence import quote
from review.judging import notices
from review.judging.advice import (
    MAX_ADVISED,
    MAX_PLACES,
    MAX_SEARCHED,
    MAX_SHOWN,
    Advice,
    Flaw,
    advice_request,
    group_flaws,
    passages_of,
    read_advice,
)
from review.judging.excerpts import INJECTION_RULE, harmless, speaks
from review.judging.judge import Judge, model_judging
from review.judging.model_session import ModelSession, suggestions_of, task_of
from review.judging.plan import holds_planted
from review.models import CheckItemVersion, Finding, ModelSuggestion, Review
from review.types import JUDGED_BY_MODEL, Severity, Span


def advise(session: ModelSession) -> tuple[Notice, ...]:
    """Have a model suggest how to repair the most severe findings, where detailed suggestions are wanted.

    Gives what people should know about them. With the caller's own model the session waits until it has answered.
    """
    review = session.review
    if review.options.get("suggestion_level") != "detailed":
        return ()
    flaws = _flaws(review)
    if not flaws:
        return ()
    replayed = _replayed_of(review)
    judge = session.adviser()
    if judge is None:
        return _without_model(replayed)
    return _Adviser(session=session, judge=judge, replayed=replayed).advise_on(flaws)


def _without_model(replayed: _Replayed | None) -> tuple[Notice, ...]:
    if replayed is None:
        return (notices.SUGGESTIONS_NO_MODEL,)
    lost = (notices.SUGGESTIONS_NOT_REPEATED,) if replayed.advised else ()
    return tuple(dict.fromkeys([*replayed.notices, *lost]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replayed:
    """What an earlier review had: its notices, and the fingerprints of the findings with a model's suggestion."""

    notices: tuple[Notice, ...]
    advised: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _Adviser:
    session: ModelSession
    judge: Judge
    replayed: _Replayed | None
    said: list[Notice] = field(default_factory=list)

    def advise_on(self, flaws: Sequence[Flaw]) -> tuple[Notice, ...]:
        safe = [flaw for flaw in flaws if self._is_safe(flaw)]
        if len(safe) < len(flaws):
            self.said.append(notices.SUGGESTIONS_WITHHELD)
        if len(safe) > MAX_ADVISED:
            self.said.append(notices.SUGGESTIONS_LIMITED)
        items = CheckItemVersion.objects.select_related("item").in_bulk([flaw.group for flaw in safe])
        for group in group_flaws(safe):
            if self._was_advised(group):
                self._ask(items[group[0].group], group)
        said = self.replayed.notices if self.replayed else ()
        return tuple(dict.fromkeys([*said, *self.said]))

    def _is_safe(self, flaw: Flaw) -> bool:
        """Whether neither the finding nor what stands around it speaks to a model."""
        said = (flaw.message, flaw.advice, *flaw.searched)
        around = passages_of(self.session.target.text, [flaw])
        return not holds_planted(around, self.session.planted_spans()) and not any(map(speaks, said))

    def _was_advised(self, group: Sequence[Flaw]) -> bool:
        """In a replay only what had suggestions then is looked up."""
        if self.replayed is None:
            return True
        named = Finding.objects.filter(pk__in=[flaw.pk for flaw in group]).values_list("fingerprint", flat=True)
        return not self.replayed.advised.isdisjoint(named)

    def _ask(self, item_version: CheckItemVersion, group: Sequence[Flaw]) -> None:
        if self.judge.is_stopped:
            self.said.append(notices.SUGGESTIONS_BUDGET)
            return
        text = self.session.target.text
        request = advice_request(task_of(item_version, self.session.target), text, group)
        self.judge.heartbeat()
        try:
            answer = client.ask(
                self.judge.principal,
                request,
                purpose=self.session.suggestions_purpose(),
                budget=self.judge.budget,
                replay=self.judge.is_replay,
                provider=self.judge.provider,
            )
        except BudgetExceeded:
            self.judge.is_stopped = True
            self.said.append(notices.SUGGESTIONS_BUDGET)
        except AnswerPending:
            self.session.is_waiting = True
        except HubError as error:
            self.said.append(notices.suggestions_failed(error))
        else:
            taken, refused = read_advice(answer.data, text, group)
            if refused:
                self.said.append(notices.SUGGESTIONS_REFUSED)
            self._store(taken)

    def _store(self, taken: Sequence[Advice]) -> None:
        rows = [self._row(advice) for advice in taken]
        with transaction.atomic():
            self.session.lease.lock()
            ModelSuggestion.objects.bulk_create(rows, ignore_conflicts=True)
            self.session.store_usage()

    def _row(self, advice: Advice) -> ModelSuggestion:
        review, provider = self.session.review, self.judge.provider
        found = advice.span and quote(review.document_id_text, self.session.target.text, advice.span)
        return ModelSuggestion(
            finding_id=advice.flaw.pk,
            content=advice.content,
            rationale=advice.rationale,
            example=advice.example,
            evidence=[found] if found else [],
            provider=provider.name,
            model=model_judging(provider),
            is_private=provider.is_private,
        )


def _replayed_of(review: Review) -> _Replayed | None:
    earlier = Review.objects.filter(public_id=review.options.get("replay_of", "")).first()
    if earlier is None:
        return None
    advised = suggestions_of(earlier.public_id).values_list("finding__fingerprint", flat=True)
    return _Replayed(notices=tuple(Notice(**one) for one in earlier.notices), advised=frozenset(advised))


def _flaws(review: Review) -> list[Flaw]:
    """The findings that a model may help with: not those that it made itself, nor instructions to it. One query."""
    findings = (
        Finding.objects.counted().filter(result__review=review).exclude(rule_id__in=(JUDGED_BY_MODEL, INJECTION_RULE))
    )
    ordered = findings.select_related("result", "suggestion").order_by("result__position", "ordinal")
    return [_flaw(finding, review.document_id_text) for finding in ordered]


def _flaw(finding: Finding, document_id: str) -> Flaw:
    own = [one for one in finding.evidence if one["verified"] and one["document_id"] == document_id]
    suggestion = getattr(finding, "suggestion", None)
    return Flaw(
        pk=finding.pk,
        group=finding.result.item_version_id,
        severity=Severity(finding.severity),
        message=finding.message_ja,
        section_path=tuple(map(harmless, finding.location.get("section_path", ()))),
        spans=tuple(
            Span(start=one["start_offset"], end=min(one["end_offset"], one["start_offset"] + MAX_SHOWN))
            for one in own[:MAX_PLACES]
        ),
        searched=tuple(finding.searched[:MAX_SEARCHED]),
        advice=suggestion.content_ja if suggestion else "",
    )
