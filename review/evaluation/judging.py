"""What the reviewer says of one document: check items of pinned check lists, and rules alone, run only as asked.

Nothing is stored. An item that rules can't decide is answered by the model, in a run that asks it; else by what a model
said in the latest completed review of the same document version and the same item version, if there is one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Prefetch

from hub.access.principals import Principal
from hub.access.versions import PublicationStatus
from hub.llm.budget import Budget, Usage
from hub.llm.models import CALLERS_MODEL
from hub.llm.preparation import ceiling_of, model_of
from hub.llm.providers.registry import get_provider, is_configured
from hub.llm.types import Provider, Strength
from knowledge.guidelines.editions import articles_of, editions_in_force
from knowledge.models import Document, DocumentVersion, Ontology, VersionContent
from knowledge.ontology.store import topics_for
from knowledge.types.notices import Notice
from review.evaluation.matching import Defect, Said, answer
from review.evaluation.model_steps import ANSWERED, Measured, MeasuredDocument, after_second_opinion, read_whole
from review.judging.engine import NEEDS_LLM, Judgement, judge
from review.judging.excerpts import plain_target, planted_in
from review.judging.gathering import Gatherer, level_of
from review.judging.judge import Judge
from review.judging.model_session import is_for_model, purpose_of, task_of
from review.judging.prompts import texts_of
from review.judging.sampling import ReplayProvider
from review.judging.steps import StepName
from review.judging.sweep.check_list import Point
from review.judging.types import Opinion
from review.models import (
    CheckItemVersion,
    CheckListEntry,
    CheckListVersion,
    CheckResult,
    Finding,
    MasterStatus,
    ReviewStatus,
)
from review.rules import list_rules, run_rule
from review.rules.base import RuleCrash
from review.runs.reading_results import point_of
from review.runs.related import related_document
from review.runs.work import spec_of
from review.types import READING_CODE, FindingDraft, RuleInput, Verdict

TOPIC_RULES = ("coverage.missing_topic", "coverage.empty_section")
NOT_DECIDED = (Verdict.SKIPPED, Verdict.ERROR)
COUNTED_FINDINGS = Prefetch("findings", queryset=Finding.objects.counted())
LLM = "llm"
NOTHING = Said(decided=False)
MODEL_CHANGED = Notice(
    code="llm_model_changed",
    ja="評価の途中で言語モデルの設定が変わったため、この項目は判定していません。",
    en="Another language model was configured in the middle of the run, so this item was not judged.",
)


def versions_in_force() -> dict[str, int]:
    """Map each check list's code to the id of its newest approved version."""
    approved = CheckListVersion.objects.filter(status=MasterStatus.APPROVED).order_by("checklist__code", "number")
    return dict(approved.values_list("checklist__code", "pk"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Masters:
    """The check lists that a run measures, loaded once: two queries."""

    items: Mapping[str, tuple[CheckItemVersion, CheckListVersion]]
    versions: Sequence[CheckListVersion]

    @classmethod
    def load(cls, version_ids: Sequence[int]) -> Masters:
        """Load the check list versions with their items."""
        versions = CheckListVersion.objects.filter(pk__in=version_ids).select_related("checklist").order_by("pk")
        entries = CheckListEntry.objects.filter(checklist_version__in=version_ids).select_related(
            "item_version__item", "checklist_version__checklist"
        )
        items = {entry.item_version.item.code: (entry.item_version, entry.checklist_version) for entry in entries}
        return cls(items=items, versions=list(versions))

    def domain_for(self, document_type: str) -> str:
        """The ontology that documents of a type are held against: their check list's, else the one that names it."""
        for version in self.versions:
            if document_type in version.checklist.document_types and version.checklist.ontology_domain:
                return version.checklist.ontology_domain
        found = Ontology.objects.filter(status=PublicationStatus.PUBLISHED, document_types__contains=[document_type])
        return found.order_by("domain").values_list("domain", flat=True).first() or ""


class DocumentJudge:
    """Answers cases about one document version; every item and rule runs once."""

    def __init__(
        self,
        version: DocumentVersion,
        masters: Masters,
        related: Sequence[DocumentVersion] = (),
        model: ModelAnswers | None = None,
    ) -> None:
        self._version = version
        self._masters = masters
        self._related = related
        self._model = model
        self._model_parts: dict[str, str] = {}
        self._items: dict[str, Said] = {}
        self._rules: dict[str, Said] = {}

    def answer(self, case: Mapping[str, Any]) -> str:
        """Tell fail, pass or undecided for a case's stored input."""
        return answer(case, self._said(case), self._target.text)

    def model_part(self, case: Mapping[str, Any]) -> str:
        """Tell, after ``answer``, what a model had to do with it: ANSWERED, the reason why it gave none, or empty."""
        return self._model_parts.get(case.get("check_item_id", ""), "")

    @cached_property
    def _target(self) -> RuleInput:
        contents = VersionContent.objects.in_bulk([self._version.pk, *(one.pk for one in self._related)])
        target = plain_target(self._version, contents[self._version.pk])
        return replace(
            target,
            topics=topics_for(self._masters.domain_for(target.document_type)),
            articles=articles_of([edition.pk for edition in editions_in_force()]),
            related=tuple(related_document(one, contents[one.pk]) for one in self._related),
        )

    def _said(self, case: Mapping[str, Any]) -> Said:
        if code := case.get("check_item_id"):
            said, names = self._by_item(code), case.get("rule_ids")
            defects = [one for one in said.defects if not names or one.rule_id in names]
            return replace(said, defects=defects)
        if topic := case.get("topic"):
            known = any(one.code == topic for one in self._target.topics)
            return self._by_rules(case.get("rule_ids") or TOPIC_RULES) if known else NOTHING
        if names := case.get("rule_ids"):
            return self._by_rules(names)
        return NOTHING

    def _by_rules(self, names: Sequence[str]) -> Said:
        said = [self._by_rule(name) for name in _known_rules(names)]
        return Said(
            decided=any(one.decided for one in said), defects=[defect for one in said for defect in one.defects]
        )

    def _by_rule(self, name: str) -> Said:
        if name not in self._rules:
            outcome = run_rule(name, self._target)
            if isinstance(outcome, RuleCrash) or outcome.skip_reason is not None:
                self._rules[name] = NOTHING
            else:
                self._rules[name] = Said(decided=True, defects=list(map(_defect, outcome.findings)))
        return self._rules[name]

    def _by_item(self, code: str) -> Said:
        if code == READING_CODE and code not in self._items and self._model is not None:
            self._items[code] = self._read(self._model) if self._model.pinned.get(StepName.SWEEP.value) else NOTHING
        if code not in self._items:
            found = self._masters.items.get(code)
            self._items[code] = self._judged(*found) if found else NOTHING
        return self._items[code]

    def _judged(self, item: CheckItemVersion, master: CheckListVersion) -> Said:
        target = replace(self._target, topics=topics_for(master.checklist.ontology_domain))
        judgement = judge(spec_of(item), target)
        if self._model is not None and is_for_model(item, judgement):
            return self._asked(self._model, item)
        if self._model is not None and judgement.findings and self._model.pinned.get(StepName.SECOND_OPINION.value):
            return self._looked_at_again(self._model, item, judgement)
        if judgement.verdict is Verdict.SKIPPED:
            return self._said_by_model(item)
        return _decided(judgement)

    def _looked_at_again(self, model: ModelAnswers, item: CheckItemVersion, judgement: Judgement) -> Said:
        """What a second opinion leaves of the rules' findings; where it was not given, nothing is decided."""
        left = model.second_opinion(item, judgement.findings, self._document)
        if left.part:
            self._model_parts[item.item.code] = left.part
        if left.part not in ("", ANSWERED) or (left.taken_back and judgement.is_partial):
            return NOTHING
        return replace(_decided(judgement), defects=list(map(_defect, left.findings)))

    def _read(self, model: ModelAnswers) -> Said:
        """What the reading of the whole document finds."""
        read = model.reading(self._document, self._points())
        self._model_parts[READING_CODE] = read.part
        if read.part != ANSWERED:
            return NOTHING
        return Said(decided=True, defects=list(map(_defect, read.findings)))

    def _points(self) -> list[Point]:
        """The check lists for the document's type, with what rules say of it."""
        document_type = self._target.document_type
        points: list[Point] = []
        for item, master in self._masters.items.values():
            if document_type in master.checklist.document_types:
                judged = judge(
                    spec_of(item), replace(self._target, topics=topics_for(master.checklist.ontology_domain))
                )
                said = [found.message.ja for found in judged.findings if not found.sources]
                points.append(point_of(item, judged.verdict, said))
        return points

    @cached_property
    def _document(self) -> MeasuredDocument:
        return MeasuredDocument(version=self._version, target=self._target)

    def _asked(self, model: ModelAnswers, item: CheckItemVersion) -> Said:
        opinion = model.opinion(item, self._target, self._version, self._related)
        self._model_parts[item.item.code] = ANSWERED if opinion.record else opinion.notices[-1].code
        return _decided(opinion)

    def _said_by_model(self, item: CheckItemVersion) -> Said:
        results = CheckResult.objects.filter(
            item_version=item, method=LLM, review__version=self._version, review__status=ReviewStatus.COMPLETED
        )
        result = results.exclude(verdict__in=NOT_DECIDED).prefetch_related(COUNTED_FINDINGS).order_by("-pk").first()
        if result is None:
            return NOTHING
        self._model_parts[item.item.code] = ANSWERED
        defects = [
            Defect(
                rule_id=row.rule_id,
                data=row.data,
                spans=tuple(
                    (quote["start_offset"], quote["end_offset"])
                    for quote in row.evidence
                    if quote["document_id"] == self._version.document.public_id and quote["start_offset"] is not None
                ),
            )
            for row in result.findings.all()
        ]
        return Said(decided=True, defects=defects)


def _known_rules(names: Sequence[str]) -> list[str]:
    """The registered rules among names and prefixes (``style.*``); one that is not registered decides nothing."""
    known = [rule.id for rule in list_rules()]
    return [
        rule_id
        for name in names
        for rule_id in known
        if rule_id == name or (name.endswith(".*") and rule_id.startswith(name[:-1]))
    ]


def _decided(judged: Judgement | Opinion) -> Said:
    return Said(decided=judged.verdict not in NOT_DECIDED, defects=list(map(_defect, judged.findings)))


def _defect(draft: FindingDraft) -> Defect:
    return Defect(
        rule_id=draft.rule_id,
        data=draft.data,
        spans=tuple((span.start, span.end) for span in draft.evidence if not span.document),
    )


def earlier_model() -> dict[str, Any]:
    """The hub's model that judged last, whose recorded answers can be read again; empty where none ever did.

    What callers' own models said is not among the recordings.
    """
    judged = CheckResult.objects.filter(method="llm").exclude(judgement={}).order_by("-pk")
    judged = judged.exclude(judgement__provider=CALLERS_MODEL)
    record = judged.values_list("judgement", flat=True).first() or {}
    votes = record.get("votes") or [record]
    known = next((vote for vote in votes if "provider" in vote), None)
    if known is None:
        return {}
    return {name: known[name] for name in ("provider", "model", "is_private")} | {"is_replay": True}


@dataclass(slots=True, kw_only=True)
class ModelAnswers:
    """Asks one model within one budget, for one run. ``pinned`` and ``prompts`` are the run's.

    It is asked as a review asks it, so that what was answered once comes from the recordings; nothing else is stored.
    """

    principal: Principal
    pinned: Mapping[str, Any]
    prompts: Mapping[str, int]
    heartbeat: Callable[[], None]
    budget: Budget
    _judging: tuple[int, Judge] | None = None

    def opinion(
        self,
        item: CheckItemVersion,
        target: RuleInput,
        version: DocumentVersion,
        related: Sequence[DocumentVersion] = (),
    ) -> Opinion:
        """What the model says of an item; skipped with the reason where there is none to ask."""
        if not self.pinned:
            return Opinion(verdict=Verdict.SKIPPED, notices=(NEEDS_LLM,))
        provider = self._provider()
        if provider is None:
            return Opinion(verdict=Verdict.SKIPPED, notices=(MODEL_CHANGED,))
        task = task_of(item, target)
        gatherer = Gatherer(
            principal=self.principal,
            version=version,
            target=target,
            planted=planted_in(target),
            related=related,
            ceiling=max(ceiling_of(provider), level_of(version.document)),
        )
        shown = [one.document for one in gatherer.maker.related.values()]
        return self._judge_of(version, provider, shown).decide(task, gatherer.gather(item, task))

    def second_opinion(
        self, item: CheckItemVersion, findings: Sequence[FindingDraft], document: MeasuredDocument
    ) -> Measured:
        """What a second opinion leaves of an item's findings; none of it decided where there is nobody to ask."""
        judge = self._judge_beside(document)
        if isinstance(judge, Notice):
            return Measured(findings=tuple(findings), part=judge.code)
        return after_second_opinion(document, judge, item, findings)

    def reading(self, document: MeasuredDocument, points: Sequence[Point]) -> Measured:
        """What the reading of a whole document against a check list finds."""
        judge = self._judge_beside(document)
        return (
            Measured(findings=(), part=judge.code)
            if isinstance(judge, Notice)
            else read_whole(document, judge, self.pinned, points)
        )

    def _judge_beside(self, document: MeasuredDocument) -> Judge | Notice:
        if not self.pinned:
            return NEEDS_LLM
        provider = self._provider()
        return MODEL_CHANGED if provider is None else self._judge_of(document.version, provider, ())

    def _judge_of(self, version: DocumentVersion, provider: Provider, shown: Sequence[Document]) -> Judge:
        """A judge of one document: what it read of a long one serves all of its items."""
        if self._judging is None or self._judging[0] != version.pk:
            judge = Judge(
                principal=self.principal,
                provider=provider,
                budget=self.budget,
                prompts=texts_of(self.prompts),
                purpose=purpose_of(version.document, "evaluation", beside=shown),
                heartbeat=self.heartbeat,
                is_replay=bool(self.pinned["is_replay"]),
            )
            self._judging = (version.pk, judge)
        return self._judging[1]

    def _provider(self) -> Provider | None:
        """The provider that was pinned; None where another one is configured by now."""
        pinned = self.pinned
        if pinned["is_replay"]:
            return ReplayProvider(name=pinned["provider"], model=pinned["model"], is_private=pinned["is_private"])
        configured = (settings.CONFIG.llm_provider, model_of(Strength.STRONG))
        is_same = is_configured() and configured == (pinned["provider"], pinned["model"])
        return get_provider() if is_same else None


def budget_with(used: Mapping[str, Any]) -> Budget:
    """A run's budget, of the size of a review's; ``used`` is what :func:`usage_of` gave before a crash."""
    spent = Usage(tokens_in=used.get("tokens_in", 0), tokens_out=used.get("tokens_out", 0))
    spent.cost = None if used.get("cost", "0") is None else Decimal(used.get("cost", "0"))
    return Budget.configured(spent)


def usage_of(budget: Budget) -> dict[str, Any]:
    """What was spent, as JSON."""
    used = budget.used
    cost = None if used.cost is None else str(used.cost)
    return {"tokens_in": used.tokens_in, "tokens_out": used.tokens_out, "cost": cost}


def digest_of_contents(checklists: Sequence[int], prompts: Mapping[str, int]) -> str:
    """Hash the item versions of check list versions, in their order, and the texts of prompts. Two queries."""
    entries = CheckListEntry.objects.filter(checklist_version__in=checklists).order_by("checklist_version", "position")
    items = entries.values_list(
        "checklist_version", "item_version", "item_version__criteria", "item_version__check_type",
        "item_version__name_ja", "item_version__description_ja", "item_version__guideline_reference",
    )  # fmt: skip
    texts = texts_of(prompts)
    said = [texts.judge, texts.screen, texts.summary, texts.second, texts.sweep, texts.refute]
    facts = json.dumps([list(items), said], cls=DjangoJSONEncoder, sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()
