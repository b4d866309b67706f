"""What a curator should look at before a check item is approved. Pure: rules are known by their registry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from hub.core.texts import Text
from review.masters.content import ItemContent
from review.rules.base import UnknownRuleError, get_rule, shipped
from review.rules.content.curated import rules_of
from review.rules.content.curated_patterns import pattern_problem

# Any style rule takes it: the number of places from which it speaks.
COMMON_PARAMS = frozenset({"at_least", "severity"})
_VAGUE = re.compile(r"適切|適宜|必要に応じ|十分[なにで]|可能な限り|できるだけ|極力|おおむね|概ね|なるべく|望ましい")
# A description may name the very words that it forbids.
_QUOTED = re.compile(r"（[^（）]*）|\([^()]*\)|「[^「」]*」|『[^『』]*』")
RULES, MODEL = "rules", "llm"


class Weight(StrEnum):
    """An error keeps a version from being approved, a warning asks for a second look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing about an item. ``code`` is stable, ``field`` names what to change.

    ``decided_by`` is RULES, or MODEL for a remark of a language model, which names itself and a ``rewording``.
    """

    item: str
    code: str
    field: str
    weight: Weight
    message: Text
    decided_by: str = RULES
    model: str = ""
    rewording: str = ""


def lint_item(item: ItemContent, others: Sequence[ItemContent] = ()) -> tuple[Remark, ...]:
    """Return the remarks on an item, errors first; ``others`` are the items beside it in its check list."""
    found = (
        *_texts(item),
        *_judging(item),
        *_rules(item),
        *_patterns(item),
        *_terms(item),
        *_overlaps(item, others),
    )
    return tuple(sorted(found, key=lambda remark: remark.weight is Weight.WARNING))


def lint_master(items: Sequence[ItemContent]) -> tuple[Remark, ...]:
    """Return the remarks on all items of a list, in its order. An overlap is reported at the later item."""
    return tuple(remark for at, item in enumerate(items) for remark in lint_item(item, items[:at]))


_REMARKS = shipped("item_remarks")


def _remark(item: ItemContent, kind: str, field: str, **values: str) -> Remark:
    said = _REMARKS[kind]
    message = Text(ja=said["ja"].format(**values), en=said["en"].format(**values))
    code = "overlapping" if kind == "same_name" else kind
    return Remark(item=item.code, code=code, field=field, weight=Weight(said["weight"]), message=message)


def _texts(item: ItemContent) -> Iterator[Remark]:
    for field in ("name_ja", "name_en", "description_ja"):
        if not getattr(item, field).strip():
            remark = _remark(item, "empty_text", field)
            yield replace(remark, weight=Weight.ERROR) if field == "name_ja" else remark
    if vague := _VAGUE.search(_QUOTED.sub("", item.description_ja)):
        yield _remark(item, "ambiguous", "description_ja", word=vague[0])
    if not item.guideline_reference.strip():
        yield _remark(item, "no_guideline", "guideline_reference")


def _judging(item: ItemContent) -> Iterator[Remark]:
    prompt = str(item.criteria.get("prompt") or "").strip()
    if not rules_of(item.criteria) and not prompt:
        yield _remark(item, "untestable", "criteria.rules")
    for field in ("rubric", "expected_format"):
        if prompt and not item.criteria.get(field):
            yield _remark(item, "incomplete_prompt", f"criteria.{field}")


def _rules(item: ItemContent) -> Iterator[Remark]:
    for entry in item.criteria.get("rules") or ():
        rule_id = str(entry.get("rule_id", ""))
        try:
            known = get_rule(rule_id).defaults
        except UnknownRuleError:
            yield _remark(item, "unknown_rule", "criteria.rules", rule=rule_id)
            continue
        if unknown := sorted(set(entry.get("params") or {}) - set(known) - COMMON_PARAMS):
            names, listed = ", ".join(unknown), ", ".join(known)
            described = {"known_ja": listed or "なし", "known_en": listed or "none"}
            yield _remark(item, "unknown_param", "criteria.rules", rule=rule_id, names=names, **described)


def _patterns(item: ItemContent) -> Iterator[Remark]:
    seen: dict[str, str] = {}
    for field, pattern, wanted in _all_patterns(item.criteria):
        if problem := pattern_problem(pattern):
            yield _remark(item, "bad_pattern", field, pattern=pattern, ja=problem.ja, en=problem.en)
        elif "\\n" in pattern or "\n" in pattern:
            yield _remark(item, "unreachable_pattern", field, pattern=pattern)
        elif seen.get(pattern, wanted) != wanted:
            yield _remark(item, "contradicting_pattern", field, pattern=pattern)
        seen.setdefault(pattern, wanted)


def _all_patterns(criteria: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each pattern with its field and what is wanted of it."""
    for entry in rules_of(criteria):
        params = entry.get("params") or {}
        wanted = "forbidden" if entry.get("rule_id") == "pattern.forbidden" else "required"
        yield from (("criteria.rules", title, "section") for title in params.get("sections") or ())
        for each in (*(params.get("elements") or ()), *(params.get("patterns") or ())):
            field = "criteria.required_elements" if "elements" in params else "criteria.patterns"
            if isinstance(each, str):
                if "patterns" in params:
                    yield field, each, wanted
                continue
            yield from ((field, title, "section") for title in each.get("sections") or ())
            patterns = each.get("patterns") or ([each["pattern"]] if each.get("pattern") else [])
            yield from ((field, pattern, wanted) for pattern in patterns)


def _terms(item: ItemContent) -> Iterator[Remark]:
    for entry in item.criteria.get("terms") or ():
        if entry["use"] in entry["avoid"]:
            yield _remark(item, "contradicting_term", "criteria.terms", word=entry["use"])


def _overlaps(item: ItemContent, others: Sequence[ItemContent]) -> Iterator[Remark]:
    own = {_signature(entry): str(entry["rule_id"]) for entry in rules_of(item.criteria) if "rule_id" in entry}
    for other in others:
        if other.code == item.code:
            continue
        shared = [own[each] for entry in rules_of(other.criteria) if (each := _signature(entry)) in own]
        if shared:
            yield _remark(item, "overlapping", "criteria.rules", other=other.code, rules=", ".join(shared))
        elif item.name_ja and other.name_ja == item.name_ja:
            yield _remark(item, "same_name", "name_ja", other=other.code)


def _signature(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("rule_id")), repr(sorted((entry.get("params") or {}).items()))
