"""The rules by all their names, and which of them a caller's list means."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import InvalidInput
from knowledge.text.folding import fold_compact
from review.rules import list_rules
from review.rules.base import Rule
from review.rules.style import ALIASES, Use, aliases_of, style_rules
from review.types import RuleFacts

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
