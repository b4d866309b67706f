"""A worker at a review: load what is judged, judge a check, store its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db import transaction

from hub.core import bus
from hub.core.database import raising_unavailable
from hub.core.errors import Unavailable
from hub.core.lease import LeaseLost, try_lock
from hub.core.texts import Text
from hub.core.tracing import span
from knowledge.guidelines.editions import articles_of
from knowledge.models import VersionContent
from knowledge.ontology.store import topics_for
from knowledge.search import RetrievalStrategy
from review.evidence import claimed, locate, quote
from review.judging.engine import CheckSpec, Judgement, judge, unique_findings
from review.judging.excerpts import INJECTION_RULE, plain_target
from review.judging.model_session import PENDING, ModelSession, is_for_model, question_of_item, requester, with_opinion
from review.judging.retrieval import STRATEGY_OF, consult, paths_of_links, require_connection
from review.judging.steps import StepName
from review.judging.strategies import Plan, plan_strategy, reason_of, strategy_of
from review.judging.types import Consultation, Opinion
from review.models import (
    CheckItemVersion,
    CheckListEntry,
    CheckListVersion,
    CheckResult,
    Finding,
    Review,
    ReviewStatus,
    Suggestion,
)
from review.rules.content.curated import rules_of
from review.runs.concealed import concealed_in
from review.runs.related import related_of
from review.types import FindingDraft, Master, RuleInput, SuggestionDraft


def claim_check(review_id: int, item_version_id: int) -> bool:
    """Take a check for this transaction, without waiting; False while another worker is at it.

    A claim saves work and nothing else: it is PostgreSQL's own lock, gone with the worker that held it. What is stored
    is decided by a look under the review's lock: each check has one result, whichever worker comes first.
    """
    return try_lock(f"review:{review_id}:{item_version_id}")


def lock_running(review_id: int) -> None:
    """Lock a review that is still being worked on until the transaction ends. Raises LeaseLost for any other."""
    running = Review.objects.filter(pk=review_id, status=ReviewStatus.RUNNING, version__isnull=False)
    if not running.select_for_update().exists():
        raise LeaseLost


NO_TEXT = Text(ja="", en="")


def finding_row(result: CheckResult, ordinal: int, name: str, draft: FindingDraft, target: RuleInput) -> Finding:
    """A finding as it is stored, with its quotes located; not saved."""
    document_id = result.review.document_id_text
    texts = {"": (document_id, target.text)}
    texts |= {related.document_id: (related.document_id, related.text) for related in target.related}
    return Finding(
        result=result,
        ordinal=ordinal,
        fingerprint=name,
        rule_id=draft.rule_id,
        severity=draft.severity,
        location=locate(target.text, target.sections, target.blocks, draft.location),
        evidence=[
            *(quote(*texts[span.document], span) for span in draft.evidence),
            *(claimed(text, document_id) for text in draft.claimed),
        ],
        searched=list(draft.searched),
        data=dict(draft.data),
        rests_on=list(draft.sources),
        related_guideline=result.item_version.guideline_reference,
        confidence=draft.confidence,
        **draft.message.columns("message"),
        **(draft.confidence_basis or NO_TEXT).columns("confidence_basis"),
    )


def _suggestion_row(finding: Finding, suggestion: SuggestionDraft) -> Suggestion:
    return Suggestion(
        finding=finding,
        example=suggestion.example or "",
        confidence=finding.confidence,
        references=[finding.related_guideline] if finding.related_guideline else [],
        **suggestion.content.columns("content"),
        **suggestion.rationale.columns("rationale"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """A judgement with what was consulted for it; ``plan`` where a strategy led to that."""

    judgement: Judgement
    consultation: Consultation
    plan: Plan | None = None


T = TypeVar("T")


def _read(load: Callable[[], T]) -> T | None:
    """Load what rules are held against; None where the database does not have it now.

    :raises django.db.Error: the connection is lost.
    """
    try:
        with raising_unavailable("a master of a review"), transaction.atomic():
            return load()
    except Unavailable as error:
        require_connection(error)
        return None


@dataclass(slots=True, kw_only=True)
class Work:
    """A review and one of the workers that judge it.

    ``fence`` makes sure, in a transaction, that this worker may still write.
    """

    review: Review
    target: RuleInput
    entries: Sequence[CheckListEntry]
    fence: Callable[[], None]

    @classmethod
    def on(cls, review: Review, *, fence: Callable[[], None]) -> Work:
        """Load what is judged. Raises LeaseLost when the document is gone."""
        version, content = review.version, VersionContent.objects.filter(pk=review.version_id).first()
        if version is None or content is None:
            raise LeaseLost
        entries = entries_of(review.checklist_version, review.options.get("check_items") or ())
        topics = _read(lambda: topics_for(review.checklist_version.checklist.ontology_domain))
        articles = _read(lambda: articles_of(list(review.guideline_editions.values_list("edition_id", flat=True))))
        away = {Master.TOPICS: topics is None, Master.ARTICLES: articles is None}
        target = replace(
            plain_target(version, content),
            topics=topics or (),
            articles=articles or (),
            related=related_of(review),
            unavailable=frozenset(master for master, is_away in away.items() if is_away),
        )
        used = (rule["rule_id"] for entry in entries for rule in rules_of(entry.item_version.criteria))
        if INJECTION_RULE in used:
            target = replace(target, concealed=concealed_in(version, target.text))
        return cls(review=review, target=target, entries=entries, fence=fence)

    def open_checks(self) -> list[tuple[int, CheckListEntry]]:
        """The checks without a result, with their positions in the check list."""
        done = set(self.review.results.values_list("item_version_id", flat=True))
        return [(at, entry) for at, entry in enumerate(self.entries) if entry.item_version_id not in done]

    def judge(
        self, position: int, entry: CheckListEntry, *, insist: bool = False, session: ModelSession | None = None
    ) -> bool:
        """Judge one check and store its result; False while another worker is at it, unless ``insist``.

        What rules leave open is left, unless there is a ``session`` in which a model can be asked.
        """
        check = spec_of(entry.item_version)
        with span("review check", {"hub.review_id": self.review.public_id, "hub.check": check.code}) as traced:
            is_done = self._judge(check, position, entry, insist=insist, session=session)
            traced.note({"hub.done": is_done})
            return is_done

    def _judge(
        self,
        check: CheckSpec,
        position: int,
        entry: CheckListEntry,
        *,
        insist: bool,
        session: ModelSession | None,
    ) -> bool:
        started = time.monotonic()
        with transaction.atomic():
            if not claim_check(self.review.pk, entry.item_version_id) and not insist:
                return False
            if self.review.results.filter(item_version=entry.item_version_id).exists():
                return True
            judgement = judge(check, self.target)
            is_open = is_for_model(entry.item_version, judgement)
            progress = None if is_open else self._store(position, entry, self._support(entry, judgement), started)
        if is_open and session is not None:
            progress = self._ask(session, position, entry, judgement, started)
        if progress is not None:
            publish_progress(self.review, status=ReviewStatus.RUNNING, progress=progress, check_item_id=check.code)
        return True

    def _ask(
        self, session: ModelSession, position: int, entry: CheckListEntry, judgement: Judgement, started: float
    ) -> int | None:
        """Ask the model, outside of any transaction, and store what it says; None while its caller has to be asked."""
        opinion = session.opinion(entry.item_version, judgement)
        if opinion is PENDING:
            return None
        supported = Supported(judgement=with_opinion(judgement, opinion), consultation=Consultation())
        if isinstance(opinion, Opinion) and opinion.record:
            supported = replace(supported, consultation=opinion.consultation, plan=self._plan(entry))
        with transaction.atomic():
            progress = self._store(position, entry, supported, started)
            session.store(entry.item_version, opinion)
        return progress

    def _support(self, entry: CheckListEntry, judgement: Judgement) -> Supported:
        """Add the graph's paths of the rules' links and, where the caller forces a strategy, what it retrieves."""
        document_id, related = self.review.document_id_text, [each.document_id for each in self.target.related]
        found = paths_of_links(document_id, related, judgement.links)
        forced = self.review.options.get("force_strategy")
        if not forced:
            return Supported(judgement=judgement, consultation=found)
        plan = self._plan(entry)
        strategy = STRATEGY_OF[forced]
        retrieved = consult(
            requester(self.review),
            document_id=document_id,
            related=related,
            query=question_of_item(entry.item_version, self.target),
            strategy=strategy,
            instead=RetrievalStrategy.VECTOR if strategy is RetrievalStrategy.GRAPH else None,
        )
        return Supported(judgement=judgement, consultation=found.and_(retrieved.consultation), plan=plan)

    def _plan(self, entry: CheckListEntry) -> Plan:
        item, forced = entry.item_version, self.review.options.get("force_strategy")
        return plan_strategy(check_type=item.check_type, strategy=item.strategy, forced=forced)

    def _store(self, position: int, entry: CheckListEntry, supported: Supported, started: float) -> int | None:
        """Write a result in the running transaction; gives the review's progress, None when it is there already.

        Quotes are located before the fence, so that workers who share a review wait for each other's writes only.
        """
        review, item_version = self.review, entry.item_version
        judgement, consultation = supported.judgement, supported.consultation
        consulted = Consultation(consulted=judgement.consulted).and_(consultation).consulted
        reason = reason_of(consulted, reads=judgement.reads, paths=len(consultation.paths), plan=supported.plan)
        result = CheckResult(
            review=review,
            item_version=item_version,
            position=position,
            verdict=judgement.verdict,
            strategy_used=strategy_of(consulted),
            consulted=list(consulted),
            steps=[StepName.RULES.value] if rules_of(item_version.criteria) else [],
            evidence=consultation.as_json(),
            notices=[notice.as_dict() for notice in dict.fromkeys((*judgement.notices, *consultation.notices))],
            execution_time_ms=int((time.monotonic() - started) * 1000),
            **reason.columns("strategy_reason"),
        )
        named = unique_findings(item_version.item.code, judgement.findings)
        rows = [finding_row(result, at, name, draft, self.target) for at, (name, draft) in enumerate(named)]
        self.fence()
        if review.results.filter(item_version=item_version).exists():
            return None
        result.save()
        Finding.objects.bulk_create(rows)
        pairs = zip(rows, (draft.suggestion for _name, draft in named), strict=True)
        Suggestion.objects.bulk_create(_suggestion_row(row, suggestion) for row, suggestion in pairs if suggestion)
        progress = 100 * review.results.count() // len(self.entries)
        Review.objects.filter(pk=review.pk).update(progress=progress, attempts=0)
        return progress


def entries_of(master: CheckListVersion, check_items: Sequence[str]) -> list[CheckListEntry]:
    """The entries of a check list, in its order: all, or those of some items. One query."""
    entries = master.entries.select_related("item_version__item").order_by("position")
    return list(entries.filter(item_version__item__code__in=check_items) if check_items else entries)


def spec_of(item_version: CheckItemVersion) -> CheckSpec:
    """What the engine needs of a version of a check item."""
    names = ("check_type", "strategy", "criteria")
    return CheckSpec(code=item_version.item.code, **{name: getattr(item_version, name) for name in names})


def publish_progress(review: Review, *, status: str, progress: int, **more: str) -> None:
    """Publish how far a review is to those who watch it."""
    event = {"review_id": review.public_id, "status": str(status), "progress": progress, **more}
    bus.publish(f"review:{review.public_id}", event)
