"""What a curator should look at before a check item is approved. Pure: rules are known by their registry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hub.core.texts import Text
from review.masters.content import ItemContent
from review.rules.content.criteria import rules_of
from review.rules.content.curated_patterns import pattern_problem
from review.rules.registry import UnknownRuleError, get_rule

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
    """Return the remarks on all items of a list, in its order. An overlap is told at the later item."""
    return tuple(remark for at, item in enumerate(items) for remark in lint_item(item, items[:at]))


def _remark(item: ItemContent, code: str, field: str, weight: Weight, ja: str, en: str) -> Remark:
    return Remark(item=item.code, code=code, field=field, weight=weight, message=Text(ja=ja, en=en))


def _texts(item: ItemContent) -> Iterator[Remark]:
    for field in ("name_ja", "name_en", "description_ja"):
        if not getattr(item, field).strip():
            weight = Weight.ERROR if field == "name_ja" else Weight.WARNING
            yield _remark(item, "empty_text", field, weight, "記入されていません。", "It is empty.")
    vague = _VAGUE.search(_QUOTED.sub("", item.description_ja))
    if vague:
        yield _remark(
            item,
            "ambiguous",
            "description_ja",
            Weight.WARNING,
            f"「{vague[0]}」は読む人によって判定が変わります。満たす条件を書きます。",
            f"“{vague[0]}” can be read in several ways: state the condition to be met.",
        )
    if not item.guideline_reference.strip():
        yield _remark(
            item,
            "no_guideline",
            "guideline_reference",
            Weight.WARNING,
            "根拠となるガイドラインがありません。",
            "It names no guideline.",
        )


def _judging(item: ItemContent) -> Iterator[Remark]:
    prompt = str(item.criteria.get("prompt") or "").strip()
    if not rules_of(item.criteria) and not prompt:
        yield _remark(
            item,
            "untestable",
            "criteria.rules",
            Weight.ERROR,
            "規則も必須要素・パターン・用語も指示文もなく、判定できません。",
            "It has no rules, elements, patterns, terms or prompt: nothing can decide it.",
        )
    for field in ("rubric", "expected_format"):
        if prompt and not item.criteria.get(field):
            yield _remark(
                item,
                "incomplete_prompt",
                f"criteria.{field}",
                Weight.WARNING,
                "言語モデル用の指示文には判定基準と回答形式も必要です。",
                "A prompt needs a rubric and an expected format.",
            )


def _rules(item: ItemContent) -> Iterator[Remark]:
    for entry in item.criteria.get("rules") or ():
        rule_id = str(entry.get("rule_id", ""))
        try:
            known = get_rule(rule_id)
        except UnknownRuleError:
            yield _remark(
                item,
                "unknown_rule",
                "criteria.rules",
                Weight.ERROR,
                f"規則「{rule_id}」は登録されていません。",
                f"There is no rule “{rule_id}”.",
            )
            continue
        if unknown := sorted(set(entry.get("params") or {}) - set(known.defaults) - COMMON_PARAMS):
            names = ", ".join(unknown)
            yield _remark(
                item,
                "unknown_param",
                "criteria.rules",
                Weight.ERROR,
                f"規則「{rule_id}」にパラメータ {names} はありません"
                f"（あるもの: {', '.join(known.defaults) or 'なし'}）。",
                f"The rule “{rule_id}” has no parameter {names} (known: {', '.join(known.defaults) or 'none'}).",
            )


def _patterns(item: ItemContent) -> Iterator[Remark]:
    seen: dict[str, str] = {}
    for field, pattern, wanted in _all_patterns(item.criteria):
        if problem := pattern_problem(pattern):
            yield _remark(
                item, "bad_pattern", field, Weight.ERROR, f"{pattern}: {problem.ja}", f"{pattern}: {problem.en}"
            )
        elif "\\n" in pattern or "\n" in pattern:
            yield _remark(
                item,
                "unreachable_pattern",
                field,
                Weight.ERROR,
                f"{pattern}: 行ごとに調べるため、改行を含むパターンは一致しません。",
                f"{pattern}: text is searched line by line, a pattern with a line break never matches.",
            )
        elif seen.get(pattern, wanted) != wanted:
            yield _remark(
                item,
                "contradicting_pattern",
                field,
                Weight.ERROR,
                f"{pattern}: 必須と禁止の両方に指定されています。",
                f"{pattern}: it is both required and forbidden.",
            )
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
            yield _remark(
                item,
                "contradicting_term",
                "criteria.terms",
                Weight.ERROR,
                f"「{entry['use']}」は使う語と避ける語の両方にあります。",
                f"“{entry['use']}” is both the word to use and a word to avoid.",
            )


def _overlaps(item: ItemContent, others: Sequence[ItemContent]) -> Iterator[Remark]:
    own = {_signature(entry): str(entry["rule_id"]) for entry in rules_of(item.criteria) if "rule_id" in entry}
    for other in others:
        if other.code == item.code:
            continue
        shared = [own[each] for entry in rules_of(other.criteria) if (each := _signature(entry)) in own]
        if shared:
            yield _remark(
                item,
                "overlapping",
                "criteria.rules",
                Weight.WARNING,
                f"{other.code} も同じ規則を使うため、同じ指摘が二重に出ます: {', '.join(shared)}",
                f"{other.code} uses the same rules, so the same defects are told twice: {', '.join(shared)}",
            )
        elif item.name_ja and other.name_ja == item.name_ja:
            yield _remark(
                item,
                "overlapping",
                "name_ja",
                Weight.WARNING,
                f"{other.code} と同じ名称です。",
                f"{other.code} has the same name.",
            )


def _signature(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("rule_id")), repr(sorted((entry.get("params") or {}).items()))
