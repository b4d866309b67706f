"""What of a document a model gets to see for a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knowledge.answering import speaks_to_a_model
from knowledge.ingest.content import blocks_of, sections_of
from knowledge.models import Chunk, DocumentVersion, VersionContent
from knowledge.search import RankedChunks, chunks_of, rank_within
from knowledge.text.structure import line_span
from review.judging.overview import bodies_of
from review.judging.types import CheckTask, Consultation, Material, Passage
from review.judging.unseen import WITHHELD, unseen_in
from review.rules.base import RuleCrash, UnknownRuleError, run_rule
from review.rules.prompt_injection import reads_as_instruction
from review.types import Consulted, RuleInput, Span

INJECTION_RULE = "security.prompt_injection"
# A section without chunks (the index is gone) is shown in pieces of this many characters.
PIECE = 1500


def find_material(version: DocumentVersion, target: RuleInput, task: CheckTask, planted: tuple[Span, ...]) -> Material:
    """Rank the version's own passages for a check. The same index gives the same order.

    :raises django.db.Error: they can't be read.
    """
    ranked = rank_within(version, question_of(task))
    sources = (*[Consulted.VECTOR] * ranked.by_meaning, *[Consulted.LEXICAL] * ranked.by_words)
    return _material(target, ranked.chunks, planted, ranked=ranked, sources=sources)


def material_by_sections(
    version: DocumentVersion, target: RuleInput, planted: tuple[Span, ...], sections: Sequence[tuple[int, int]]
) -> Material:
    """The version's own passages without a search: those of some sections first, then the others, in its order."""
    chunks = chunks_of(version)

    def is_elsewhere(chunk: Chunk) -> bool:
        return not any(start < chunk.end_offset and chunk.start_offset < end for start, end in sections)

    return _material(target, sorted(chunks, key=is_elsewhere), planted)


def _material(
    target: RuleInput,
    chunks: Sequence[Chunk],
    planted: tuple[Span, ...],
    *,
    ranked: RankedChunks | None = None,
    sources: tuple[Consulted, ...] = (),
) -> Material:
    passages = tuple(
        Passage(
            chunk_id=chunk.public_id,
            start=chunk.start_offset,
            end=chunk.end_offset,
            section_path=tuple(harmless(title) for title in chunk.section_path),
            ocr=chunk.ocr_confidence,
        )
        for chunk in chunks
    )
    return Material(
        text=target.text,
        ranked=passages or _pieces(target),
        is_ranked=ranked is None or ranked.is_ranked,
        bodies=harmless_bodies(target),
        planted=planted,
        unseen=unseen_in(target.text),
        notices=ranked.notices if ranked else (),
        consultation=Consultation(consulted=sources),
    )


def harmless_bodies(target: RuleInput) -> tuple[Passage, ...]:
    """The whole document, section by section, under titles that a model may see."""
    return tuple(
        replace(body, section_path=tuple(map(harmless, body.section_path)))
        for body in bodies_of(target.text, target.sections)
    )


def plain_target(version: DocumentVersion, content: VersionContent) -> RuleInput:
    """What a model needs to know of a document, without what only rules look at."""
    return RuleInput(
        text=content.markdown,
        title=content.title,
        document_type=version.document.document_type_id or "other",
        sections=sections_of(content),
        blocks=blocks_of(content),
        document_name=version.filename,
    )


def question_of(task: CheckTask) -> str:
    """What to look for: the check's own words."""
    return "\n".join(
        part for part in (task.name, task.description, task.prompt, " ".join(task.required_elements)) if part
    )


def planted_in(target: RuleInput) -> tuple[Span, ...]:
    """Find the stretches of a document that speak to a model, by the rule for it where there is one."""
    try:
        outcome = run_rule(INJECTION_RULE, target, {})
    except UnknownRuleError:
        return _planted_lines(target.text)
    if isinstance(outcome, RuleCrash):
        return _planted_lines(target.text)
    found = [_whole_lines(target.text, span) for finding in outcome.findings for span in finding.evidence]
    return tuple(dict.fromkeys((*found, *_planted_lines(target.text))))


def harmless(title: str) -> str:
    """A title or heading as a model may see it beside the passages."""
    return WITHHELD if speaks(title) else title


def named_to_model(target: RuleInput) -> str:
    """Return what a model is given as a document's name: title or file name, and type."""
    return f"{harmless(target.title or target.document_name)} ({target.document_type})"


def speaks(text: str) -> bool:
    """Tell whether a text reads like an instruction to a model, by all that the hub knows of them."""
    return speaks_to_a_model(text) or reads_as_instruction(text)


def _whole_lines(text: str, span: Span) -> Span:
    """What is around an instruction in its line belongs to it."""
    start, end = line_span(text, span.start, max(span.end - 1, 0))
    return Span(start=start, end=end)


def _planted_lines(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if speaks_to_a_model(line):
            spans.append(Span(start=start, end=start + len(line.rstrip("\n"))))
        start += len(line)
    return tuple(spans)


def _pieces(target: RuleInput) -> tuple[Passage, ...]:
    stretches = [(section.start, section.body_end, section.path) for section in target.sections]
    if not stretches or stretches[0][0] > 0:
        stretches.insert(0, (0, stretches[0][0] if stretches else len(target.text), ()))
    return tuple(
        Passage(chunk_id="", start=start, end=min(start + PIECE, end), section_path=tuple(map(harmless, path)))
        for begin, end, path in stretches
        for start in range(begin, end, PIECE)
    )
