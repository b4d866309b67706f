"""Asking for a second opinion once all checks of a review are judged, and what it changes.

A model takes back what rules judged, with quotes, or sets aside what nobody would act on; it makes no finding and
touches no fact. Whatever fails leaves the rules' result as it is, with a notice. All of it is written at once: a worker
that is killed leaves nothing half done.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q, QuerySet

from knowledge.types.notices import Notice
from review.evidence import quote
from review.judging import notices
from review.judging.asking import NotAnswered, Reader
from review.judging.engine import BLOCKING, is_partial, verdict_of
from review.judging.excerpts import harmless, named_to_model, speaks
from review.judging.second_opinion.narrowing import NARROWED_FIELDS, narrow
from review.judging.second_opinion.proving import proof_request, proven
from review.judging.second_opinion.request import (
    MAX_DOUBTS,
    MAX_SEARCHED,
    UNPROVEN,
    Decision,
    Doubt,
    Opinion,
    Reviewed,
    group_doubts,
    opinion_request,
    read_opinions,
)
from review.judging.steps import StepName, StepOutcome, StepState
from review.judging.unseen import overlaps
from review.models import CheckResult, Finding, FindingState, Review
from review.rules.kinds import is_judgement, is_put_before_a_model, is_required, rules_put_before_a_model
from review.types import FindingDraft, Severity, Span, Verdict

# Fewer findings in one request where it can't hold the whole document: each needs its own passages.
PER_LONG_REQUEST = 5
CHANGED_BY_OPINION = (Verdict.FAIL, Verdict.WARNING)
# What becomes of findings that are taken back.
STATES = {
    Decision.OVERTURNED: FindingState.OVERTURNED,
    Decision.SET_ASIDE: FindingState.CANDIDATE,
    Decision.DISPUTED: FindingState.CANDIDATE,
}


@dataclass(slots=True, kw_only=True)
class SecondOpinion:
    """A second opinion on findings: `ask` it, then `store` it in a transaction that holds the lease.

    ``document_id`` is the reviewed document's, for the quotes that are stored.
    """

    reader: Reader
    doubts: Sequence[Doubt]
    document_id: str = ""
    opinions: list[Opinion] = field(default_factory=list)
    said: list[Notice] = field(default_factory=list)
    _put: int = 0
    _refused: int = 0
    _failed: bool = False

    def ask(self) -> StepOutcome:
        """Put the findings that are judgements before the model."""
        safe = [doubt for doubt in self.doubts if self._is_safe(doubt)]
        if len(safe) < len(self.doubts):
            self.said.append(notices.SECOND_OPINION_WITHHELD)
        if len(safe) > MAX_DOUBTS:
            self.said.append(notices.SECOND_OPINION_LIMITED)
        reader = self.reader
        sizes = {} if not safe or reader.fits else {"size": PER_LONG_REQUEST}
        for group in group_doubts(safe, **sizes):
            try:
                self._ask_about(group)
            except NotAnswered as error:
                self._failed = True
                self.said.append(error.notice)
                if error.is_final:
                    break
        if self._refused:
            self.said.append(notices.SECOND_OPINION_REFUSED)
        return self._outcome()

    def _outcome(self) -> StepOutcome:
        state = StepState.DONE
        if self._failed:
            state = StepState.PARTLY if self.opinions else StepState.FAILED
        decided = Counter(opinion.decision for opinion in self.opinions)
        return StepOutcome(
            state=state,
            notices=tuple(dict.fromkeys(self.said)),
            counts={
                "requests": self.reader.requests,
                "findings": self._put,
                **{decision.value: decided[decision] for decision in Decision},
                "refused": self._refused,
            },
            record=self.reader.record(),
        )

    def _is_safe(self, doubt: Doubt) -> bool:
        """Whether neither the finding nor what it points to speaks to a model."""
        said = (doubt.message, *doubt.searched, *doubt.named)
        withheld = self.reader.withheld
        return not any(overlaps(withheld, one.start, one.end) for one in doubt.spans) and not any(map(speaks, said))

    def _ask_about(self, group: Sequence[Doubt]) -> None:
        reader = self.reader
        target = reader.session.target
        reviewed = Reviewed(text=target.text, withheld=reader.withheld, unfit=reader.unfit)
        passages = reader.passages_about([doubt.message for doubt in group])
        document = named_to_model(target)
        prompt = reader.prompts.second
        answer = reader.ask(
            lambda repair: opinion_request(group, reviewed, passages, document=document, prompt=prompt, repair=repair)
        )
        self._put += len(group)
        read = [_quiet(one) for one in read_opinions(answer.data, group, reviewed, passages)]
        self._refused += sum(opinion.refused > 0 for opinion in read)
        self._take(one for one in read if not one.needs_proof and not one.refused)
        unproven = [opinion for opinion in read if opinion.needs_proof]
        if not unproven:
            return
        proofs = reader.ask(lambda repair: proof_request(unproven, reviewed, prompt=prompt, repair=repair))
        self._take(proven(proofs.data, unproven))

    def _take(self, opinions: Iterable[Opinion]) -> None:
        """Take opinions, with limits for those that no words of the document prove.

        Where something in the document speaks to a model none of these is taken. A critical finding, which keeps a
        review from being signed off, stays, with what the model said of it.
        """
        for opinion in opinions:
            if opinion.decision not in UNPROVEN:
                self.opinions.append(opinion)
            elif self.reader.session.planted_spans():
                self.said.append(notices.SECOND_OPINION_NOT_SET_ASIDE)
            else:
                is_kept = opinion.doubt.severity is Severity.CRITICAL
                if is_kept:
                    self.said.append(notices.SECOND_OPINION_CRITICAL_KEPT)
                self.opinions.append(replace(opinion, is_kept=is_kept))

    def store(self) -> None:
        """Mark the findings, and bring the verdicts of their checks in line with what is left."""
        by_finding = {opinion.doubt.pk: opinion for opinion in self.opinions}
        rows = Finding.objects.filter(pk__in=by_finding).select_related("result", "suggestion").order_by("pk")
        findings = list(rows)
        for finding in findings:
            opinion = by_finding[finding.pk]
            finding.second_opinion = self._as_json(opinion)
            if opinion.takes_back:
                finding.state = STATES[opinion.decision]
            if opinion.takes_out:
                finding.second_opinion["narrowed_from"] = finding.message_ja
                narrow(finding, opinion.treated)
        Finding.objects.bulk_update(findings, ["second_opinion", "state", *NARROWED_FIELDS])
        taken: dict[int, list[Opinion]] = defaultdict(list)
        for finding in findings:
            taken[finding.result_id] += [by_finding[finding.pk]] * by_finding[finding.pk].takes_back
        for result in CheckResult.objects.filter(pk__in=taken):
            self._settle(result, taken[result.pk])

    def _settle(self, result: CheckResult, taken: Sequence[Opinion]) -> None:
        result.steps = [*result.steps, StepName.SECOND_OPINION.value]
        changed = ["steps"]
        if taken and result.verdict in CHANGED_BY_OPINION:
            left = result.findings.counted().values_list("severity", flat=True)
            verdict = verdict_without(taken, map(Severity, left))
            if any(opinion.leaves_missing for opinion in taken):
                result.notices = [*result.notices, notices.SECOND_OPINION_STAYS_MISSING.as_dict()]
                changed.append("notices")
            if verdict is not Verdict.FAIL and is_partial(result.notices):
                verdict = Verdict.SKIPPED
            if verdict != result.verdict:
                result.verdict, result.method = verdict, "llm"
                result.judgement = self._judgement(taken)
                changed += ["verdict", "method", "judgement"]
        result.save(update_fields=changed)

    def _judgement(self, taken: Sequence[Opinion]) -> dict[str, Any]:
        """How the model came to the verdict, as the judge's own record says it."""
        related = sorted({document for opinion in taken for document in opinion.doubt.rests_on})
        return {
            **self._who(),
            "prompts": dict(self.reader.prompts.numbers),
            "step": StepName.SECOND_OPINION.value,
            "reason": " ".join(opinion.reason for opinion in taken),
            "grounds": [[span.start, span.end] for opinion in taken for span in opinion.quotes],
            # as the judge notes them: the reason is for those who may read all of them, and goes with each
            **({"related": related} if related else {}),
        }

    def _who(self) -> dict[str, Any]:
        record = self.reader.record()
        return {name: record[name] for name in ("provider", "model", "is_private")}

    def _as_json(self, opinion: Opinion) -> dict[str, Any]:
        text, document_id = self.reader.session.target.text, self.document_id
        return {
            "decision": opinion.decision.value,
            "reason": opinion.reason,
            "quotes": [quote(document_id, text, span) for span in opinion.quotes],
            **self._who(),
            "prompt_version": self.reader.prompts.numbers.get("second"),
        }


def _quiet(opinion: Opinion) -> Opinion:
    """Take no opinion whose reason repeats an instruction to a model: it would be stored and shown."""
    if not speaks(opinion.reason):
        return opinion
    return replace(
        opinion, decision=Decision.CONFIRMED, reason="", quotes=(), by_topic={}, refused=opinion.refused or 1
    )


def verdict_without(taken: Iterable[Opinion], left: Iterable[Severity]) -> Verdict:
    """A check's verdict from the severities of the findings that are left once ``taken`` count no more.

    Without a word of the document against it, what was a blocking finding, or what a list asks for and is missing,
    leaves a warning at best.
    """
    verdict = verdict_of(left)
    doubtful = any(one.decision in UNPROVEN and (one.doubt.severity in BLOCKING or one.leaves_missing) for one in taken)
    return Verdict.WARNING if verdict is Verdict.PASS and doubtful else verdict


def doubts_about(review: Review) -> list[Doubt]:
    """The stored findings of a review that a reader may see otherwise. One query."""
    return [_doubt(finding) for finding in _of_rules(review) if is_put_before_a_model(finding.rule_id, finding.data)]


def doubt_of_draft(draft: FindingDraft, *, pk: int, item: str, fingerprint: str) -> Doubt:
    """A finding that is not stored, as a model gets to see it; ``pk`` names it among those asked about."""
    return Doubt(
        pk=pk,
        fingerprint=fingerprint,
        item=item,
        rule_id=draft.rule_id,
        severity=draft.severity,
        message=draft.message.ja,
        spans=tuple(span for span in draft.evidence if not span.document),
        searched=tuple(draft.searched[:MAX_SEARCHED]),
        named=_named(draft.data),
        topics=_topics(draft.data),
        rests_on=tuple(sorted(draft.rests_on or ())),
        is_about_history=_is_about_history(draft.rule_id, draft.data),
        is_form=not is_judgement(draft.rule_id),
        is_required=is_required(draft.rule_id),
    )


def _of_rules(review: Review) -> QuerySet[Finding]:
    """The findings of rules that a reader may see otherwise; of topics also what is no defect. One query."""
    named = rules_put_before_a_model()
    asked = ~Q(severity=Severity.INFO) | Q(data__has_key="topics")
    judged = Finding.objects.filter(asked, result__review=review, rule_id__in=named)
    related = ("result__review", "result__item_version__item")
    return judged.select_related(*related).order_by("result__position", "ordinal")


def _doubt(finding: Finding) -> Doubt:
    document_id = finding.result.review.document_id_text
    own = [one for one in finding.evidence if one["verified"] and one["document_id"] == document_id]
    item = finding.result.item_version
    return Doubt(
        pk=finding.pk,
        fingerprint=finding.fingerprint,
        item=f"{item.item.code} {item.name_ja}",
        rule_id=finding.rule_id,
        severity=Severity(finding.severity),
        message=finding.message_ja,
        section_path=tuple(map(harmless, finding.location.get("section_path", ()))),
        spans=tuple(Span(start=one["start_offset"], end=one["end_offset"]) for one in own),
        searched=tuple(finding.searched[:MAX_SEARCHED]),
        named=_named(finding.data),
        topics=_topics(finding.data),
        rests_on=tuple(sorted(finding.rests_on)),
        is_about_history=_is_about_history(finding.rule_id, finding.data),
        is_form=not is_judgement(finding.rule_id),
        is_required=is_required(finding.rule_id),
    )


def _is_about_history(rule_id: str, data: Mapping[str, Any]) -> bool:
    return rule_id == "document.missing_history" or data.get("topic") == "change_history"


def _named(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The words of which each has to stand in a quote: abbreviations, which nothing else can explain."""
    return tuple(data.get("abbreviations") or ())


def _topics(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of topics that one finding calls missing together; of a single one nothing is left without it."""
    names = tuple(map(str, data.get("items", ()))) if data.get("topics") else ()
    return names if len(names) > 1 else ()
