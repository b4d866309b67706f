"""The text rules as a service: findings on a text that is given, and nothing is stored."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.turns import Turns
from hub.core.errors import InvalidInput, LimitExceeded, Unavailable
from hub.core.per_process import PerProcess
from knowledge.parsers import ParseError, ParseLimits
from knowledge.parsers.process.isolation import HostLost, run_isolated
from knowledge.text.folding import fold_compact
from review.lint.linting import judge_text, read_answer, write_question
from review.rules import list_rules
from review.rules.base import Rule
from review.rules.style import ALIASES, Use, aliases_of, style_rules
from review.types import LintResult, RuleFacts

TEXT_TAG = "text"
_NEAR_MATCHES = 3


def describe_rules(principal: Principal) -> tuple[RuleFacts, ...]:
    """All rules of the reviewer, by id."""
    principal.require(Scope.READ)
    return tuple(_facts(found) for found in list_rules())


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
    near = [
        known[each] for each in difflib.get_close_matches(fold_compact(name), list(known), n=_NEAR_MATCHES, cutoff=0.5)
    ]
    if near:
        return InvalidInput(
            _('There is no text rule "{given}". Did you mean {near}?'),
            code="unknown_rule",
            given=name,
            near=", ".join(near),
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


def _facts(found: Rule) -> RuleFacts:
    is_text_rule = TEXT_TAG in found.tags
    return RuleFacts(
        id=found.id,
        title=found.title,
        looks_at=found.looks_at,
        tags=found.tags,
        defaults=found.defaults,
        aliases=aliases_of(found.id),
        is_text_rule=is_text_rule,
        by_default=is_text_rule and _runs_by_default(found),
    )


def _runs_by_default(found: Rule) -> bool:
    style = style_rules().get(found.id)
    return style.by_default if style else True


# Longer texts are documents: a review takes them in, shows progress and keeps the result.
MAX_CHARACTERS = 200_000
MAX_RULES = 200
# Read at once, in a few hundredths of a second; longer texts wait for a process and leave this one to other calls.
SHORT_CHARACTERS = 5_000
LIMITS = ParseLimits(wall_s=120.0, cpu_s=60.0, memory_bytes=1024 * 1024 * 1024)
# Long texts that one process has judged at a time.
MOST_AT_ONCE = 2
_turns = PerProcess(lambda: Turns(most=MOST_AT_ONCE, most_waiting=0, wait_s=5.0))


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
        with tempfile.TemporaryDirectory(prefix="hub-lint-") as folder:
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
