"""A worker at a review: load what is judged, judge a check, store its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from hub.core import bus
from hub.core.lease import LeaseLost
from knowledge.guidelines.queries import articles_of
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import VersionContent
from knowledge.ontology.queries import topics_for
from review.judging.engine import CheckSpec, Judgement, judge
from review.judging.excerpts import INJECTION_RULE
from review.judging.model_session import PENDING, Sitting, is_for_model, with_opinion
from review.models import CheckItemVersion, CheckListEntry, CheckListVersion, Review, ReviewStatus
from review.rules.content.criteria import rules_of
from review.runs.concealed import concealed_in
from review.runs.related import related_of
from review.runs.results import store_result
from review.runs.sharing import claim_check
from review.types import RelatedDocument, RuleInput


@dataclass(slots=True, kw_only=True)
class Work:
    """A review and one of the workers that judge it.

    ``fence`` makes sure, in a transaction, that this worker may still write. Only with a ``sitting`` are models asked.
    """

    review: Review
    target: RuleInput
    entries: Sequence[CheckListEntry]
    fence: Callable[[], None]
    sitting: Sitting | None = None

    @classmethod
    def on(cls, review: Review, *, fence: Callable[[], None]) -> Work:
        """Load what is judged. Raises LeaseLost when the document is gone."""
        content = VersionContent.objects.filter(pk=review.version_id).first()
        if content is None:
            raise LeaseLost
        entries = entries_of(review.checklist_version, review.options.get("check_items") or ())
        target = _target(review, content, related_of(review))
        if review.version is not None and _looks_for_instructions(entries):
            target = replace(target, concealed=concealed_in(review.version, target.text))
        return cls(review=review, target=target, entries=entries, fence=fence)

    def open_checks(self) -> list[tuple[int, CheckListEntry]]:
        """The checks without a result, with their positions in the check list."""
        done = set(self.review.results.values_list("item_version_id", flat=True))
        return [(at, entry) for at, entry in enumerate(self.entries) if entry.item_version_id not in done]

    def judge(self, position: int, entry: CheckListEntry, *, insist: bool = False) -> bool:
        """Judge one check and store its result; False while another worker is at it, unless ``insist``."""
        started = time.monotonic()
        check = _spec(entry.item_version)
        with transaction.atomic():
            if not claim_check(self.review.pk, entry.item_version_id) and not insist:
                return False
            if self.review.results.filter(item_version=entry.item_version_id).exists():
                return True
            judgement = judge(check, self.target, force_strategy=self.review.options.get("force_strategy"))
            is_open = is_for_model(entry.item_version, judgement)
            progress = None if is_open else self._store(position, entry, judgement, started)
        if is_open and self.sitting is not None:
            progress = self._ask(self.sitting, position, entry, judgement, started)
        if progress is not None:
            tell(self.review, status=ReviewStatus.RUNNING, progress=progress, check_item_id=check.code)
        return True

    def _ask(
        self, sitting: Sitting, position: int, entry: CheckListEntry, judgement: Judgement, started: float
    ) -> int | None:
        """Ask the model, outside of any transaction, and store what it says; None while its caller has to be asked."""
        opinion = sitting.opinion(entry.item_version, judgement)
        if opinion is PENDING:
            return None
        with transaction.atomic():
            progress = self._store(position, entry, with_opinion(judgement, opinion), started)
            sitting.store(entry.item_version, opinion)
        return progress

    def _store(self, position: int, entry: CheckListEntry, judgement: Judgement, started: float) -> int | None:
        """Write a result in the running transaction; gives the review's progress, None when it is there already."""
        elapsed_ms = int((time.monotonic() - started) * 1000)
        item_version = entry.item_version
        if not store_result(
            self.review, item_version, position, judgement, self.target, elapsed_ms=elapsed_ms, fence=self.fence
        ):
            return None
        progress = 100 * self.review.results.count() // len(self.entries)
        Review.objects.filter(pk=self.review.pk).update(progress=progress, attempts=0)
        return progress


def _looks_for_instructions(entries: Sequence[CheckListEntry]) -> bool:
    """Whether the original file has to be looked through: a check looks for instructions to models."""
    used = (rule for entry in entries for rule in rules_of(entry.item_version.criteria))
    return any(rule["rule_id"] == INJECTION_RULE for rule in used)


def entries_of(master: CheckListVersion, check_items: Sequence[str]) -> list[CheckListEntry]:
    """The entries of a check list, in its order: all, or those of some items. One query."""
    entries = master.entries.select_related("item_version__item").order_by("position")
    return list(entries.filter(item_version__item__code__in=check_items) if check_items else entries)


def _target(review: Review, content: VersionContent, related: tuple[RelatedDocument, ...]) -> RuleInput:
    if review.version is None:
        raise LeaseLost
    document = review.version.document
    return RuleInput(
        text=content.markdown,
        title=content.title,
        document_type=document.document_type_id or "other",
        sections=sections_of(content),
        blocks=blocks_of(content),
        topics=topics_for(review.checklist_version.checklist.ontology_domain),
        articles=articles_of(list(review.guideline_editions.values_list("edition_id", flat=True))),
        document_name=review.version.filename,
        related=related,
    )


def _spec(item_version: CheckItemVersion) -> CheckSpec:
    return CheckSpec(
        code=item_version.item.code,
        check_type=item_version.check_type,
        strategy=item_version.strategy,
        criteria=item_version.criteria,
    )


def tell(review: Review, *, status: str, progress: int, **more: str) -> None:
    """Publish how far a review is to those who watch it."""
    event = {"review_id": review.public_id, "status": str(status), "progress": progress, **more}
    bus.publish(f"review:{review.public_id}", event)
