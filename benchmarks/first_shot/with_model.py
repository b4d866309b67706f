"""Reviews with a language model over a round's documents: the hub's whole path, or everything handed over at once.

A scratch hub is started in a folder. Each document is reviewed in a thread of its own.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.first_shot.outputs import COUNTED, FindingLine
from benchmarks.first_shot.readings import Source, cases_of
from knowledge.text.folding import fold_compact

MAX_OUTPUT_TOKENS = 16_000
TOKEN_BUDGET = 20_000_000
MAX_ROUNDS = 12
"""So often a document's review is made again at most; each time all requests that are known go out."""
AROUND = 200
"""Characters around the line of a row in which a finding is put before who judges the rows."""
MOST_ALIKE = 5
"""So many findings that share most of a row's words are put before them, too, wherever they quote."""
READ_TOGETHER = ({"consistency", "terminology", "traceability"}, {"coverage", "structure", "style"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The endpoint and what it costs.

    ``context_tokens`` is LLM_CONTEXT_TOKENS, ``reading_tokens`` LLM_READING_TOKENS, ``sweep_limit`` as of a review.
    """

    url: str
    model: str = "strong"
    price_in: Decimal = Decimal(1)
    price_out: Decimal = Decimal(5)
    timeout_s: float = 3500
    context_tokens: int = 16_000
    reading_tokens: int = 80_000
    sweep_limit: int = 30


@dataclass(slots=True, kw_only=True)
class Spent:
    """What was asked: requests that were sent, tokens as the endpoint counts them, US$, and failures."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)
    estimated_cost: float | None = None


@dataclass(slots=True, kw_only=True)
class Reviewed:
    """A document with the answers to its rows, every finding, and what it took. ``steps`` are their states."""

    source: Source
    answers: list[Any] = field(default_factory=list)
    findings: list[FindingLine] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    steps: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)


def start_hub(folder: Path, options: ModelOptions) -> None:
    """Set the environment, start Django in ``folder``, and make the database."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    os.environ |= {
        "HUB_DATA_DIR": str(folder),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "hub.settings",
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": options.url,
        "LLM_MODEL": options.model,
        "LLM_TIMEOUT_S": str(options.timeout_s),
        "LLM_MAX_OUTPUT_TOKENS": str(MAX_OUTPUT_TOKENS),
        "LLM_CONTEXT_TOKENS": str(options.context_tokens),
        "LLM_READING_TOKENS": str(options.reading_tokens),
        "LLM_MAX_CONCURRENCY": "64",
        "LLM_PRICE_IN": str(options.price_in),
        "LLM_PRICE_OUT": str(options.price_out),
        "HUB_LLM_TOKEN_BUDGET": str(TOKEN_BUDGET),
        "LLM_LIGHT_MODEL": "",
        "LOG_LEVEL": "ERROR",
    }
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def review_all(
    sources: Sequence[Source], folder: Path, options: ModelOptions, *, handed: bool, whole_path: bool = True
) -> tuple[list[Reviewed], list[Reviewed]]:
    """Review documents by the hub's whole path, by handing everything over, or both; gives both lists.

    Every request that is known is under way at once. Raises OtherFile.
    """
    from benchmarks.first_shot.running import checked_path
    from benchmarks.first_shot.side_by_side import asked_side_by_side
    from hub.llm.providers.registry import CHARACTERS_PER_TOKEN
    from hub.llm.types import Limits

    for source in sources:
        checked_path(source, folder)
    limits = Limits(timeout_s=options.timeout_s, max_answer_chars=MAX_OUTPUT_TOKENS * CHARACTERS_PER_TOKEN)
    with asked_side_by_side(options.url, limits=limits) as provider:
        ids = {source.document: _taken_in(source, folder) for source in sources}
        with ThreadPoolExecutor(max_workers=2 * len(sources) or 1) as pool:
            work = [(one, ids[one.document], provider, options) for one in sources]
            ways = [pool.submit(_in_thread, _reviewed, *each) for each in work if whole_path]
            others = [pool.submit(_in_thread, _read_whole, *each) for each in work if handed]
            return [one.result() for one in ways], [one.result() for one in others]


def _taken_in(source: Source, folder: Path) -> str:
    from hub.access.principals import local_operator
    from knowledge.documents.uploads import Upload, create_document, hash_file
    from knowledge.documents.workers import work_through

    path = folder / source.document
    sha256, size = hash_file(path)
    upload = Upload(file=path, filename=path.name, sha256=sha256, size_bytes=size, document_type=source.document_type)
    document = create_document(principal=local_operator(), upload=upload).document
    if document.latest_version_id is not None:
        work_through([document.latest_version_id])
    return str(document.public_id)


def _in_thread(
    way: Callable[..., Reviewed], source: Source, document_id: str, provider: Any, options: ModelOptions
) -> Reviewed:
    """Go one way in a thread of its own, whose connection ends with it."""
    from django.db import connection

    try:
        return way(source, document_id, provider, options)
    finally:
        connection.close()


def _reviewed(source: Source, document_id: str, provider: Any, options: ModelOptions) -> Reviewed:
    from hub.access.principals import local_operator
    from review.runs.estimates import estimate_review
    from review.runs.reviews import ReviewOptions, start_review, wait_for_review

    asked = ReviewOptions(judge="server", second_opinion="on", sweep="on", sweep_limit=options.sweep_limit)
    told = estimate_review(principal=local_operator(), document_id=document_id, options=asked)
    for _again in range(MAX_ROUNDS):
        provider.sent.begin()
        review = start_review(principal=local_operator(), document_id=document_id, options=asked)
        wait_for_review(review, timeout_s=None)
        if not provider.sent.is_open:
            break
        provider.sent.wait()
    else:
        raise RuntimeError(f"{source.document}: there is always something more to ask after {MAX_ROUNDS} rounds")
    review.refresh_from_db()
    done = Reviewed(source=source, spent=_spent(provider.sent.completions, options))
    done.spent.estimated_cost = told.cost
    done.steps = {name: row["state"] for name, row in review.steps.items()}
    done.notices = [notice["en"] for notice in review.notices]
    if review.error:
        done.crashed.append(review.error)
    _answer_rows(done, review)
    return done


def _spent(completions: Sequence[Any], options: ModelOptions) -> Spent:
    tokens_in: int = sum(one.tokens_in or 0 for one in completions)
    tokens_out: int = sum(one.tokens_out or 0 for one in completions)
    cost = Decimal(tokens_in * options.price_in + tokens_out * options.price_out) / 1_000_000
    return Spent(requests=len(completions), tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefect:
    """A finding of a model that counts, as far as rows go. ``topic`` is the name of what it calls missing."""

    category: str
    spans: tuple[tuple[int, int], ...]
    topic: str = ""
    message: str = ""
    quotes: tuple[str, ...] = ()


def said_of(
    case: Mapping[str, Any], ruled: str, found: Sequence[ModelDefect], text: str, *, topic: str, was_read: bool
) -> str:
    """What was said of a row: by rules, else by a model's finding on the row's line.

    A finding answers a row where it quotes the row's line and is of a category that is read together with the row's; a
    topic, where it says that it is not treated. A row that no rule decides is right where the model has read all.
    """
    if ruled == "fail":
        return ruled
    if topic:
        return "fail" if any(one.topic == topic for one in found) else ruled
    own = next((group for group in READ_TOGETHER if case["check_type"] in group), set())
    if any(not one.category or one.category in own for one in on_line(case, found, text)):
        return "fail"
    return "pass" if was_read and ruled == "undecided" else ruled


def on_line(case: Mapping[str, Any], found: Sequence[ModelDefect], text: str) -> list[ModelDefect]:
    """The findings that quote the line of a row, of whatever category."""
    from review.evaluation.matching import places_of

    places = places_of(case["location"], text) if case.get("location") else []
    return [
        one for one in found if any(start < last and first < end for start, end in one.spans for first, last in places)
    ]


def near_to(case: Mapping[str, Any], found: Sequence[ModelDefect], text: str) -> tuple[ModelDefect, ...]:
    """What somebody has to read to answer a row that is no topic: what quotes its line or a passage beside it, names
    one of the words that it is about, quotes nothing, or is among those that share most of its words.
    """
    from review.evaluation.matching import places_of
    from review.judging.sweep.reading import pairs_of

    if case.get("topic"):
        return ()
    asked = pairs_of(case["item"])
    shared = [len(asked & pairs_of(" ".join((one.message, *one.quotes)))) for one in found]
    alike = set(sorted((at for at in range(len(found)) if shared[at]), key=lambda at: -shared[at])[:MOST_ALIKE])
    words = [fold_compact(word) for word in case.get("variants", ())]
    around = [
        (start - AROUND, end + AROUND)
        for start, end in (places_of(case["location"], text) if case.get("location") else [])
    ]
    return tuple(
        one
        for at, one in enumerate(found)
        if at in alike
        or not one.quotes
        or any(word in fold_compact(one.message) for word in words)
        or any(start < last and first < end for start, end in one.spans for first, last in around)
    )


def _answer_rows(done: Reviewed, review: Any) -> None:
    from benchmarks.first_shot.running import TOPIC_RULES, Answered, decided_rules, missing_topics, topics_of
    from hub.evaluation.cases import review_case
    from knowledge.models import VersionContent
    from review.evaluation.matching import Defect, Said, answer
    from review.judging.excerpts import plain_target
    from review.judging.second_opinion.request import UNPROVEN
    from review.judging.steps import StepName
    from review.models import COUNTED_STATES, Finding
    from review.rules.content.curated import rules_of
    from review.rules.kinds import is_required
    from review.types import JUDGED_BY_MODEL

    content = VersionContent.objects.get(pk=review.version_id)
    target = plain_target(review.version, content)
    text = target.text
    defects: dict[str, list[Defect]] = defaultdict(list)
    topics = topics_of(done.source.document_type)
    decided = decided_rules(replace(target, topics=topics))
    found: list[ModelDefect] = []
    of_rules: list[ModelDefect] = []
    for result in review.results.select_related("item_version"):
        if StepName.JUDGE in result.steps and result.verdict not in ("skipped", "error"):
            decided |= dict.fromkeys((use["rule_id"] for use in rules_of(result.item_version.criteria)), True)
    rows = Finding.objects.filter(result__review=review).select_related("result__item_version__item")
    for row in rows.order_by("result__position", "ordinal"):
        spans = tuple(
            (one["start_offset"], one["end_offset"])
            for one in row.evidence
            if one["verified"] and one["document_id"] == review.document_id_text
        )
        counts = row.state in COUNTED_STATES
        opinion = row.second_opinion or {}
        data = dict(row.data)
        if data.get("status") == "undecided" and opinion.get("decision") == "confirmed":
            del data["status"]  # the model says that it is missing
        if counts:
            defect = ModelDefect(
                category=data.get("category", ""),
                spans=spans,
                topic=str(data.get("item", "")),
                message=row.message_ja,
                quotes=tuple(one["quote"] for one in row.evidence),
            )
            (found if row.rule_id == JUDGED_BY_MODEL else of_rules).append(defect)
        is_missing = opinion.get("decision") in UNPROVEN and is_required(row.rule_id)
        if row.rule_id != JUDGED_BY_MODEL and (counts or is_missing):
            # a row asks what the document treats, not whether anybody has to act on it
            defects[row.rule_id].append(Defect(rule_id=row.rule_id, data=data, spans=spans))
            defects[TOPIC_RULES[0]] += missing_topics(row.rule_id, data)
        state = COUNTED if counts else str(row.state)
        quoted = row.evidence if state != "overturned" else opinion.get("quotes", [])
        done.findings.append(
            FindingLine(
                document=done.source.document,
                way="hub",
                state=state,
                rule_id=row.rule_id,
                item=row.result.item_version.item.code,
                category=str(data.get("category", "")),
                severity=row.severity,
                message=row.message_ja,
                quotes=tuple((one["quote"], bool(one["verified"])) for one in quoted),
                reason=str(opinion.get("reason", "")),
            )
        )
    labels = {topic.code: topic.label_ja for topic in topics}
    was_read = done.steps.get("sweep") == "done"
    for case in cases_of(done.source):
        asked = review_case(case).input
        named = [rule for rule in asked.get("rule_ids", TOPIC_RULES) if rule in decided]
        said = Said(
            decided=any(decided[rule] for rule in named), defects=[one for rule in named for one in defects[rule]]
        )
        ruled = answer(asked, said, text)
        final = said_of(
            case,
            ruled,
            found,
            text,
            topic=labels.get(case.get("topic", ""), ""),
            was_read=was_read,
        )
        done.answers.append(
            Answered(
                case=case,
                source=done.source,
                said=final,
                near=() if ruled == "fail" else near_to(case, [*found, *of_rules], text),
            )
        )


def _read_whole(source: Source, document_id: str, provider: Any, options: ModelOptions) -> Reviewed:
    from benchmarks.first_shot.handed import handed_request, read_handed
    from benchmarks.first_shot.running import Answered, items_of, topics_of
    from hub.access.principals import local_operator
    from hub.llm import client
    from hub.llm.errors import LlmInvalidAnswer
    from hub.llm.preparation import Purpose
    from knowledge.models import Document, VersionContent
    from review.judging.excerpts import plain_target

    document = Document.objects.select_related("latest_version").get(public_id=document_id)
    version = document.latest_version
    if version is None:
        raise RuntimeError(f"{source.document} has no version")
    target = plain_target(version, VersionContent.objects.get(pk=version.pk))
    topics = topics_of(source.document_type)
    wanted = {case["topic"] for case in cases_of(source) if "topic" in case}
    request = handed_request(
        target.text,
        title=target.title or source.document,
        document_type=source.document_type,
        items=items_of(source.document_type),
        topics=[topic for topic in topics if topic.code in wanted],
    )
    purpose = Purpose(name="benchmark", document_ids=[document_id])
    while True:
        provider.sent.begin()
        try:
            answer = client.ask(local_operator(), request, purpose=purpose, provider=provider)
            break
        except LlmInvalidAnswer:
            if not provider.sent.is_open:
                raise
            provider.sent.wait()
    read = read_handed(answer.data, target.text)
    done = Reviewed(source=source, spent=_spent(provider.sent.completions, options))
    found = [
        ModelDefect(
            category=one.category,
            spans=tuple((span.start, span.end) for span in one.spans),
            message=one.message,
            quotes=one.quotes,
        )
        for one in read.findings
    ]
    missing = {topic.code for topic in topics if not read.topics.get(topic.code, True)}
    labels = {topic.code: topic.label_ja for topic in topics}
    messages = {code: f"「{labels[code]}」についての記述がありません。" for code in sorted(missing - read.not_needed)}
    shown = [*found, *(ModelDefect(category="coverage", spans=(), message=message) for message in messages.values())]
    unsaid = {topic.code for topic in topics if topic.code not in read.topics}
    for case in cases_of(source):
        code = case.get("topic", "")
        if code:
            said = "undecided" if code in unsaid else "fail" if code in missing else "pass"
        else:
            said = said_of(case, "undecided", found, target.text, topic="", was_read=True)
        done.answers.append(Answered(case=case, source=source, said=said, near=near_to(case, shown, target.text)))
    lines = [
        FindingLine(
            document=source.document,
            way="handed",
            state=COUNTED,
            rule_id="",
            item="",
            category=one.category,
            severity=one.severity,
            message=one.message,
            quotes=tuple((quote, _is_in(quote, target.text)) for quote in one.quotes),
        )
        for one in read.findings
    ]
    lines += [
        FindingLine(
            document=source.document,
            way="handed",
            state=COUNTED,
            rule_id="",
            item="",
            category="coverage",
            severity="major",
            message=message,
            quotes=(),
        )
        for message in messages.values()
    ]
    done.findings = lines
    return done


def _is_in(quote: str, text: str) -> bool:
    from review.judging.reading import find_quote

    return find_quote(text, quote) is not None
