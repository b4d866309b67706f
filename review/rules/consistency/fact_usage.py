"""Facts of what is used and done: versions of products, acts that are done or not done, and what a name embraces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from knowledge.text.folding import fold_compact
from knowledge.types.documents import BlockKind
from review.rules.base import shipped
from review.rules.consistency.fact_making import Fact, Facts, Statement
from review.rules.consistency.fact_names import EXAMPLE, folded_name, is_specific
from review.rules.consistency.fact_sentences import NOUNS
from review.rules.prose import Segment

_VERSION = r"(?:v|ver\.?\s?|version\s)?(?P<version>[0-9]+(?:\.[0-9]+){0,3})(?![0-9A-Za-z%])"
_BOUND = re.compile(
    r"\s?(?:(?P<min>以上|以降|以後|\+)|(?P<other>以下|未満|まで|から|[~〜/、,・]\s?v?[0-9]|または|又は|及び))"
)
_LEAST = re.compile(r"(?:>=|≧|\^|~)\s?$")
_MOVED = re.compile(
    r"から|→|へ(?:の|移行|更新|変更)|アップ|移行|旧|以前|EOL|サポート(?:終了|期限)|例|推奨|検証済|検討|候補|比較"
)
_LONGEST_ITEM, _FEWEST_ITEMS = 16, 2
_SHORTEST_ACT = 4
_DENIAL = re.compile(r"ない|ません|せず")
_LIMITED = re.compile(
    r"場合|とき|際|ただし|但し|のみ|以外|除[きくい]|原則|当面|一部|通常|必要に応じ|可能性|例外|直接|限り|うえで|しか"
)
_ITEMS = re.compile(r"、|,|及び|および|並びに|ならびに|・|と(?=[一-龯ァ-ヴ])")
_OPEN = re.compile(r"[等他]$|など|その他|ほか")
_EMBRACES = re.compile(
    rf"(?P<name>{NOUNS})(?:とは|は)、?(?P<items>[^。\n]{{3,120}}?)"
    r"(?:の(?:こと|もの)を(?:指す|いう|指します|いいます)|を(?:指す|いう|指します|いいます)|から(?:なる|成る|構成され))"
)
_LISTS = re.compile(
    r"^[ \t]*(?:[-*+・●○■□◆◇][ \t]*)?(?P<name>[^\s:：|。、]{2,20})[ \t]*[:：][ \t]*(?P<items>[^|:：。\n]{3,120})$", re.M
)


def facts_of_usage(facts: Facts) -> Iterator[Fact]:
    """Yield the versions of products, the acts that are done or not done, and the members of names."""
    yield from _versions(facts)
    yield from _acts(facts)
    yield from _members(facts)


def _versions(facts: Facts) -> Iterator[Fact]:
    """Versions of known products; a product with several versions in one place supports them all."""
    found = [
        (segment, match)
        for segment in facts.prose.segments
        if not facts.is_skipped(segment.start)
        for match in _product().finditer(facts.plain, segment.start, segment.end)
    ]
    several = {
        name
        for (_, name), group in groupby(found, key=lambda each: (each[0].start, _name(each[1])))
        if len({match["version"] for _, match in group}) > 1
    }
    for segment, match in found:
        sentence = facts.plain[segment.start : segment.end]
        bound = _BOUND.match(facts.plain, match.end(), segment.end)
        if bound and bound["other"]:
            several.add(_name(match))
        if _name(match) in several or _MOVED.search(sentence) or EXAMPLE.search(sentence):
            continue
        is_least = bool(bound) or bool(_LEAST.search(facts.plain[match.start() : match.start("version")]))
        statement = Statement(
            match["product"], match.start(), match.end(), sentence, quoted_from=match.start(), is_sentence=True
        )
        about = ("version", _name(match))
        yield facts.made(
            "version", about, statement, match["product"], match["version"], bound="min" if is_least else ""
        )


def _name(match: re.Match[str]) -> str:
    return fold_compact(match["product"])


@lru_cache(maxsize=1)
def _product() -> re.Pattern[str]:
    names = sorted(shipped("facts")["products"]["names"], key=lambda name: (-len(name), name))
    return re.compile(
        rf"(?<![A-Za-z0-9.\-_/])(?P<product>{'|'.join(map(re.escape, names))})[\s:(|]{{0,3}}(?:>=|≧|\^|~)?\s?{_VERSION}"
    )


def _acts(facts: Facts) -> Iterator[Fact]:
    """Acts that a sentence denies, and the sentences that affirm one of them."""
    segments = [
        segment
        for segment in facts.prose.segments
        if not facts.is_skipped(segment.start) and segment.kind is not BlockKind.HEADING
    ]
    denied = [
        fact
        for segment in segments
        if _DENIAL.search(facts.plain, segment.start, segment.end)
        for fact in _acts_in(facts, segment, _denied(), "no")
    ]
    yield from denied
    abouts = {fact.about for fact in denied}
    for segment in segments if abouts else ():
        yield from (fact for fact in _acts_in(facts, segment, _done(), "yes") if fact.about in abouts)


def _acts_in(facts: Facts, segment: Segment, pattern: re.Pattern[str], value: str) -> Iterator[Fact]:
    sentence = facts.plain[segment.start : segment.end]
    if _LIMITED.search(sentence) or EXAMPLE.search(sentence):
        return
    for match in pattern.finditer(sentence):
        name = folded_name(match["name"])
        if len(name) < _SHORTEST_ACT or not is_specific(name):
            continue
        code = next((code for code in _acts_by_code() if match.groupdict().get(f"a{code}")), "")
        statement = Statement(
            match["name"], segment.start, segment.end, sentence, quoted_from=segment.start, is_sentence=True
        )
        yield facts.made("act", ("act", code, name), statement, match["name"], value)


@lru_cache(maxsize=1)
def _acts_by_code() -> dict[str, str]:
    return {f"{at}": verbs for at, (code, verbs) in enumerate(shipped("facts")["acts"].items()) if code != "why"}


@lru_cache(maxsize=1)
def _denied() -> re.Pattern[str]:
    verbs = "|".join(f"(?P<a{code}>(?:{verbs}))" for code, verbs in _acts_by_code().items())
    return re.compile(
        rf"(?P<name>{NOUNS})(?:は|を)、?(?:{verbs})(?:わ|い|え|け|し|さ)?(?:ない|ません|せず)(?:。|$|こと|もの|とする|方針)"
    )


@lru_cache(maxsize=1)
def _done() -> re.Pattern[str]:
    verbs = "|".join(f"(?P<a{code}>(?:{verbs}))" for code, verbs in _acts_by_code().items())
    return re.compile(
        rf"(?P<name>{NOUNS})(?:は|を)、?(?:{verbs})(?:う|い|いる|ける|する|し|します|います|いて)(?:。|$|、|こと|もの|とする|て)"
    )


def _members(facts: Facts) -> Iterator[Fact]:
    """What a definition says that a name embraces, and what a line lists under that name."""
    defined = []
    for segment in facts.prose.segments:
        if facts.is_skipped(segment.start) or segment.kind is BlockKind.HEADING:
            continue
        for match in _EMBRACES.finditer(facts.plain, segment.start, segment.end):
            if fact := _embracing(facts, match, segment.start, segment.end, is_sentence=True):
                defined.append(fact)
    yield from defined
    names = {fact.about for fact in defined}
    if not names:
        return
    for block in facts.blocks:
        if block.kind in (BlockKind.LIST, BlockKind.PARAGRAPH):
            for match in _LISTS.finditer(facts.plain, block.start, block.end):
                fact = None if facts.is_skipped(match.start()) else _embracing(facts, match, match.start(), match.end())
                if fact and fact.about in names:
                    yield fact


def _embracing(facts: Facts, match: re.Match[str], start: int, end: int, *, is_sentence: bool = False) -> Fact | None:
    name = folded_name(match["name"])
    items = [fold_compact(item) for item in _ITEMS.split(match["items"])]
    if not is_specific(name) or len(items) < _FEWEST_ITEMS or _OPEN.search(match["items"]):
        return None
    items[0] = re.sub(r"^.*[のるた](?=[一-龯ァ-ヴ]{2})", "", items[0])
    if any(not 1 < len(item) <= _LONGEST_ITEM or re.search(r"[はがをにへで]", item) for item in items):
        return None
    statement = Statement(match["name"], start, end, "", quoted_from=start, is_sentence=is_sentence)
    return facts.made("members", ("members", name), statement, match["name"], "、".join(sorted(set(items))))
