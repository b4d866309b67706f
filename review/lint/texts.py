"""The text rules as a service: findings on a text that is given, and nothing is stored."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from hub.access.principals import Principal, Scope
from hub.access.turns import Turns
from hub.core.errors import InvalidInput, LimitExceeded, Unavailable
from hub.core.languages import in_language, shown
from hub.core.processes import PerProcess
from hub.core.shapes import filled
from hub.core.temporary import temp_dir
from knowledge.parsers import ParseError, ParseLimits
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.text.folding import fold_compact
from knowledge.text.structure import line_range, section_at
from review.lint.linting import judge_text, read_answer, write_question
from review.rules import Rule, list_rules
from review.rules.style import ALIASES, Use, aliases_of, style_rules
from review.types import LintFinding, LintResult, Span

TEXT_TAG = "text"
_NEAR_MATCHES = 3
# Longer texts are documents: a review takes them in, shows progress and keeps the result.
MAX_CHARACTERS = 200_000
MAX_RULES = 200
# Read at once, in a few hundredths of a second; longer texts wait for a process and leave this one to other calls.
SHORT_CHARACTERS = 5_000
LIMITS = ParseLimits(wall_s=120.0, cpu_s=60.0, memory_bytes=1024 * 1024 * 1024)
# Long texts that one process has judged at a time.
MOST_AT_ONCE = 2
_turns = PerProcess(lambda: Turns(most=MOST_AT_ONCE, most_waiting=0, wait_s=5.0))


class LintLocationOut(BaseModel):
    section_path: list[str]
    line_range: list[int] = Field(description="first and last line, from 1, inclusive")
    column: int = Field(description="column of the first character in its line, from 1")
    start_offset: int
    end_offset: int


class LintEvidenceOut(BaseModel):
    quote: str
    start_offset: int
    end_offset: int
    verified: bool = Field(description="the quote stands in the given text at these offsets")


class LintSuggestionOut(BaseModel):
    content: str
    replacement: str | None = Field(description="put this in place of the location's characters; null: reword it")


class LintFindingOut(BaseModel):
    rule_id: str
    severity: str
    message: str
    location: LintLocationOut | None
    evidence: list[LintEvidenceOut]
    suggestion: LintSuggestionOut | None
    data: dict[str, Any]


class LintOut(BaseModel):
    """Findings on the given text. Offsets count its Unicode code points, ``[start_offset, end_offset)``."""

    findings: list[LintFindingOut]
    total_findings: int
    rules: list[str] = Field(description="the rules that ran")
    characters: int
    notices: list[dict[str, str]]


class NameOut(BaseModel):
    ja: str
    en: str


class RuleOut(BaseModel):
    id: str
    title: NameOut
    looks_at: NameOut
    applies_to: str = Field(description="text: POST /lint and reviews; document: reviews only")
    by_default: bool = Field(description="runs in POST /lint when no rules are named")
    tags: list[str]
    defaults: dict[str, Any]
    aliases: list[str] = Field(description="the same meaning in other rule sets")


class RulesOut(BaseModel):
    rules: list[RuleOut]
    total: int


def lint_out(result: LintResult) -> LintOut:
    return LintOut(
        findings=[_finding_out(finding, result) for finding in result.findings],
        total_findings=len(result.findings),
        rules=list(result.rules),
        characters=len(result.text),
        notices=[notice.as_dict() for notice in result.notices],
    )


def _finding_out(finding: LintFinding, result: LintResult) -> LintFindingOut:
    return filled(
        LintFindingOut,
        finding,
        message=shown(finding.message),
        location=_location(finding.spans[0], result) if finding.spans else None,
        evidence=[
            LintEvidenceOut(
                quote=result.text[span.start : span.end], start_offset=span.start, end_offset=span.end, verified=True
            )
            for span in finding.spans
        ],
        suggestion=_suggestion(finding, result.text),
        data=dict(finding.data),
    )


def _location(span: Span, result: LintResult) -> LintLocationOut:
    section = section_at(result.sections, span.start)
    return LintLocationOut(
        section_path=list(section.path) if section else [],
        line_range=list(line_range(result.text, span.start, span.end)),
        column=span.start - result.text.rfind("\n", 0, span.start),
        start_offset=span.start,
        end_offset=span.end,
    )


def _suggestion(finding: LintFinding, text: str) -> LintSuggestionOut | None:
    if finding.replacement is not None:
        span = finding.spans[0]
        found, to = text[span.start : span.end], finding.replacement
        put = in_language(f"「{found}」を「{to}」に置き換えます。", f"Replace “{found}” by “{to}”.")
        remove = in_language(f"「{found}」を取り除きます。", f"Remove “{found}”.")
        return LintSuggestionOut(content=put if to else remove, replacement=to)
    if finding.advice is not None:
        return LintSuggestionOut(content=shown(finding.advice), replacement=None)
    return None


def describe_rules(principal: Principal) -> RulesOut:
    """All rules of the reviewer, by id."""
    principal.require(Scope.READ)
    rules = [
        filled(
            RuleOut,
            found,
            applies_to=TEXT_TAG if TEXT_TAG in found.tags else "document",
            by_default=TEXT_TAG in found.tags and _runs_by_default(found),
            defaults=dict(found.defaults),
            aliases=aliases_of(found.id),
        )
        for found in list_rules()
    ]
    return RulesOut(rules=rules, total=len(rules))


def choose_rules(names: Sequence[str]) -> tuple[Use, ...]:
    """Tell which rules ``names`` mean: ids, prefixes such as ``style.*``, aliases; all defaults when there are none.

    Each rule with the same parameters is given once, in the order asked for.

    :raises InvalidInput: a name is unknown (near ones are named), or its rule needs a whole document.
    """
    if not names:
        return tuple(Use(rule_id=found.id) for found in list_rules(tag=TEXT_TAG) if _runs_by_default(found))
    chosen: list[Use] = []
    for name in names:
        chosen.extend(use for use in _meant(name.strip()) if use not in chosen)
    return tuple(chosen)


def _meant(name: str) -> Iterator[Use]:
    texts = {found.id for found in list_rules(tag=TEXT_TAG)}
    prefix = name.removesuffix("*")
    if name in texts:
        yield Use(rule_id=name)
    elif below := [each for each in sorted(texts) if name.endswith("*") and each.startswith(prefix)]:
        yield from (Use(rule_id=each) for each in below)
    elif (uses := _aliases().get(fold_compact(name))) is not None:
        yield from uses
    elif name in {found.id for found in list_rules()}:
        raise InvalidInput(
            _('The rule "{given}" needs a whole document: start a review. Rules that judge a text: {known}.'),
            code="rule_needs_document",
            given=name,
            known=_families(texts),
        )
    else:
        raise _unknown(name, texts)


def _unknown(name: str, texts: set[str]) -> InvalidInput:
    known = {fold_compact(each): each for each in (*sorted(ALIASES), *sorted(texts))}
    near = difflib.get_close_matches(fold_compact(name), list(known), n=_NEAR_MATCHES, cutoff=0.5)
    if near:
        return InvalidInput(
            _('There is no text rule "{given}". Did you mean {near}?'),
            code="unknown_rule",
            given=name,
            near=", ".join(known[each] for each in near),
        )
    return InvalidInput(
        _('There is no text rule "{given}". Those that there are: {known}.'),
        code="unknown_rule",
        given=name,
        known=_families(texts),
    )


def _families(rule_ids: set[str]) -> str:
    """Name rules by what their ids begin with, as a caller may name them: ``style.*, wording.*``."""
    return ", ".join(sorted({f"{rule_id.partition('.')[0]}.*" for rule_id in rule_ids}))


@lru_cache(maxsize=1)
def _aliases() -> dict[str, tuple[Use, ...]]:
    """By folded name: presets spell their rules in several ways, which differ in case, width or spaces."""
    return {fold_compact(alias): uses for alias, uses in ALIASES.items()}


def _runs_by_default(found: Rule) -> bool:
    style = style_rules().get(found.id)
    return style.by_default if style else True


class TextFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"


def lint_text(
    *, principal: Principal, text: str, rules: Sequence[str] = (), text_format: str = TextFormat.MARKDOWN
) -> LintResult:
    """Judge a text by the text rules; nothing is stored.

    ``rules`` are ids, prefixes (``style.*``) or aliases (``textlint:…``), all defaults when empty. Offsets count code
    points of ``text``.

    :raises InvalidInput: an unknown rule or format. :raises LimitExceeded: more than ``MAX_CHARACTERS``, or
    it takes longer than LIMITS. :raises TooManyAtOnce: a long text of the caller is being judged.
    :raises Unavailable: too many long texts of others are.
    """
    principal.require(Scope.READ)
    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(
            _("The text has {given} characters; the limit is {limit}. Upload it as a document and review it instead."),
            code="text_too_long",
            given=len(text),
            limit=MAX_CHARACTERS,
        )
    if len(rules) > MAX_RULES:
        raise LimitExceeded(_("More than {limit} rules were named."), code="too_many_rules", limit=MAX_RULES)
    uses = choose_rules(rules)
    is_markdown = _format(text_format) is TextFormat.MARKDOWN
    if len(text) <= SHORT_CHARACTERS:
        return judge_text(text, uses, is_markdown=is_markdown)
    with _turns.get().taken_by(principal):
        return _judge_apart(text, uses, is_markdown=is_markdown)


def _judge_apart(text: str, uses: Sequence[Use], *, is_markdown: bool) -> LintResult:
    try:
        with tempfile.TemporaryDirectory(prefix="hub-lint-", dir=temp_dir()) as folder:
            path = Path(folder, "question.json")
            write_question(path, text, uses, is_markdown=is_markdown)
            return run_isolated("review.lint.linting:answer", path, read_answer, filename=path.name, limits=LIMITS)
    except HostLost as lost:
        raise Unavailable(_("The process that reads long texts was ended. Ask again."), code="text_not_read") from lost
    except ParseError as error:
        if error.code in ("timeout", "out_of_memory", "output_too_large"):
            raise LimitExceeded(
                _("The rules take too long over this text, or too much memory. Shorten it, or name fewer rules."),
                code="text_too_costly",
            ) from error
        raise


def _format(name: str) -> TextFormat:
    try:
        return TextFormat(name)
    except ValueError:
        raise InvalidInput(
            _('"{given}" is no format: use markdown or text.'), code="unknown_format", given=name
        ) from None
