"""What a sentence has that may be the answer to a question of some kind: numbers, times, names, reasons. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sudachipy import SplitMode

from knowledge.answering.asked import AskedThing, Wanted, kind_asked_outright
from knowledge.text.folding import fold_terms, normalise
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.numerals import NUMERAL

_COUNT = r"(?:\d+(?:[.,]\d+)*|[〇一二三四五六七八九十百千数]+)[十百千万億兆]*"
_NUMBER = re.compile(
    r"\d+(?:[.,:/-]\d+)*|[〇一二三四五六七八九十百千万億兆]{2,}"
    r"|[〇一二三四五六七八九十百千数](?=[人名年月日回個つ台件本枚か冊度点倍位種])"
)
# A number with what stands behind it: 5回 is another one than 5分.
_COUNTED = re.compile(r"\d+(?:[.,:/-]\d+)*\s?[^\W\d]{0,3}")
_EN_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundreds?|thousands?"
    "|millions?|billions?|half|dozens?|once|twice"
)
_EN_NUMBER = re.compile(rf"\b(?:{_EN_WORDS})\b")
# Units that stand for each other, or for what has no unit of its own.
_ALIKE: Mapping[str, str] = {
    "人": "[人名]", "名": "[人名]", "人中": "[人名]", "パーセント": "(?:%|パーセント|割)", "%": "(?:%|パーセント|割)",
    "割": "(?:割|%|パーセント)", "か所": "(?:[かヶカ箇]?所)", "ヶ所": "(?:[かヶカ箇]?所)",
    "箇所": "(?:[かヶカ箇]?所)", "か月": "(?:[かヶカケ箇]月|月間)", "ヶ月": "(?:[かヶカケ箇]月|月間)",
    "カ月": "(?:[かヶカケ箇]月|月間)", "か国": "[かヶカ箇]?国", "ヶ国": "[かヶカ箇]?国", "カ国": "[かヶカ箇]?国",
    "時間": "(?:時間|分)", "分": "(?:分|時間|秒)", "秒": "(?:秒|ミリ秒|ms)", "日間": "日",
    "つ": "(?:つ|個|種|点|件|本|人|名|か所)?", "個": "(?:個|つ|件)", "回": "(?:回|度)", "度": "[度回]",
    "歳": "[歳才]", "才": "[歳才]", "円": "円", "キロ": "(?:キロ|km|kg)", "倍": "倍", "位": "位",
}  # fmt: skip
_DATE = re.compile(
    r"\d\s*(?:年|世紀|年代|月|日(?!本))|[一二三四五六七八九十元]年|\d{1,4}[/-]\d{1,2}|(?:同|翌|前|当|毎)[年月日週]|\d:\d\d"
    r"|(?:午[前後]|\d)\s*\d{0,4}時(?!間)|時代|戦[前後中]|初頭|末期|[上中下]旬|\b(?:1\d{3}|20\d\d)s?\b|\b(?:january|february|march|april|may"
    r"|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\bcentury\b|以内|までに|前に|後に|時点"
)
_DURATION = re.compile(
    r"\d\s*(?:時間|分|秒|日|週間|か月|ヶ月|カ月|ケ月|箇月|年間?|世代|ミリ秒)|永[年久]"
    r"|\d\s*(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?)\b"
)
_MONEY = re.compile(
    r"\d[\d,. 万億千百]{0,30}(?:円|ドル|ユーロ|ポンド|元)|[$€£¥]\s*\d|\d\s*(?:dollars|euros|pounds|yen)\b"
)
_PERCENT = re.compile(r"\d\s*(?:%|パーセント|割|percent)")
_REASON = re.compile(
    r"ため|から[、。]|からで|ので|理由|原因|により|によって|よって|目的|背景|because|due to|since\b|in order to|so that"
    r"|\bas a result|\bto [a-z]+|reason|cause"
)
_WAY = re.compile(
    r"により|によって|を用い|を使|で行|方法|手順|して|し、|ことで|\bby\b|\busing\b|\bthrough\b|\bwith\b|\bvia\b"
)
_DEFINES = re.compile(r"(?:をいう|を指す|を意味する|のこと|である|です|とは|means|stands for|refers to|is an?|are )")
_QUOTED = re.compile(r"[「『《\"“]([^「」『』《》\"“”]{1,60})[」』》\"”]")
_KATAKANA = re.compile(r"[ァ-ヴー・]{2,}")
_LATIN = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z0-9.&'-]*")
_KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]{2,}")
_ORGANISATION = re.compile(
    r"[社省庁局部課院会団党隊軍所館校学]|会社|大学|協会|委員会|チーム|クラブ|連盟|機構|事業者|ベンダ|\b(?:Inc|Corp|Company|University"
    r"|Institute|Association|Agency|Department|League|Party|Group|Society|Committee|Council)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Which values a sentence has that the question lacks; ``fits`` is how far one is of the asked kind, 0 to 1."""

    numbers: int
    has_unit: bool
    has_date: bool
    has_duration: bool
    has_money: bool
    has_percent: bool
    people: int
    places: int
    names: int
    quoted: int
    katakana: int
    latin: int
    kanji: int
    has_reason: bool
    has_way: bool
    defines: bool
    is_organisation: bool
    fits: float


def values_of(text: str, question: str, asked: AskedThing) -> Values:
    """Tell what a sentence has beside what the question has already; both as they are written."""
    folded, known = fold_terms(text), fold_terms(question)
    numbers = {one for one in _NUMBER.findall(folded) if one not in known} | set(_EN_NUMBER.findall(folded)) - set(
        _EN_NUMBER.findall(known)
    )
    without = folded
    for one in set(_NUMBER.findall(known)):
        without = without.replace(one, " ")
    unit = asked.unit
    has_unit = bool(unit) and re.search(rf"{_COUNT}\s*余?り?{_ALIKE.get(unit, re.escape(unit))}", without) is not None
    people, places, names = _proper_names(text, known)
    facts = {
        "has_date": _DATE.search(without) is not None,
        "has_duration": _DURATION.search(without) is not None,
        "has_money": _MONEY.search(without) is not None,
        "has_percent": _PERCENT.search(without) is not None,
        "has_reason": _REASON.search(folded) is not None,
        "has_way": _WAY.search(folded) is not None,
        "defines": _DEFINES.search(folded) is not None,
        "is_organisation": _ORGANISATION.search(text) is not None,
    }
    latin = [one for one in _LATIN.findall(normalise(text)[1:]) if fold_terms(one) not in known]
    counts = {
        "quoted": sum(fold_terms(one) not in known for one in _QUOTED.findall(text)),
        "katakana": sum(one not in known for one in _KATAKANA.findall(folded)),
        "latin": len(latin),
        "kanji": sum(one not in known for one in _KANJI.findall(folded)),
    }
    fits = _fit(
        asked, numbers=len(numbers), has_unit=has_unit, people=people, places=places, names=names, **facts, **counts
    )
    return Values(
        numbers=min(len(numbers), 5),
        has_unit=has_unit,
        people=min(people, 4),
        places=min(places, 4),
        names=min(names, 6),
        quoted=min(counts["quoted"], 5),
        katakana=min(counts["katakana"], 5),
        latin=min(counts["latin"], 5),
        kanji=min(counts["kanji"], 5),
        fits=fits,
        **facts,
    )


_FORMS = {Wanted.NUMBER: (_NUMBER, _EN_NUMBER), Wanted.TIME: (_DATE,)}


def value_places(text: str, question: str, asked: AskedThing) -> list[tuple[int, int]]:
    """Where a text has values of the asked kind that the question lacks, of kinds that are told by form; all folded."""
    found = [match for form in _FORMS.get(asked.kind, ()) for match in form.finditer(text)]
    return [match.span() for match in found if match[0] not in question]


# What says how many or when without a digit.
_AMOUNT = re.compile(
    rf"{NUMERAL}|[万億]|半|両|複数|数[人名件回個台社種か]|[全各毎]|すべて|多く|ゼロ|無制限|\b(?:{_EN_WORDS}"
    r"|thirteen|fifteen|(?:four|six|seven|nine)teen|(?:six|seven|nine)ty|eight(?:een|y)"
    r"|one|single|both|all|every|each|several|few|many|much|couple|pair|unlimited|first|last)\b"
)
_MOMENT = re.compile(
    r"[年月週日曜朝昼夜夕春夏秋冬時前後中頃際期度毎間]|ころ|ごろ|まで|から|とき|ながら|たら|すぐ"
    r"|\b(?:when|while|before|after|during|until|till|since|by|upon|once|at|in|on|daily|weekly|monthly|yearly|annual(?:ly)?"
    r"|now|later|ago|immediate(?:ly)?|dawn|night|spring|summer|autumn|fall|winter|year|month|week|day)\b"
)
_SAYS_NONE = re.compile(
    r"な[いしく]|ません|ず(?=[に、。]|\Z)|未[定決設]|不[要明問可]|別[途に紙表添]|随時|適宜|任意|都度"
    r"|\b(?:no|not|none|never|without|nothing|unknown|undecided|unspecified|depends?)\b|n't\b"
)


def may_have_value(text: str, question: str) -> bool:
    """Return whether a text may have what a question asks for outright, how many or when; True for other questions.

    A number counts that the question has not with the same unit, and so does what says that there is none.

    >>> may_have_value("5回まで。", "何回失敗すると5分使えないか"), may_have_value("費用を払う。", "何円払うか")
    (True, False)
    """
    kind = kind_asked_outright(question)
    if kind is None:
        return True
    folded, known = fold_terms(text), fold_terms(question)
    if any(found[0] not in known for found in _COUNTED.finditer(folded)) or _SAYS_NONE.search(folded):
        return True
    return (_AMOUNT if kind is Wanted.NUMBER else _MOMENT).search(folded) is not None


_DURATION_ASKED = re.compile(r"期間|時間|寿命|間隔|周期|rto|rpo|世代|duration|period|\btime\b|interval")
_MONEY_ASKED = re.compile(r"費|額|料|価格|予算|金|税|代\Z|price|cost|fee|budget")
_PERCENT_ASKED = re.compile(r"率|割合|比\Z|rate|percent|share")


_MONEY_COLUMN = re.compile(r"円|ドル|usd|jpy|[$€£¥]")


def asks_money(asked: AskedThing) -> bool:
    """Return whether an amount of money is asked for."""
    return asked.kind is Wanted.NUMBER and not asked.unit and _MONEY_ASKED.search(asked.focus) is not None


def has_money_column(header: str) -> bool:
    """Return whether a table's header names amounts of money: 単価（円）."""
    return _MONEY_COLUMN.search(fold_terms(header)) is not None


def _fit(asked: AskedThing, **found: int | bool) -> float:
    """How far a sentence has a value of the kind that is asked for."""
    some = float(bool(found["names"] or found["quoted"] or found["katakana"] or found["latin"] or found["kanji"]))
    if asked.kind is Wanted.NUMBER:
        number = float(bool(found["numbers"]))
        if asked.unit:
            return 1.0 if found["has_unit"] else 0.3 * number
        for asking, name in (
            (_DURATION_ASKED, "has_duration"),
            (_MONEY_ASKED, "has_money"),
            (_PERCENT_ASKED, "has_percent"),
        ):
            if asking.search(asked.focus):
                return 1.0 if found[name] else 0.4 * number
        return 0.9 * number
    if asked.kind is Wanted.TIME:
        return 1.0 if found["has_date"] else 0.2 * bool(found["numbers"])
    if asked.kind is Wanted.PERSON:
        return 1.0 if found["people"] else 0.6 * some
    if asked.kind is Wanted.PLACE:
        return 1.0 if found["places"] else 0.5 * some
    if asked.kind is Wanted.ORGANISATION:
        return 1.0 if found["is_organisation"] and some else 0.5 * some
    if asked.kind is Wanted.REASON:
        return float(found["has_reason"])
    if asked.kind is Wanted.WAY:
        return float(found["has_way"])
    if asked.kind is Wanted.MEANING:
        return 1.0 if found["defines"] else 0.4
    return some


def _proper_names(text: str, known: str) -> tuple[int, int, int]:
    """Count people, places and other proper names, each once, that a question does not have."""
    people, places, others = set[str](), set[str](), set[str]()
    for word in tokenizer().tokenize(normalise(text)[:MAX_INPUT_CHARACTERS], SplitMode.C):
        parts = word.part_of_speech()
        if parts[1] == "固有名詞" and (surface := word.surface().casefold()) not in known:
            {"人名": people, "地名": places}.get(parts[2], others).add(surface)
    return len(people), len(places), len(people | places | others)
