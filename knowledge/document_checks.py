"""What follows from an ontology, and what a document treats of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext_lazy as _
from rdflib import Graph, URIRef

from hub.access.principals import HubRight, Principal
from hub.access.services import record_event
from hub.access.turns import Turns
from hub.core.errors import Conflict, InvalidInput
from hub.core.languages import shown
from hub.core.patterns import PatternRefused, PatternTooSlow, patterns_within
from hub.core.processes import PerProcess
from knowledge.documents.documents import get_document
from knowledge.documents.reading import readable_version
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Document, Ontology
from knowledge.ontology import store
from knowledge.ontology.answers import CheckType, CoverageAnswer, DraftTrial, ReasoningAnswer, TopicChange
from knowledge.ontology.coverage import CoverageStatus, TopicJudgement, judge_topics
from knowledge.ontology.facts import OntologyFacts
from knowledge.ontology.hierarchy import hierarchy_issues
from knowledge.ontology.ontologies import get_ontology
from knowledge.ontology.rdf_mapping import graph_of
from knowledge.ontology.reasoning import InferenceType, reason
from knowledge.ontology.store import topics_for
from knowledge.ontology.vocabulary import expand, prefixes_of
from knowledge.search import nearest_within
from knowledge.types.documents import Block, Section
from knowledge.types.requirements import Topic

KNOWN_SHOWN = 20
# Of processor time of the calling thread, for the patterns of all topics together.
COVERAGE_S = 10.0
# Checks that one process works on at a time, each of another caller: they take the processor from all other calls.
MOST_AT_ONCE = 2
_turns = PerProcess(lambda: Turns(most=MOST_AT_ONCE, most_waiting=3, wait_s=10.0))


def reason_ontology(
    principal: Principal,
    domain: str,
    inference_type: InferenceType,
    *,
    target_class: str = "",
    depth: int = 3,
    version: str = "",
) -> ReasoningAnswer:
    """Infer from a domain's ontology. ``target_class`` is an IRI, a prefixed name or a class's code.

    Raises NotFound for an unknown domain, InvalidInput for a class that the ontology does not name, TooManyAtOnce and
    Unavailable as :class:`hub.access.turns.Turns` does.
    """
    ontology = get_ontology(principal, domain, version)
    with _turns.get().taken_by(principal):
        facts = store.load_facts(ontology)
        graph = graph_of(facts)
        prefixes = prefixes_of(domain, facts.prefixes)
        target = _target(target_class, facts, graph, prefixes) if target_class.strip() else None
        reasoning = reason(graph, inference_type, target=target, depth=depth, prefixes=prefixes)
    return ReasoningAnswer(
        domain=domain,
        number=ontology.number,
        inference_type=inference_type,
        depth=depth,
        target=str(target) if target else None,
        prefixes=prefixes,
        reasoning=reasoning,
    )


def _target(name: str, facts: OntologyFacts, graph: Graph, prefixes: dict[str, str]) -> URIRef:
    iri = URIRef(expand(name, prefixes))
    if (iri, None, None) in graph or (None, None, iri) in graph:
        return iri
    by_code = {row.code: row.iri for row in facts.classes}
    if name.strip() in by_code:
        return URIRef(by_code[name.strip()])
    known = [f"hub:{iri[len(prefixes['hub']) :]}" for iri in by_code.values() if iri.startswith(prefixes["hub"])]
    raise InvalidInput(
        _("{name!r} is no class of {domain}. Give an IRI or a prefixed name, for instance: {known}."),
        field="target_class",
        name=name[:200],
        domain=facts.domain,
        known=", ".join((known or list(by_code))[:KNOWN_SHOWN]) or "-",
    )


def check_coverage(principal: Principal, document_id: str, domain: str, check_type: CheckType) -> CoverageAnswer:
    """Judge a document against the published ontology of a domain, over the whole stored text.

    Raises NotFound for a document that the caller may not see or a domain that is not there, Conflict while the
    text is not there yet or when the ontology expects nothing of documents, TooManyAtOnce and Unavailable as
    :class:`hub.access.turns.Turns` does.
    """
    document = get_document(principal, document_id)
    ontology = get_ontology(principal, domain)
    with _turns.get().taken_by(principal):
        answer = _coverage(document, ontology, domain, check_type)
    facts = {"part": "coverage", "version": answer.version.number, "domain": domain}
    record_event(principal, "DOCUMENT_READ", f"document:{document.public_id}", **facts)
    return answer


def try_draft(principal: Principal, document_id: str, draft: Ontology) -> DraftTrial:
    """Judge a document by a draft of an ontology and by the published version of its domain. Nothing is stored.

    Raises Forbidden, NotFound for a document that the caller may not see, Conflict while its text is not there, or for
    a pattern that can't be used, TooManyAtOnce and Unavailable as :class:`hub.access.turns.Turns` does.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    document = get_document(principal, document_id)
    content = readable_version(document).content
    parts = (content.markdown, sections_of(content), blocks_of(content))
    with _turns.get().taken_by(principal):
        before = {each.topic.code: each for each in _judged(topics_for(draft.domain), *parts)}
        after = {each.topic.code: each for each in _judged(store.topics_in(draft), *parts)}
    facts = {"part": "ontology_trial", "version": draft.number, "domain": draft.domain}
    record_event(principal, "DOCUMENT_READ", f"document:{document.public_id}", **facts)
    return _trial(document, before, after)


def _trial(document: Document, before: Mapping[str, TopicJudgement], after: Mapping[str, TopicJudgement]) -> DraftTrial:
    codes = [*after, *(code for code in before if code not in after)]
    changes = [TopicChange(before=before.get(code), after=after.get(code)) for code in codes]
    changed = [one for one in changes if _status(one.before) is not _status(one.after)]
    found = tuple(one for one in changed if _status(one.after) is CoverageStatus.TREATED)
    lost = tuple(one for one in changed if _status(one.before) is CoverageStatus.TREATED)
    others = tuple(one for one in changed if one not in found and one not in lost)
    return DraftTrial(document=document, found=found, lost=lost, others=others, as_before=len(changes) - len(changed))


def _status(judgement: TopicJudgement | None) -> CoverageStatus | None:
    return judgement.status if judgement else None


def _coverage(document: Document, ontology: Ontology, domain: str, check_type: CheckType) -> CoverageAnswer:
    version = readable_version(document)
    content = version.content
    sections, blocks = sections_of(content), blocks_of(content)
    judged = _judged(_expected(domain), content.markdown, sections, blocks)
    if check_type is CheckType.REQUIRED:
        judged = tuple(each for each in judged if each.topic.required)
    is_hierarchy = check_type is CheckType.HIERARCHY
    missing = [] if is_hierarchy else [each.topic for each in judged if each.status is CoverageStatus.MISSING]
    nearest = nearest_within(version, {topic.code: _question(topic) for topic in missing})
    return CoverageAnswer(
        domain=domain,
        number=ontology.number,
        check_type=check_type,
        document=document,
        version=version,
        text=content.markdown,
        sections=sections,
        blocks=blocks,
        rate=_rate(judged),
        judgements=() if is_hierarchy else judged,
        issues=hierarchy_issues(content.markdown, sections) if is_hierarchy else (),
        nearest=nearest.by_key,
        notices=nearest.notices,
    )


def _expected(domain: str) -> tuple[Topic, ...]:
    """The topics of a domain. Raises Conflict where there is none."""
    topics = topics_for(domain)
    if not topics:
        raise Conflict(
            _('The ontology "{domain}" expects no topics of documents. Mark classes as expected in a new version.'),
            code="no_topics",
            domain=domain,
        )
    return topics


def _judged(
    topics: Sequence[Topic], text: str, sections: Sequence[Section], blocks: Sequence[Block]
) -> tuple[TopicJudgement, ...]:
    try:
        with patterns_within(COVERAGE_S):
            return judge_topics(text, sections, blocks, topics)
    except PatternTooSlow as slow:
        raise Conflict(
            _("The pattern {given} of {where} takes too long over this document. Simplify it in a new version."),
            code="pattern_too_slow",
            given=slow.pattern,
            where=slow.where,
        ) from slow
    except PatternRefused as refused:
        raise Conflict(
            _("The pattern {given} of {where} is no regular expression: {reason}. Correct it in a new version."),
            code="pattern_refused",
            given=refused.pattern,
            where=refused.where,
            reason=shown(refused.reason),
        ) from refused


def _question(topic: Topic) -> str:
    """What a passage on a topic would be found by: its label and what is expected of it."""
    return " ".join((topic.label_ja, *topic.elements_ja))


def _rate(judged: Iterable[TopicJudgement]) -> float:
    statuses = [each.status for each in judged]
    treated = sum(1 for status in statuses if status is CoverageStatus.TREATED)
    return round(100 * treated / len(statuses), 1) if statuses else 100.0
