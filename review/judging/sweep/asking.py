"""Reading a whole document with the hub's model, and testing what it proposes.

Killed in the middle, the reading is done again from its recorded answers. What fails is left unread or untested, and
said: nothing that was not put to the test counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hub.llm.types import LlmRequest
from knowledge.types.notices import Notice
from review.judging import notices
from review.judging.asking import CUT, NotAnswered, Reader
from review.judging.excerpts import harmless_bodies, named_to_model, planted_in, speaks
from review.judging.steps import StepOutcome, StepState
from review.judging.sweep.check_list import Point
from review.judging.sweep.merging import Merged, RuleFinding, distinct, merge
from review.judging.sweep.reading import (
    CATEGORIES,
    RELATED_SHARE,
    Fact,
    Proposal,
    RelatedSection,
    Round,
    Subject,
    choose_related,
    cut_parts,
    is_short,
    last_round,
    part_tokens,
    read_part,
    reading_request,
    rounds_for,
    sections_of_related,
)
from review.judging.sweep.refuting import (
    MAX_REFUTED,
    Examined,
    group_proposals,
    read_verdicts,
    refuting_request,
    windows_for,
)
from review.judging.types import Passage
from review.judging.unseen import joined, unseen_in
from review.models import Finding, FindingState, Review
from review.types import JUDGED_BY_MODEL, RelatedDocument, RuleInput, Severity, Span

TIMED_OUT = "llm_timeout"


@dataclass(slots=True, kw_only=True)
class Sweep:
    """A reading of the whole document against its check list, for findings of ``categories``.

    ``rules`` gives the findings that it may find again, ``points`` the check list with what rules said.
    """

    reader: Reader
    limit: int
    least: Severity
    categories: tuple[str, ...] = CATEGORIES
    rules: Callable[[], Sequence[RuleFinding]] = tuple
    points: Callable[[], Sequence[Point]] = tuple
    said: list[Notice] = field(default_factory=list)
    is_complete: bool = True
    is_tested: bool = True
    merged: Merged = field(default_factory=lambda: Merged(kept=(), confirmed={}))
    _proposals: list[Proposal] = field(default_factory=list)
    _unverified: int = 0
    _facts: int = 0
    _related: tuple[RelatedSection, ...] = ()
    _found_before: tuple[str, ...] = ()

    @property
    def _target(self) -> RuleInput:
        return self.reader.session.target

    def ask(self) -> StepOutcome:
        """Read the document for each group of categories, test what is proposed, merge it with the rules' findings."""
        reported = {missing for rule in self.rules() for missing in rule.missing}
        subject = subject_of(self._target, self.reader.withheld, points=self.harmless_points(), reported=reported)
        if self.reader.session.planted_spans():
            self.said.append(notices.SWEEP_WITHHELD)
        self._read_for(subject, rounds_for(has_related=bool(subject.related), categories=self.categories))
        found = distinct(self._proposals, subject)
        tested = self._test(found, subject, most=MAX_REFUTED)
        if self.is_complete and is_short(subject, tokens=self.reader.tokens):
            # what the last reading finds rests on what it is given
            self._found_before = tuple(one.message for one in found if not one.rests_on)
            self._read_for(subject, (last_round(self.categories),))
            left = distinct(self._proposals, subject, known=found)
            tested += self._test(left, subject, most=max(MAX_REFUTED - len(found), 0))
        self.merged = merge(tested, self.rules(), subject, limit=self.limit, least=self.least)
        return self._outcome(tested)

    def harmless_points(self) -> tuple[Point, ...]:
        """The check list without what speaks to a model: findings quote the document."""
        return tuple(replace(one, said=tuple(said for said in one.said if not speaks(said))) for one in self.points())

    def _outcome(self, tested: Sequence[Examined]) -> StepOutcome:
        kept = self.merged.kept
        state = StepState.DONE if self.is_complete else StepState.PARTLY
        if not self.is_complete and not self._facts and not self._proposals:
            state = StepState.FAILED
        return StepOutcome(
            state=state,
            notices=tuple(dict.fromkeys(self.said)),
            counts={
                "requests": self.reader.requests,
                "facts": self._facts,
                "proposed": len(tested),
                "unverified": self._unverified,
                "refuted": sum(one.decision == "refuted" for one in tested),
                "findings": sum(one.counts for one in kept),
                "candidates": sum(not one.counts for one in kept),
                "merged": len(self.merged.confirmed),
            },
            categories=self.categories,
            record=self.reader.record(),
        )

    def _read_for(self, subject: Subject, rounds: Sequence[Round]) -> None:
        """Make some readings, as long as somebody can be asked."""
        try:
            for reading in rounds:
                self._read(subject, reading)
        except NotAnswered as error:
            self.is_complete = False
            self.said.append(error.notice)

    def _read(self, subject: Subject, reading: Round) -> None:
        """Read all parts in order. :raises NotAnswered: nobody can be asked any more."""
        facts: list[Fact] = []
        self._related = sections_of_related(subject) if reading.shows_related else ()
        for part in cut_parts(subject.text, subject.bodies, tokens=part_tokens(self.reader.tokens, reading)):
            self._read_part(subject, reading, part, facts)

    def _read_part(self, subject: Subject, reading: Round, part: Sequence[Passage], facts: list[Fact]) -> None:
        """Read a part; in two halves after a time-out or an answer that was cut off."""
        try:
            self._ask_about(subject, reading, part, facts)
        except NotAnswered as error:
            if error.code in (TIMED_OUT, CUT) and len(part) > 1:
                middle = len(part) // 2
                self._read_part(subject, reading, part[:middle], facts)
                self._read_part(subject, reading, part[middle:], facts)
            elif error.is_final:
                raise
            else:
                self.is_complete = False
                self.said.append(error.notice)

    def _ask_about(self, subject: Subject, reading: Round, part: Sequence[Passage], facts: list[Fact]) -> None:
        reader = self.reader
        tokens = reader.tokens
        related = choose_related(self._related, subject.text, part, tokens=tokens // RELATED_SHARE)

        def make(repair: str) -> LlmRequest:
            return reading_request(
                subject,
                part,
                reading,
                facts=facts,
                related=related,
                tokens=tokens,
                prompt=reader.prompts.sweep,
                found=self._found_before,
                repair=repair,
            )

        answer = reader.ask(make).data
        read = read_part(answer, subject, part, related, earlier=[one for fact in facts for one in fact.rests_on])
        known = [fact for fact in read.facts if not speaks(f"{fact.subject} {fact.attribute} {fact.value}")]
        facts += known
        self._facts += len(known)
        safe = [one for one in read.proposals if not speaks(one.message)]
        self._proposals += safe
        self._unverified += read.unverified + len(read.proposals) - len(safe)

    def _test(self, proposals: Sequence[Proposal], subject: Subject, *, most: int) -> list[Examined]:
        """Put so many of the most severe proposals to the test; what could not be tested is a candidate."""
        chosen = proposals[:most]
        tested = [Examined(proposal=one, decision="unrefuted") for one in proposals[most:]]
        stopped = False
        for group in group_proposals(chosen, is_whole=self.reader.fits):
            if not stopped:
                try:
                    tested += self._test_group(group, subject)
                    continue
                except NotAnswered as error:
                    stopped = error.is_final
                    self.said.append(error.notice)
            tested += [Examined(proposal=one, decision="unrefuted") for one in group]
        if any(one.decision == "unrefuted" for one in tested):
            self.is_tested = False
            self.said.append(notices.SWEEP_UNREFUTED)
        return tested

    def _test_group(self, group: Sequence[Proposal], subject: Subject) -> tuple[Examined, ...]:
        reader = self.reader
        is_missing = any(one.kind == "missing" for one in group)
        more = reader.passages_about([one.message for one in group]) if is_missing or reader.fits else ()
        windows, prompt = windows_for(group, subject, more), reader.prompts.refute

        def make(repair: str) -> LlmRequest:
            return refuting_request(group, subject, windows, prompt=prompt, repair=repair)

        planted = reader.session.planted_spans()
        tested = read_verdicts(reader.ask(make).data, group, subject, windows, reader.unfit, planted=planted)
        # a reason that repeats an instruction to a model is neither stored nor believed
        return tuple(replace(one, decision="unrefuted", reason="") if speaks(one.reason) else one for one in tested)

    def confirm(self) -> None:
        """Note with the rules' findings that the reading found them, too; what a second opinion said of them stays."""
        record = self.reader.record()
        rows = Finding.objects.filter(pk__in=self.merged.confirmed, second_opinion={})
        changed = list(rows.order_by("pk"))
        for finding in changed:
            finding.second_opinion = self.opinion("confirmed", self.merged.confirmed[finding.pk], record)
        Finding.objects.bulk_update(changed, ["second_opinion"])

    def opinion(self, decision: str, reason: str, record: dict[str, Any]) -> dict[str, Any]:
        """What is stored with a finding of what the model said."""
        who = {name: record[name] for name in ("provider", "model")}
        number = self.reader.prompts.numbers.get("refute")
        return {"decision": decision, "reason": reason, "quotes": [], **who, "prompt_version": number}


def subject_of(
    target: RuleInput, withheld: tuple[Span, ...], *, points: Sequence[Point] = (), reported: Collection[str] = ()
) -> Subject:
    """What of a document and its related ones is read, against which check list; rules called ``reported`` missing."""
    return Subject(
        title=named_to_model(target),
        text=target.text,
        bodies=harmless_bodies(target),
        withheld=withheld,
        related=target.related,
        topics=tuple(topic.label_ja for topic in target.topics if topic.label_ja not in reported),
        points=tuple(points),
        related_bodies={one.document_id: harmless_bodies(one.as_input()) for one in target.related},
        related_withheld={one.document_id: _withheld_of(one) for one in target.related},
    )


def _withheld_of(related: RelatedDocument) -> tuple[Span, ...]:
    return joined([*unseen_in(related.text), *planted_in(related.as_input())])


def rule_findings(review: Review) -> list[RuleFinding]:
    """What the reading of a review may find again. One query."""
    return [_rule_finding(finding) for finding in _of_rules(review)]


def _of_rules(review: Review) -> list[Finding]:
    """The findings that the reading may find again: those of rules, and those of the judge. One query."""
    found = Finding.objects.filter(result__review=review).exclude(state=FindingState.CANDIDATE, rule_id=JUDGED_BY_MODEL)
    return list(
        found.order_by("result__position", "ordinal").select_related("result__review", "result__item_version__item")
    )


def _missing_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """What a finding calls missing: a topic or an element, or several topics that another document may have, those
    among them that a second opinion took out.
    """
    one = data.get("item") or data.get("element")
    several = (*data.get("items", ()), *data.get("treated", ())) if data.get("topics") else ()
    return (str(one),) if one else tuple(map(str, several))


def _rule_finding(finding: Finding) -> RuleFinding:
    own = finding.result.review.document_id_text
    return RuleFinding(
        pk=finding.pk,
        rule_id=finding.rule_id,
        severity=Severity(finding.severity),
        spans=tuple(
            Span(
                start=one["start_offset"],
                end=one["end_offset"],
                document="" if one["document_id"] == own else one["document_id"],
            )
            for one in finding.evidence
            if one["verified"]
        ),
        missing=_missing_of(finding.data),
        rests_on=tuple(finding.rests_on),
        is_overturned=finding.state == FindingState.OVERTURNED,
        is_set_aside=finding.state == FindingState.CANDIDATE,
        item=finding.result.item_version.item.code,
    )
