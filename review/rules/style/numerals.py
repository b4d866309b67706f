"""Numbers: digits or kanji, か月, separators, units."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.folding import normalise
from knowledge.text.numerals import read_numeral
from review.rules.style.base import Mark, Params, unit_rule
from review.rules.style.code import without_code
from review.rules.style.reading import Unit
from review.types import Severity

_KANJI_DIGITS = "一二三四五六七八九十百千"
# Counting with these, any number may stand: so it is written in digits. 一 alone is left where words are made with it.
_COUNTERS = (
    "(?:(?:回目|番目|回|か月|カ月|ヶ月|か所|カ所|ヶ所|か国|カ国|次元|進法|進数|週間|日間|年間|時間|分間|秒間|名|個|件|台|枚|冊|通|匹|頭|歳|億|円|ページ|キロ|メートル|パーセント)"
    "(?![^\\s、。]{0,1}(?:転|答|収|避|覧|岩|落着|目散|般|律|定|致|連|環|貫)))"
)
_TO_DIGITS = re.compile(
    f"(?<![{_KANJI_DIGITS}数何幾0-9万億兆〇])(?:(?P<number>[{_KANJI_DIGITS}]{{1,7}}?)(?={_COUNTERS})|(?P<thing>[二三四五六七八九])(?=つの(?!返事|星|葉)))"
)
_EXCEPTIONS = re.compile(
    "一(?:回り|通り|個人|件落着|枚岩|枚上手|匹狼|円|台)|百(?:個|名)|千(?:里|円札)|十(?:分|個)|千歳|三(?:枚目|通り)|二(?:枚目|枚貝|枚舌|名法)"
)
_TO_KANJI = (
    (
        re.compile(
            "(?<=数)(?P<it>10+|100|1000)(?=万|億|兆|倍|個|件|人|年|回|台|名|社|分|日|秒|時間|か|カ|ヶ|$|[^\\d,.])"
        ),
        None,
    ),
    (re.compile("(?<=世界)(?P<it>[1１])(?![0-9０-９.,年人回位番つ周か])"), "一"),
    (
        re.compile(
            "(?<![0-9０-９.,第])(?P<it>[1１])(?=番(?:に|の(?!り)|(?:良|よ|大|小|多|早|速|高|低|近|遠|重要|簡単|最|下|上)))"
        ),
        "一",
    ),
    (re.compile("(?<=の)(?P<it>[1１])(?=種(?!類|目|別|の))"), "一"),
    (
        re.compile(
            "(?<![0-9０-９.,第])(?P<it>[1１])(?=部(?:の|分|を|が|で|は|に)|般的|時的|定(?:の|期間|程度|量)|因|環と|貫し|律に|緒に|致し|言で|見し|旦|概に|切|瞬|覧|斉)"
        ),
        "一",
    ),
    (re.compile("(?<=第)(?P<it>[3３])(?=者)"), "三"),
    (re.compile("(?<![0-9０-９.,])(?P<it>[23２３])(?=次(?:関数|方程式|曲線|元方程式|災害|利用|創作))"), None),
    (re.compile("(?<![0-9０-９.,])(?P<it>[4４])(?=捨[5５五]入|角(?:い|形)|季)"), "四"),
    (re.compile("(?<=捨)(?P<it>[5５])(?=入)"), "五"),
    (re.compile("(?<![0-9０-９.,])(?P<it>[5５])(?=大陸|感)"), "五"),
    (re.compile("(?<=唯)(?P<it>[1１])|(?<=統)(?P<it2>[1１])(?=的|し|さ)"), "一"),
)
_KANJI_OF = {"10": "十", "100": "百", "1000": "千", "2": "二", "3": "三"}
_COUNTER_KA = re.compile(
    "(?<=[0-9０-９一二三四五六七八九十百千数何])(?P<it>[ヶヵケカ箇個]|ｹ|ｶ)(?=月(?!別)|所|国|年|条|村|店|寺|郷|町)"
)
# A comma in a list of numbers and ranges, FR-40〜42,45, parts them.
_DECIMAL_COMMA = re.compile(r"(?<![\d,.〜~\-])\d{1,3},\d{1,2}(?![\d,〜~])|(?<![\d,.])0,\d+(?![\d,])")
_GROUPED_BY_POINT = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{3}){2,}(?![\d.])")
_UNIT_SPACING = re.compile(
    r"(?<=\d)(?P<space> ?)(?:[kMGT]i?B(?:ps)?|[kMG]?bps|[kMG]Hz|ms|MB/s|GB/s|km|cm|mm|kg|mg)(?![A-Za-z])"
)


@unit_rule("style.numerals", skips_named=True)
def numerals(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark kanji numerals with counters, and digits in words that are written in kanji."""
    for match in _TO_DIGITS.finditer(unit.plain):
        number = match["number"] or match["thing"]
        if not _EXCEPTIONS.match(unit.plain, match.start()):
            yield Mark(match.start(), match.end(), str(read_numeral(number)))
    for pattern, to in _TO_KANJI:
        for match in pattern.finditer(unit.plain):
            group = "it" if match["it"] else "it2"
            digits = normalise(match[group])
            yield Mark(*match.span(group), to or _KANJI_OF.get(digits) or _myriads(digits))


@unit_rule("style.counter_ka", skips_named=True)
def counter_ka(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark other spellings of the counter か."""
    for match in _COUNTER_KA.finditer(unit.plain):
        yield Mark(*match.span("it"), "か")


@unit_rule("style.number_separators", skips_named=True)
def number_separators(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark decimal commas and grouping points, code apart."""
    for match in _DECIMAL_COMMA.finditer(without_code(unit.plain)):
        yield Mark(*match.span(), match[0].replace(",", "."))
    for match in _GROUPED_BY_POINT.finditer(unit.plain):
        yield Mark(*match.span(), match[0].replace(".", ","))


@unit_rule("style.unit_spacing", defaults={"space": ""}, by_default=False, severity=Severity.INFO)
def unit_spacing(unit: Unit, params: Params) -> Iterator[Mark]:
    """Mark unit symbols whose spacing is not the wanted one. ``space``: ``always``, ``never`` or empty (either)."""
    for match in _UNIT_SPACING.finditer(unit.plain):
        if params["space"] and bool(match["space"]) != (params["space"] == "always"):
            yield Mark(match.start() - 1, match.end())


def _myriads(digits: str) -> str:
    return {4: "千", 3: "百", 2: "十"}.get(len(digits), digits)
