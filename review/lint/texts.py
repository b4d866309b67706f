"""The text rules as a service: findings on a text that is given, and nothing is stored."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.turns import Turns
from hub.core.errors import InvalidInput, LimitExceeded, Unavailable
from hub.core.per_process import PerProcess
from knowledge.parsers import ParseError, ParseLimits
from knowledge.parsers.process.isolation import HostLost, run_isolated
from review.lint.linting import judge_text, read_answer, write_question
from review.lint.text_rules import choose_rules
from review.rules.style import Use
from review.types import LintResult

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
